// §127 BR-134 The end of the server: clients hear how everything ended before their connections do.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { AgentClient } from '../../clients/typescript/dist/index.js';
import { clientInfo, dangerous, Daemon, soon, until } from './daemon.mjs';
import { RawClient } from './raw_client.mjs';

const limit = { timeout: 120_000 };
const goingAway = 1001;
let daemon;

beforeEach(async () => {
  daemon = await Daemon.start();
});
afterEach(async () => {
  await daemon?.end();
});

test('clients of a server that was told to end heard nothing of their calls and questions', limit, async () => {
  const agent = await RawClient.connect(daemon, 'agent');
  const reviewer = await RawClient.connect(daemon, 'reviewer');
  const heard = (client, method) => client.messages.filter((message) => message.method === method);
  const { thread } = (await agent.request('thread/start', { cwd: daemon.workspace })).result;
  await reviewer.request('thread/resume', { threadId: thread.id });
  const call = (callId, argv) =>
    agent.request('tool/call', { threadId: thread.id, callId, tool: 'shell_command', arguments: { argv } });
  const runs = call('runs', ['sleep', '300']);
  await until(() => heard(agent, 'item/attempt/started').length === 1);
  const asks = call('asks', dangerous);
  await until(() => heard(reviewer, 'item/commandExecution/requestApproval').length === 1);

  assert.equal(await daemon.stop('SIGTERM'), 0);

  for (const answer of [await runs, await asks]) assert.equal(answer.result.status, 'interrupted');
  assert.equal(heard(reviewer, 'item/completed').length, 2);
  assert.equal(heard(reviewer, 'serverRequest/resolved').length, 1);
  assert.equal(heard(reviewer, 'thread/closed').length, 1);
  for (const client of [agent, reviewer]) assert.equal((await client.ended, client.closed.code), goingAway);
});

test('what a client had heard before its connection ended was dropped with it', limit, async () => {
  const agents = [];
  for (let i = 0; i < 20; i += 1) {
    const closed = { count: 0 };
    const agent = await AgentClient.connect({ clientInfo, transport: daemon.unix('agent'), reconnect: soon });
    agent.on('thread/closed', () => (closed.count += 1));
    for (let thread = 0; thread < 5; thread += 1) await agent.startThread({ cwd: daemon.workspace });
    agents.push({ agent, closed, gone: new Promise((resolve) => agent.on('disconnected', resolve)) });
  }
  assert.equal(await daemon.stop('SIGTERM'), 0);
  for (const { agent, closed, gone } of agents) {
    await gone;
    assert.equal(closed.count, 5);
    agent.close();
  }
});
