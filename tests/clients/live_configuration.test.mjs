// §42–§44 What people change in rules and configuration while the daemon runs holds for the next call, without a restart.
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { ReviewerClient } from '../../clients/typescript/dist/index.js';
import { clientInfo, dangerous, shell, soon, Stage, until } from './daemon.mjs';

const limit = { timeout: 60_000 };
let stage;
let daemon;
let agent;
let thread;
let home;
let rules;

before(async () => {
  const prepare = (own) => {
    home = join(own.base, 'home/.gatehouse');
    mkdirSync(join(home, 'rules'), { recursive: true });
    rules = join(home, 'rules/mine.rules');
  };
  stage = await Stage.start({ prepare, args: ['--ask', 'never'] });
  ({ daemon, agent } = stage);
});
beforeEach(async () => {
  ({ thread } = await agent.startThread({ cwd: daemon.workspace }));
});
after(() => stage?.end());

test('§42 a rule that is written while a thread lives holds for its next call, and not after it is gone', limit, async () => {
  assert.equal((await agent.callTool(shell(thread, 'echo before'))).status, 'completed');
  writeFileSync(rules, 'prefix_rule(["echo"], "forbidden", justification = "quiet, please")\n');
  const told = await agent.callTool(shell(thread, 'echo now'));
  assert.equal(told.status, 'rejected');
  assert.match(told.message, /quiet, please/);
  rmSync(rules);
  assert.equal((await agent.callTool(shell(thread, 'echo again'))).output, 'again\n');
});

test('§44 §D7 a rule file that breaks while a thread lives is told of once, in the thread, and loosens nothing', limit, async () => {
  const warnings = [];
  agent.on('warning', (event) => event.threadId === thread.id && warnings.push(event.message));
  writeFileSync(rules, 'prefix_rule(["echo"], \n');
  assert.equal((await agent.callTool(shell(thread, 'pwd'))).status, 'rejected'); // what stood there is not known
  await until(() => warnings.length > 0);
  assert.match(warnings.join('\n'), /mine\.rules/);
  const before = warnings.length;
  await agent.callTool(shell(thread, 'pwd'));
  assert.equal(warnings.length, before);
  rmSync(rules);
});

test('§44 configuration that cannot be read fails the next call with its place, and nothing runs', limit, async () => {
  const file = join(home, 'config.toml');
  writeFileSync(file, 'approval_policy = [\n');
  const told = await agent.callTool(shell(thread, 'touch ran'));
  assert.equal(told.status, 'failed');
  assert.match(told.message, /config\.toml/);
  rmSync(file);
  const after = await agent.callTool(shell(thread, 'ls'));
  assert.equal(after.status, 'completed');
  assert.equal(after.output, '');
});

/** A daemon whose configuration a test changes, and an agent of it. */
async function configured(text, ...args) {
  const own = await Stage.start({ prepare: (daemon) => daemon.configure(text), args });
  return { own: own.daemon, client: own.agent, end: () => own.end(), write: (more) => own.daemon.configure(more) };
}

test('§43 §44 what config.toml came to deny stayed open in threads that were open', limit, async () => {
  const profile = '[permissions.mine]\nextends = ":workspace"\n';
  const { own, client, end, write } = await configured(profile, '--ask', 'never', '--profile', 'mine');
  const { thread: open } = await client.startThread({ cwd: own.workspace });
  const heard = [];
  client.on('thread/settings/updated', (event) => heard.push(event.threadId));
  const secret = join(own.workspace, 'secret');
  writeFileSync(secret, 'told\n');
  const read = () => client.callTool(shell(open, 'cat secret'));
  assert.equal((await read()).output, 'told\n');
  write(`${profile}[permissions.mine.filesystem]\n"${secret}" = "deny"\n`);
  const denied = await read();
  assert.notEqual(denied.exitCode, 0);
  assert.doesNotMatch(denied.output, /told/);
  await until(() => heard.length > 0);
  assert.deepEqual(heard, [open.id]);
  await assert.rejects(client.readFile({ threadId: open.id, path: secret }));
  write(profile);
  assert.equal((await read()).output, 'told\n');
  await end();
});

test('§44 a thread went along with a folder that led elsewhere, when the configuration was read again', limit, async () => {
  const { own, client, end, write } = await configured('');
  const [inside, victim] = [join(own.workspace, 'lib'), join(own.base, 'victim')];
  mkdirSync(inside);
  mkdirSync(victim);
  const reviewer = await ReviewerClient.connect({ clientInfo, transport: own.tcp('reviewer'), reconnect: soon });
  const { thread: open } = await reviewer.startThread({ cwd: inside });
  assert.equal((await client.callTool(shell(open, 'touch here'))).exitCode, 0);
  renameSync(inside, `${inside}2`);
  symlinkSync(victim, inside);
  for (const text of ['# nothing\n', '[terminals]\nidle_limit_ms = 1000\n']) {
    write(text);
    const told = await client.callTool(shell(open, 'touch there'));
    assert.equal(told.status, 'failed');
    assert.match(told.message, /leads elsewhere/);
  }
  assert.deepEqual(readdirSync(victim), []);
  reviewer.close();
  await end();
});

test('§2a new settings for the folder alone froze what had been configured', limit, async () => {
  const { own, client, end, write } = await configured('');
  const reviewer = await ReviewerClient.connect({ clientInfo, transport: own.tcp('reviewer'), reconnect: soon });
  const { thread: open } = await client.startThread({ cwd: own.workspace });
  mkdirSync(join(own.workspace, 'below'));
  await reviewer.updateSettings({ threadId: open.id, cwd: join(own.workspace, 'below') });
  assert.equal((await client.callTool(shell(open, 'touch made'))).exitCode, 0);
  write('approval_policy = "never"\n');
  const told = await client.callTool(shell(open, 'touch again'));
  assert.equal(told.exitCode, 0);
  assert.equal((await reviewer.readThread(open.id)).thread.approvalPolicy, 'never');
  reviewer.close();
  await end();
});

test('§D13 a token file was shown again by the settings that named it no more', limit, async () => {
  const { own, client, end, write } = await configured('');
  const token = join(own.workspace, 'token');
  writeFileSync(token, 'of-another-machine\n');
  write(`[environments.one]\nexec_server = "ws://127.0.0.1:9"\ncwd = "/"\ntoken_file = "${token}"\n`);
  const { thread: open } = await client.startThread({ cwd: own.workspace });
  assert.notEqual((await client.callTool(shell(open, 'cat token'))).exitCode, 0);
  write('approval_policy = "never"\n');
  assert.notEqual((await client.callTool(shell(open, 'cat token'))).exitCode, 0);
  await assert.rejects(client.readFile({ threadId: open.id, path: token }));
  await end();
});

test('§44 a wish held on that the configuration had come to forbid', limit, async () => {
  const { own, client, end, write } = await configured('');
  const { thread: open } = await client.startThread({ cwd: own.workspace, approvalPolicy: 'on-request' });
  assert.equal((await client.callTool(shell(open, 'touch made'))).exitCode, 0);
  write('approval_policy = "untrusted"\n');
  const told = await client.callTool(shell(open, 'touch again'));
  assert.equal(told.status, 'failed');
  assert.match(told.message, /configuration has changed.*wider/s);
  write('');
  assert.equal((await client.callTool(shell(open, 'rm made'))).exitCode, 0);
  await end();
});

test('§52 what was approved for the session is asked again under other rules', limit, async () => {
  const asked = [];
  const reviewer = await ReviewerClient.connect({
    clientInfo,
    transport: daemon.tcp('reviewer'),
    reconnect: soon,
    approvals: async (question) => {
      asked.push(question.requestId);
      return { decision: 'acceptForSession' };
    },
  });
  const { thread: asking } = await reviewer.startThread({ cwd: daemon.workspace, approvalPolicy: 'on-request' });
  for (let i = 0; i < 2; i += 1)
    assert.equal((await agent.callTool(shell(asking, dangerous))).status, 'completed');
  assert.equal(asked.length, 1);
  writeFileSync(rules, 'prefix_rule(["something", "else"], "prompt")\n');
  assert.equal((await agent.callTool(shell(asking, dangerous))).status, 'completed');
  assert.equal(asked.length, 2);
  rmSync(rules);
  reviewer.close();
});

test('§201 permissionProfile/list names the profiles of the configuration as it is', limit, async () => {
  const names = async () => (await agent.listProfiles()).map((one) => one.id);
  assert.deepEqual(await names(), ['read-only', 'workspace-write', 'danger-full-access']);
  const file = join(home, 'config.toml');
  writeFileSync(file, '[permissions.docs]\nextends = "read-only"\n');
  assert.deepEqual(await names(), ['read-only', 'workspace-write', 'danger-full-access', 'docs']);
  const docs = (await agent.listProfiles()).at(-1);
  assert.match(docs.about, /config\.toml/);
  assert.equal(docs.profile.type, 'managed');
  rmSync(file);
});

test('§201 a session of a daemon before this one is told what is gone and what is not', limit, async () => {
  const { RawClient } = await import('./raw_client.mjs');
  const resume = { clientInfo, resumeSessionId: 'session-0-0' };
  const raw = await RawClient.connect(daemon, 'agent', { initialize: false });
  const { error } = await raw.request('initialize', resume);
  assert.deepEqual([error.data.kind, error.data.reason], ['unknownSession', 'unknown']);
  assert.match(error.message, /questions are gone.*rules that were kept are in force/);
  raw.close();
});
