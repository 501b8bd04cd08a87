// §201 What a client may ask of a call, a turn and its connection, and what it is told.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { clientInfo, dangerous, running, shell, Stage, until } from './daemon.mjs';
import { RawClient } from './raw_client.mjs';

const limit = { timeout: 60_000 };
let stage;
let daemon;
let agent;

before(async () => {
  stage = await Stage.start();
  ({ daemon, agent } = stage);
});
after(() => stage?.end());

const newThread = async (more = {}) => (await agent.startThread({ cwd: daemon.workspace, ...more })).thread;

test('§95 timeoutMs shortens the time of a call and never lengthens it', limit, async () => {
  const thread = await newThread();
  const limits = async (timeoutMs, timeout_ms) => {
    const call = { threadId: thread.id, tool: 'shell_command', timeoutMs, arguments: { command: 'sleep 50', timeout_ms } };
    const told = await agent.callTool(call);
    assert.equal(told.status, 'timedOut');
    return told.report.attempts[0].limit_ms;
  };
  assert.equal(await limits(60, 20_000), 60);
  assert.equal(await limits(20_000, 60), 60);
  const waited = await agent.callTool({ threadId: thread.id, tool: 'exec_command', timeoutMs: 300, arguments: { cmd: 'sleep 50', yield_time_ms: 30_000 } });
  assert.equal(waited.status, 'completed');
  assert.equal(typeof waited.sessionId, 'number');
  assert.equal(await agent.endAllTerminals(thread.id), 1);
  for (const [timeoutMs, tool, args] of [
    [0, 'shell_command', { command: 'true' }],
    [-5, 'shell_command', { command: 'true' }],
    [1000, 'request_permissions', { permissions: { network: { enabled: true } } }],
  ])
    await assert.rejects(agent.callTool({ threadId: thread.id, tool, timeoutMs, arguments: args }), { kind: 'invalidParams' });
});

test('a result says what policy decided and whether its output is all of it', limit, async () => {
  const thread = await newThread({ approvalPolicy: 'never' });
  const small = await agent.callTool(shell(thread, 'echo hello'));
  assert.deepEqual([small.decision, small.outputTruncated, small.outputOmittedBytes], ['allow', false, 0]);
  const refused = await agent.callTool(shell(thread, dangerous));
  assert.deepEqual([refused.status, refused.decision], ['rejected', 'forbidden']);
  // Each stream fits, and both together do not: the result holds both together.
  const both = await agent.callTool(shell(thread, 'head -c 900000 /dev/zero | tr "\\0" a; head -c 900000 /dev/zero | tr "\\0" b >&2'));
  assert.deepEqual([both.outputTruncated, both.outputOmittedBytes], [true, 1_800_000 - 1024 * 1024]);
  const cut = await agent.callTool({
    threadId: thread.id,
    tool: 'exec_command',
    arguments: { cmd: 'seq 1000', max_output_tokens: 10 },
  });
  assert.deepEqual([cut.status, cut.outputTruncated], ['completed', true]);
  assert.equal((await agent.callTool(shell(thread, 'true'))).decision, 'allow');
});

test('§127 an interrupt ends background sessions only where keepRunning says so', limit, async () => {
  const thread = await newThread();
  const marker = '86399.75';
  const { turn } = await agent.startTurn({ threadId: thread.id });
  await agent.callTool({ threadId: thread.id, tool: 'exec_command', arguments: { cmd: `sleep ${marker}`, yield_time_ms: 250 } });
  await agent.interruptTurn({ threadId: thread.id, turnId: turn.id, keepRunning: true });
  const next = await agent.startTurn({ threadId: thread.id });
  assert.ok(running(marker) > 0);
  await agent.interruptTurn({ threadId: thread.id, turnId: next.turn.id, keepRunning: false });
  await until(() => running(marker) === 0);
});

test('§201 a capability is granted or refused', limit, async () => {
  const raw = await RawClient.connect(daemon, 'agent', { initialize: false });
  const open = (gatehouse) => raw.request('initialize', { clientInfo, capabilities: { gatehouse } });
  assert.equal((await open({ outputMode: 'lossless' })).error.data.kind, 'invalidParams');
  assert.equal((await open({ maxInFlight: 100_000 })).error.data.kind, 'invalidParams');
  assert.equal((await open({ unheardOf: 1 })).error.code, -32602);
  assert.equal((await open({ approvals: true })).error.data.kind, 'authority');
  const { gatehouse } = (await open({ outputMode: 'lossy', maxInFlight: 1, approvals: false })).result;
  assert.equal(gatehouse.limits.maxInFlight, 1);
  assert.deepEqual(gatehouse.sandboxes, ['linux']);
  const { thread } = (await raw.request('thread/start', { cwd: daemon.workspace })).result;
  const call = (callId, command) => raw.request('tool/call', { threadId: thread.id, callId, tool: 'shell_command', arguments: { command } });
  const first = call('one', 'sleep 40');
  const second = (await call('two', 'true')).error;
  assert.deepEqual([second.code, second.data.limit], [-32001, 1]);
  await raw.request('tool/cancel', { threadId: thread.id, callId: 'one' });
  assert.equal((await first).result.status, 'interrupted');
  raw.close();
});

test('§50 a reviewer that says nobody is there is not asked, and may still answer', limit, async () => {
  const raw = await RawClient.connect(daemon, 'reviewer', { capabilities: { gatehouse: { approvals: false } } });
  const thread = await newThread();
  await raw.request('thread/resume', { threadId: thread.id });
  const call = agent.callTool(shell(thread, dangerous));
  let standing = [];
  await until(async () => (standing = (await raw.request('approval/list', { threadId: thread.id })).result.data).length === 1);
  assert.ok(!raw.messages.some((m) => m.method?.endsWith('requestApproval')));
  const { threadId, requestId, actionDigest } = standing[0];
  await raw.request('approval/resolve', { threadId, requestId, actionDigest, decision: 'decline' });
  assert.equal((await call).status, 'declined');
  raw.close();
});
