// §50 §201 Each kind of question and item under the name and in the shape of the reference surface.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { dangerous, shell, Stage, until } from './daemon.mjs';
import { RawClient } from './raw_client.mjs';

const limit = { timeout: 60_000 };
let stage;
let daemon;
let agent;
let reviewer;

before(async () => {
  stage = await Stage.start();
  ({ daemon, agent } = stage);
  reviewer = await RawClient.connect(daemon, 'reviewer', { capabilities: { gatehouse: { approvals: true } } });
});
after(async () => {
  reviewer?.close();
  await stage?.end();
});

const newThread = async (more = {}) => (await agent.startThread({ cwd: daemon.workspace, ...more })).thread;
const of = (thread, method) => reviewer.messages.filter((m) => m.method === method && m.params.threadId === thread.id);
const answer = (question, result) => reviewer.send(JSON.stringify({ jsonrpc: '2.0', id: question.id, result }));
async function asked(thread, method) {
  await until(() => of(thread, method).length > 0);
  return of(thread, method)[0];
}

test('§50 a question about a command says what asked, since when, and that it has no end', limit, async () => {
  const thread = await newThread();
  const before = Date.now();
  const call = agent.callTool(shell(thread, dangerous));
  const { params } = await asked(thread, 'item/commandExecution/requestApproval');
  assert.equal(params.kind, 'command');
  assert.deepEqual(params.why, { source: 'danger', segment: dangerous });
  assert.ok(params.startedAtMs >= before && params.startedAtMs <= Date.now());
  assert.equal(params.expiresAtMs, undefined);
  const listed = (await reviewer.request('approval/list', { threadId: thread.id })).result.data;
  assert.deepEqual(listed, [params]);
  answer({ id: params.requestId }, { decision: 'decline' });
  assert.equal((await call).decision, 'prompt');
  await until(() => of(thread, 'item/completed').length === 1);
  const [started] = of(thread, 'item/started');
  const [completed] = of(thread, 'item/completed');
  assert.deepEqual([started.params.item.type, completed.params.item.type], ['commandExecution', 'commandExecution']);
  assert.ok(started.params.startedAtMs <= params.startedAtMs && params.startedAtMs <= completed.params.completedAtMs);
});

for (const [form, call] of [
  ['the tool', (thread, patch) => ({ threadId: thread.id, tool: 'apply_patch', arguments: { patch } })],
  ['a here-document', (thread, patch) => shell(thread, `apply_patch <<'EOF'\n${patch}EOF\n`)],
])
  test(`§11 §50 a patch by ${form} is a fileChange, and its question one about a file change`, limit, async () => {
    const thread = await newThread({ approvalPolicy: 'untrusted' });
    const file = join(daemon.workspace, 'a.txt');
    writeFileSync(file, 'one\ntwo\n');
    const patch = '*** Begin Patch\n*** Update File: a.txt\n@@\n one\n-two\n+three\n*** End Patch\n';
    const told = agent.callTool(call(thread, patch));
    const question = await asked(thread, 'item/fileChange/requestApproval');
    assert.deepEqual([question.params.kind, question.params.why.source], ['patch', 'patch']);
    assert.deepEqual(of(thread, 'item/commandExecution/requestApproval'), []);
    answer(question, { decision: 'accept' });
    assert.equal((await told).status, 'completed');
    assert.equal(readFileSync(file, 'utf8'), 'one\nthree\n');
    await until(() => of(thread, 'item/completed').length === 1);
    for (const method of ['item/started', 'item/completed']) {
      const { item } = of(thread, method)[0].params;
      assert.equal(item.type, 'fileChange');
      assert.deepEqual(item.changes, [{ path: file, kind: { type: 'update' }, diff: '@@\n one\n-two\n+three\n' }]);
    }
    assert.equal(of(thread, 'item/completed')[0].params.item.status, 'completed');
  });

test('§16a permissions are asked and given in the shapes of the reference surface', limit, async () => {
  const thread = await newThread();
  const folder = join(daemon.base, 'out');
  const ask = () =>
    agent.callTool({ threadId: thread.id, tool: 'request_permissions', arguments: { permissions: { file_system: { write: [folder] } } } });
  const name = 'item/permissions/requestApproval';
  const first = ask();
  const question = await asked(thread, name);
  assert.deepEqual(question.params.permissions, { fileSystem: { write: [folder] } });
  answer(question, { permissions: question.params.permissions, scope: 'session' });
  const given = JSON.parse((await first).output);
  assert.deepEqual(given, { permissions: { file_system: { write: [folder] } }, scope: 'session' });
  const { grants } = (await reviewer.request('thread/read', { threadId: thread.id })).result;
  assert.deepEqual(grants.map((grant) => [grant.scope, grant.permissions]), [['session', { fileSystem: { write: [folder] } }]]);
  const second = ask();
  await until(() => of(thread, name).length === 2);
  answer(of(thread, name)[1], { permissions: {} });
  assert.equal((await second).status, 'declined');
  assert.ok(!existsSync(folder));
});
