// §127 BR-134 The end of the server: clients hear how everything ended before their connections do.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { dangerous, Daemon, until } from './daemon.mjs';
import { RawClient } from './raw_client.mjs';

const limit = { timeout: 120_000 };
const goingAway = 1001;
let daemon;

before(async () => {
  daemon = await Daemon.start();
});
after(async () => {
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
