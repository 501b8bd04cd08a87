// §2a §201 Other settings for a thread that lives: who may give them, and what holds afterwards.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { dangerous, gatehouse, shell, Stage, until } from './daemon.mjs';
import { RawClient } from './raw_client.mjs';

const limit = { timeout: 60_000 };
const asked = [];
let decision = 'accept';
let stage;
let daemon;
let agent;
let reviewer;

before(async () => {
  stage = await Stage.start({
    reviewer: async (question) => {
      asked.push(question);
      return { decision };
    },
  });
  ({ daemon, agent, reviewer } = stage);
});
after(() => stage?.end());

const newThread = async (more = {}) => (await agent.startThread({ cwd: daemon.workspace, ...more })).thread;
const update = (thread, more) => reviewer.updateSettings({ threadId: thread.id, ...more });
const touches = async (thread, name) => (await agent.callTool(shell(thread, `touch ${name}`))).sandboxDenied === false;

test('§2a an agent may not change settings, not even to narrower ones, and is told why', limit, async () => {
  const thread = await newThread();
  const raw = await RawClient.connect(daemon, 'agent');
  for (const more of [{ sandbox: 'read-only' }, { approvalPolicy: 'never' }, {}]) {
    const { error } = await raw.request('thread/settings/update', { threadId: thread.id, ...more });
    assert.equal(error.data.kind, 'authority');
    assert.match(error.message, /needs the credential of a reviewer/);
  }
  assert.ok(await touches(thread, 'still'));
  raw.close();
});

test('later calls are judged and run under the new settings, and everyone hears it', limit, async () => {
  const thread = await newThread();
  const heard = [];
  agent.on('thread/settings/updated', (event) => event.threadId === thread.id && heard.push(event));
  assert.ok(await touches(thread, 'a'));
  const told = (await update(thread, { sandbox: 'read-only', approvalPolicy: 'never' })).thread;
  assert.deepEqual([told.sandbox, told.approvalPolicy, told.cwd], ['read-only', 'never', daemon.workspace]);
  await until(() => heard.length === 1);
  assert.deepEqual(
    [heard[0].sandbox, heard[0].approvalPolicy, heard[0].cwd, heard[0].runtimeWorkspaceRoots],
    ['read-only', 'never', daemon.workspace, [daemon.workspace]],
  );
  assert.equal(await touches(thread, 'b'), false);
  assert.equal((await agent.callTool(shell(thread, dangerous))).status, 'rejected');
  assert.equal((await agent.readThread(thread.id)).thread.sandbox, 'read-only');
  // What is left out stays.
  await update(thread, { sandbox: 'workspace-write' });
  assert.ok(await touches(thread, 'c'));
  assert.equal((await agent.callTool(shell(thread, dangerous))).status, 'rejected');
  await update(thread, { approvalPolicy: 'on-request' });
  assert.equal((await agent.callTool(shell(thread, dangerous))).status, 'completed');
});

test('a thread moves to another folder, and its workspace with it', limit, async () => {
  const thread = await newThread();
  const other = join(daemon.base, 'other');
  mkdirSync(other);
  await update(thread, { cwd: other });
  assert.equal((await agent.callTool(shell(thread, 'pwd'))).output.trim(), other);
  assert.ok(await touches(thread, 'here'));
  assert.equal(await touches(thread, join(daemon.workspace, 'there')), false);
  const patch = '*** Begin Patch\n*** Add File: new.txt\n+x\n*** End Patch\n';
  assert.equal((await agent.callTool({ threadId: thread.id, tool: 'apply_patch', arguments: { patch } })).status, 'completed');
  assert.equal((await agent.callTool(shell(thread, 'cat new.txt'))).output, 'x\n');
});

test('§52 what was approved or granted for the session does not outlive the settings it was given under', limit, async () => {
  const thread = await newThread();
  decision = 'acceptForSession';
  const questions = async () => {
    const before = asked.length;
    assert.equal((await agent.callTool(shell(thread, dangerous))).status, 'completed');
    return asked.length - before;
  };
  assert.equal(await questions(), 1);
  assert.equal(await questions(), 0);
  const out = join(daemon.base, 'granted');
  mkdirSync(out);
  await agent.callTool({ threadId: thread.id, tool: 'request_permissions', arguments: { permissions: { file_system: { write: [out] } } } });
  assert.ok(await touches(thread, join(out, 'a')));
  await update(thread, { sandbox: 'read-only' });
  assert.equal(await touches(thread, join(out, 'b')), false);
  assert.equal(await questions(), 1);
  await update(thread, { sandbox: 'workspace-write' }); // and back: it stays forgotten
  assert.equal(await touches(thread, join(out, 'c')), false);
  assert.equal(await questions(), 1);
  const { approvals, grants } = await reviewer.readThread(thread.id);
  assert.deepEqual([approvals.length, grants], [1, []]);
  decision = 'accept';
});

test('what runs goes on as it began; a new session runs under the new settings', limit, async () => {
  const thread = await newThread();
  const exec = (cmd, yield_time_ms, tty = false) =>
    agent.callTool({ threadId: thread.id, tool: 'exec_command', arguments: { cmd, yield_time_ms, tty } });
  const write = (session_id, chars) =>
    agent.callTool({ threadId: thread.id, tool: 'write_stdin', arguments: { session_id, chars, yield_time_ms: 2000 } });
  const old = await exec('while read name; do touch $name && echo made $name; done', 250, true);
  const long = agent.callTool(shell(thread, 'sleep 0.7; touch late && echo made'));
  await until(async () => (await agent.readThread(thread.id)).running.length === 1);
  await update(thread, { sandbox: 'read-only' });
  assert.equal((await long).output, 'made\n');
  assert.match((await write(old.sessionId, 'typed\n')).output, /made typed/);
  const fresh = await exec('touch fresh', 20_000);
  assert.equal(fresh.exitCode, 1);
  assert.equal(await agent.endAllTerminals(thread.id), 1);
  assert.equal(await touches(thread, 'after'), false);
});

test('settings that make no sense change nothing', limit, async () => {
  const thread = await newThread();
  for (const wrong of [
    { sandbox: 'no-such-profile' },
    { cwd: join(daemon.base, 'nowhere') },
    { cwd: 'relative' },
    { approvalPolicy: 'sometimes' },
    { sandbox: 'read-only', permissions: 'read-only' },
    { sandbox: 'read-only', runtimeWorkspaceRoots: ['/nowhere-at-all'] },
  ])
    await assert.rejects(update(thread, wrong), { name: 'EndpointError' }, JSON.stringify(wrong));
  await assert.rejects(reviewer.updateSettings({ threadId: 'none', sandbox: 'read-only' }), { kind: 'unknownThread' });
  assert.deepEqual((await agent.readThread(thread.id)).thread.sandbox, 'workspace-write');
  assert.ok(await touches(thread, 'same'));
});

test('§205 the audit has the settings', limit, async () => {
  const thread = await newThread();
  await update(thread, { approvalPolicy: 'never' });
  const shown = spawnSync(gatehouse, ['audit', 'export'], { env: daemon.env, cwd: daemon.workspace, encoding: 'utf8' });
  const entries = shown.stdout.split('\n').filter(Boolean).map((line) => JSON.parse(line));
  const ours = entries.filter((one) => one.kind === 'session' && one.session === thread.id);
  assert.equal(ours.length, 2, shown.stderr);
});
