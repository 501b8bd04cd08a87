// §201 A client that does not read costs the daemon no more than its bounds, holds up nobody else, and knows afterwards
// what it missed.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { AgentClient, ReviewerClient } from '../../clients/typescript/dist/index.js';
import { CuttingProxy } from './cutting_proxy.mjs';
import { clientInfo, Daemon, dangerous, sanitized, shell, soon, until } from './daemon.mjs';

const limit = { timeout: 120_000 };
let daemon;
let agent;

before(async () => {
  daemon = await Daemon.start();
  agent = await AgentClient.connect({ clientInfo, transport: daemon.unix('agent'), reconnect: soon });
});
after(async () => {
  agent?.close();
  await daemon?.end();
});

test('§50 a reviewer who reads slowly is there, and is asked before it has caught up', limit, async () => {
  const proxy = await CuttingProxy.to(daemon.url);
  const order = [];
  const reviewer = await ReviewerClient.connect({
    clientInfo,
    transport: daemon.tcp('reviewer', proxy.url),
    reconnect: soon,
    approvals: async (question) => {
      order.push(`asked ${question.threadId}`);
      return { decision: 'decline', reason: 'said by a person' };
    },
  });
  const { thread } = await agent.startThread({ cwd: daemon.workspace });
  reviewer.on('item/completed', (event) => order.push(event.item.id));
  await agent.callTool(shell(thread, 'true', { callId: 'first' }));
  await until(() => order.includes('first'));
  proxy.stall();
  for (let i = 0; i < 12; i += 1) await agent.callTool(shell(thread, 'seq 100000', { callId: `long-${i}` }));
  const question = agent.callTool(shell(thread, dangerous, { callId: 'asked' }));
  await new Promise((resolve) => setTimeout(resolve, 300));
  const last = agent.callTool(shell(thread, 'true', { callId: 'last' }));
  await last;
  proxy.flow();
  const told = await question;
  assert.equal(told.status, 'declined');
  assert.match(told.message, /said by a person/);
  await until(() => order.includes('last'));
  assert.ok(order.indexOf(`asked ${thread.id}`) < order.indexOf('last'), order.join(' '));
  assert.equal(order.filter((one) => one === `asked ${thread.id}`).length, 1);
  reviewer.close();
  proxy.close();
});

test('§201 what a stalled reader missed is told, the newest is there, and a question is asked once', limit, async () => {
  const proxy = await CuttingProxy.to(daemon.url);
  const asked = [];
  const reviewer = await ReviewerClient.connect({
    clientInfo,
    transport: daemon.tcp('reviewer', proxy.url),
    reconnect: soon,
    approvals: async (question) => {
      asked.push(question);
      return { decision: 'decline' };
    },
  });
  const { thread } = await agent.startThread({ cwd: daemon.workspace });
  const heard = [];
  const missed = [];
  for (const method of ['turn/started', 'item/started', 'item/attempt/started', 'item/commandExecution/outputDelta', 'item/completed', 'serverRequest/resolved'])
    reviewer.on(method, (event) => event.threadId === thread.id && heard.push({ method, ...event }));
  reviewer.on('thread/events/missed', (event) => missed.push(event));
  await agent.callTool(shell(thread, 'true'));
  await until(() => heard.at(-1)?.method === 'item/completed');

  proxy.stall();
  const lines = 100_000;
  const text = Array.from({ length: lines }, (_, i) => `${i + 1}\n`).join('');
  for (let i = 0; i < 16; i += 1) {
    const result = await agent.callTool(shell(thread, `seq ${lines}`, { callId: `long-${i}` }));
    assert.equal(result.output.length + result.outputOmittedBytes, text.length); // nobody waits for the reader
  }
  const question = agent.callTool(shell(thread, dangerous, { callId: 'asked' }));
  await new Promise((resolve) => setTimeout(resolve, 300));
  assert.equal(asked.length, 0);
  const resident = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${daemon.pid}/status`, 'utf8'))[1]);
  if (!sanitized) assert.ok(resident < 200_000, `${resident} KiB`);
  proxy.flow();
  assert.equal((await question).status, 'declined');
  await until(() => heard.at(-1)?.item?.id === 'asked' && heard.at(-1).method === 'item/completed');

  assert.equal(asked.length, 1);
  const seqs = heard.map((event) => event.seq);
  assert.deepEqual(seqs, [...new Set(seqs)].sort((a, b) => a - b), 'in order, each once');
  assert.ok(missed.length > 0, 'the log keeps less than was said');
  const known = new Set([...seqs, asked[0].seq]);
  const gone = (seq) => missed.some((m) => m.threadId === thread.id && m.afterSeq < seq && seq < m.beforeSeq);
  for (let seq = 1; seq <= seqs.at(-1); seq += 1) assert.ok(known.has(seq) !== gone(seq), `event ${seq}`);
  reviewer.close();
  proxy.close();
});
