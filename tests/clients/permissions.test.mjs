// §15 §16a §48 What a reviewer gives through the endpoint: how much, for how long, and how it is taken back.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { ReviewerClient } from '../../clients/typescript/dist/index.js';
import { dangerous, shell, Stage, until } from './daemon.mjs';

const limit = { timeout: 60_000 };
let stage;
let daemon;
let agent;
let reviewer;
const asked = [];

async function connect(settings = '') {
  asked.length = 0;
  stage = await Stage.start({
    prepare: (own) => {
      mkdirSync(join(own.base, 'out'));
      own.configure(settings.replaceAll('BASE', own.base));
    },
    reviewer: (question) => {
      asked.push(question);
      return Promise.resolve(undefined);
    },
  });
  ({ daemon, agent, reviewer } = stage);
}

before(() => connect());
after(() => stage?.end());

const newThread = async () => (await agent.startThread({ cwd: daemon.workspace })).thread;
const out = (name = '') => join(daemon.base, 'out', name);
const wish = (thread, ...write) => ({
  threadId: thread.id,
  tool: 'request_permissions',
  arguments: { permissions: { file_system: { write } }, reason: 'to build' },
});
/** The question about the thread's next call. */
async function question(thread) {
  await until(() => asked.some((one) => one.threadId === thread.id));
  return asked.splice(asked.findIndex((one) => one.threadId === thread.id), 1)[0];
}
const grantsOf = async (thread) => (await reviewer.readThread(thread.id)).grants ?? [];

test('§16a permissions for the turn hold for its later calls, and end with it', limit, async () => {
  const thread = await newThread();
  assert.equal((await agent.callTool(shell(thread, `touch ${out('a')}`))).sandboxDenied, true);
  const call = agent.callTool(wish(thread, out()));
  const q = await question(thread);
  assert.equal(q.kind, 'permissions');
  assert.deepEqual(q.argv ?? [], []);
  assert.match(q.willBeAllowed, /out/);
  assert.deepEqual(q.permissions, { fileSystem: { write: [join(daemon.base, 'out')] } });
  assert.equal(q.additionalPermissions, undefined);
  assert.deepEqual(q.availableDecisions, ['accept', 'acceptForSession', 'decline', 'cancel']);
  await reviewer.resolveApproval(q, 'accept');
  const given = await call;
  assert.equal(given.status, 'completed');
  assert.deepEqual(JSON.parse(given.output), {
    permissions: { file_system: { write: [join(daemon.base, 'out')] } },
    scope: 'turn',
  });
  assert.equal((await agent.callTool(shell(thread, `touch ${out('a')}`))).exitCode, 0);
  assert.equal((await grantsOf(thread)).length, 1);
  await agent.completeTurn({ threadId: thread.id });
  assert.deepEqual(await grantsOf(thread), []);
  assert.equal((await agent.callTool(shell(thread, `touch ${out('b')}`))).sandboxDenied, true);
});

test('§15 §16a a reviewer gives less than was asked, for the session, and takes it back', limit, async () => {
  const thread = await newThread();
  mkdirSync(out('part'));
  const call = agent.callTool(wish(thread, out()));
  const permissions = { file_system: { write: [out('part')] } };
  await reviewer.resolveApproval(await question(thread), 'accept', { permissions, scope: 'session' });
  assert.deepEqual(JSON.parse((await call).output), { permissions, scope: 'session' });
  await agent.completeTurn({ threadId: thread.id });
  assert.equal((await agent.callTool(shell(thread, `touch ${out('part/a')}`))).exitCode, 0);
  assert.equal((await agent.callTool(shell(thread, `touch ${out('beside')}`))).sandboxDenied, true);
  const [grant] = await grantsOf(thread);
  assert.equal(grant.scope, 'session');
  assert.equal(await reviewer.revoke({ threadId: thread.id, kind: 'grant', id: grant.id }), true);
  assert.equal(await reviewer.revoke({ threadId: thread.id, kind: 'grant', id: grant.id }), false);
  assert.equal((await agent.callTool(shell(thread, `touch ${out('part/b')}`))).sandboxDenied, true);
});

test('§16a more than was asked, or something else, gives nothing', limit, async () => {
  const thread = await newThread();
  const call = agent.callTool(wish(thread, out()));
  const permissions = { file_system: { write: ['/usr'] }, network: { enabled: true } };
  await reviewer.resolveApproval(await question(thread), 'accept', { permissions });
  const given = await call;
  assert.deepEqual(JSON.parse(given.output).permissions, {});
  assert.match(given.message, /Nothing was granted/);
  assert.deepEqual(await grantsOf(thread), []);
});

test('§16a what cannot be read, or belongs to no such question, is an error, and the question stands', limit, async () => {
  const thread = await newThread();
  const call = agent.callTool(wish(thread, out()));
  const q = await question(thread);
  for (const details of [
    { permissions: { file_system: { write: ['relative'] } } },
    { permissions: { everything: true } },
    { scope: 'forever' },
    { strictAutoReview: 'yes' },
  ])
    await assert.rejects(reviewer.resolveApproval(q, 'accept', details), { kind: 'invalidParams' });
  await reviewer.resolveApproval(q, 'decline');
  assert.equal((await call).status, 'declined');
  const command = agent.callTool(shell(thread, dangerous));
  const other = await question(thread);
  await assert.rejects(reviewer.resolveApproval(other, 'accept', { scope: 'session' }), { kind: 'invalidParams' });
  await reviewer.resolveApproval(other, 'accept');
  assert.equal((await command).status, 'completed');
});

test('§52 BR-011 BR-170 an approval for the session is listed, holds for exactly its action, and is taken back', limit, async () => {
  const thread = await newThread();
  const first = agent.callTool(shell(thread, dangerous));
  await reviewer.resolveApproval(await question(thread), 'acceptForSession');
  await first;
  assert.equal((await agent.callTool(shell(thread, dangerous))).status, 'completed');
  const changed = agent.callTool(shell(thread, [...dangerous, 'more']));
  await reviewer.resolveApproval(await question(thread), 'decline');
  assert.equal((await changed).status, 'declined');
  const { approvals } = await reviewer.readThread(thread.id);
  assert.deepEqual(approvals.map((one) => one.action), [dangerous.join(' ')]);
  await reviewer.revoke({ threadId: thread.id, kind: 'approval', id: approvals[0].id });
  const again = agent.callTool(shell(thread, dangerous));
  await reviewer.resolveApproval(await question(thread), 'decline');
  assert.equal((await again).status, 'declined');
});

test('BR-006 the question names the file that a redirection writes', limit, async () => {
  const thread = await newThread();
  const call = agent.callTool(shell(thread, `rm -rf no-such-thing > ~/outside.txt`));
  const q = await question(thread);
  assert.deepEqual(q.writeTargets, [join(daemon.base, 'home/outside.txt')]);
  await reviewer.resolveApproval(q, 'accept');
  assert.equal((await call).sandboxDenied, true); // a yes inside the sandbox opens nothing
});

test('§16a §D13 an agent cannot answer its own request', limit, async () => {
  const thread = await newThread();
  const call = agent.callTool(wish(thread, out()));
  const q = await question(thread);
  await assert.rejects(ReviewerClient.prototype.resolveApproval.call(agent, q, 'accept'), { kind: 'authority' });
  await assert.rejects(ReviewerClient.prototype.allowRefused.call(agent, thread.id, q.actionDigest), { kind: 'authority' });
  await reviewer.resolveApproval(q, 'decline');
  await call;
});

test('§48 BR-175 a person lets pass, once, exactly what the automatic reviewer has refused', limit, async () => {
  await stage.end();
  await connect(`approvals_reviewer = "auto_review"
[auto_review]
command = ["/bin/sh", "-c", "cat > /dev/null; echo '{\\"outcome\\":\\"deny\\",\\"rationale\\":\\"not asked for\\"}'"]
`);
  const thread = await newThread();
  const over = [];
  reviewer.on('serverRequest/resolved', (event) => over.push(event));
  const refused = await agent.callTool(shell(thread, dangerous));
  assert.equal(refused.status, 'declined');
  assert.match(refused.message, /not asked for/);
  await until(() => over.length === 1);
  assert.equal(over[0].reviewer, 'guardian');
  await assert.rejects(reviewer.allowRefused(thread.id, 'another'), { kind: 'notTaken' });
  await reviewer.allowRefused(thread.id, over[0].actionDigest);
  assert.equal((await agent.callTool(shell(thread, [...dangerous, 'more']))).status, 'declined');
  assert.equal((await agent.callTool(shell(thread, dangerous))).status, 'completed');
  assert.notEqual((await agent.callTool(shell(thread, dangerous))).status, 'completed');
});
