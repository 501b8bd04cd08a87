// §201 BR-197 What calls did is told to whoever asks again, and large answers to whoever reads.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { AgentClient } from '../../clients/typescript/dist/index.js';
import { clientInfo, Daemon, shell, soon, until } from './daemon.mjs';
import { RawClient } from './raw_client.mjs';

const limit = { timeout: 120_000 };
let daemon;

before(async () => {
  daemon = await Daemon.start();
});
after(async () => {
  await daemon?.end();
});

/** Waits for the file `name`, then says 1.5 MB, and counts how often it ran. */
const loud = (thread, name, i) => ({
  ...shell(thread, '', { callId: `${name}-${i}` }),
  arguments: {
    command: `until [ -e ${name} ]; do sleep 0.05; done; echo x >> ran-${name}-${i}; head -c 1500000 /dev/zero | tr '\\0' x; exit 3`,
    timeout_ms: 100_000, // of many at once, on a machine that has other work
  },
});

test('a client that reads was cut off again and again by results that came together', limit, async () => {
  const agent = await AgentClient.connect({ clientInfo, transport: daemon.tcp('agent'), reconnect: soon });
  let cuts = 0;
  agent.on('disconnected', () => (cuts += 1));
  const completed = new Set();
  agent.on('item/completed', (event) => completed.add(event.item.id));
  const { thread } = await agent.startThread({ cwd: daemon.workspace });
  const calls = Array.from({ length: 20 }, (_, i) => agent.callTool(loud(thread, 'together', i)));
  writeFileSync(join(daemon.workspace, 'together'), '');
  for (const call of calls) {
    const told = await call;
    assert.deepEqual([told.status, told.exitCode, told.outputDropped], ['completed', 3, undefined]);
    assert.ok(told.output.length > 1_000_000);
  }
  await until(() => completed.size === 20);
  assert.equal(cuts, 0);
  agent.close();
});

test('a call that ended while its client was away was advised another id: it ran a second time', limit, async () => {
  const first = await RawClient.connect(daemon, 'agent');
  const { thread } = (await first.request('thread/start', { cwd: daemon.workspace })).result;
  const count = 24; // more output than is kept
  for (let i = 0; i < count; i += 1) void first.request('tool/call', loud(thread, 'away', i));
  await until(async () => (await first.request('thread/read', { threadId: thread.id })).result.running.length === count);
  const { lastSeq } = (await first.request('thread/read', { threadId: thread.id })).result.thread;
  first.close();
  writeFileSync(join(daemon.workspace, 'away'), '');
  const again = await RawClient.connect(daemon, 'agent', { initialize: false });
  await again.request('initialize', { clientInfo, resumeSessionId: first.facts.sessionId, takeover: true });
  await until(async () => (await again.request('thread/read', { threadId: thread.id })).result.running.length === 0);
  const told = [];
  for (let i = 0; i < count; i += 1) told.push((await again.request('tool/call', loud(thread, 'away', i))).result);
  assert.deepEqual(told.map((one) => [one.status, one.exitCode]), Array(count).fill(['completed', 3]));
  const dropped = told.filter((one) => one.outputDropped);
  assert.ok(dropped.length > 0 && dropped.length <= 12, `${dropped.length}`);
  assert.ok(dropped.every((one) => one.output === '' && one.outputOmittedBytes >= 1_500_000));
  const before = again.messages.length;
  await again.request('thread/resume', { threadId: thread.id, afterSeq: lastSeq });
  const completed = () => new Set(again.messages.slice(before).filter((m) => m.method === 'item/completed').map((m) => m.params.item.id));
  await until(() => completed().size === count);
  again.close();
});

test('a thread that two sessions of one credential share: the same id is the same call for both', limit, async () => {
  const [a, b] = [await RawClient.connect(daemon, 'agent'), await RawClient.connect(daemon, 'agent')];
  const { thread } = (await a.request('thread/start', { cwd: daemon.workspace })).result;
  const call = shell(thread, 'echo once >> once; wc -l < once', { callId: 'shared' });
  const said = await a.request('tool/call', call);
  assert.deepEqual((await b.request('tool/call', call)).result, said.result);
  assert.ok(!(await b.request('thread/loaded/list', {})).result.data.some((one) => one.id === thread.id));
  await b.request('thread/close', { threadId: thread.id });
  await until(() => a.messages.some((m) => m.method === 'thread/closed' && m.params.threadId === thread.id));
  for (const one of [a, b]) one.close();
});

test('threads had no limit: one session took the daemon', limit, async () => {
  const agent = await RawClient.connect(daemon, 'agent');
  const other = await RawClient.connect(daemon, 'agent');
  const { thread } = (await agent.request('thread/start', { cwd: daemon.workspace })).result;
  const call = agent.request('tool/call', shell(thread, 'sleep 61.0625', { callId: 'long' }));
  await until(() => agent.messages.some((m) => m.method === 'item/attempt/started'));
  const asked = Array.from({ length: 300 }, () => agent.request('thread/start', { cwd: daemon.workspace }));
  await agent.request('tool/cancel', { threadId: thread.id, callId: 'long' });
  assert.equal((await call).result.status, 'interrupted');
  const told = await Promise.all(asked);
  const refused = told.filter((one) => one.error);
  assert.equal(told.length - refused.length, 63);
  for (const { error } of refused) {
    assert.deepEqual([error.code, error.data.kind], [-32001, 'overloaded']);
    assert.ok(error.data.retryAfterMs > 0 && error.data.limit > 0 && error.data.inFlight >= error.data.limit);
  }
  assert.ok((await other.request('thread/start', { cwd: daemon.workspace })).result);
  await agent.request('thread/close', { threadId: thread.id });
  await until(async () => (await agent.request('thread/start', { cwd: daemon.workspace })).result);
  for (const one of [agent, other]) one.close();
});
