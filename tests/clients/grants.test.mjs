// §16a A permission that an agent asks for over the endpoint: granted by a reviewer, in force, seen, and taken back.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { shell, Stage } from './daemon.mjs';

const limit = { timeout: 60_000 };
let stage;
let daemon;
let agent;
let reviewer;
let decision;

before(async () => {
  stage = await Stage.start({
    reviewer: async () => ({ decision }),
  });
  ({ daemon, agent, reviewer } = stage);
});
after(() => stage?.end());

test('§16a request_permissions is a tool of the endpoint; its grant can be revoked', limit, async () => {
  assert.ok(agent.facts.gatehouse.tools.includes('request_permissions'));
  const outside = join(daemon.base, 'outside');
  mkdirSync(outside);
  const { thread } = await agent.startThread({ cwd: daemon.workspace });
  const write = () => agent.callTool(shell(thread, `echo x > ${outside}/file`));
  const ask = () =>
    agent.callTool({
      threadId: thread.id,
      tool: 'request_permissions',
      arguments: { reason: 'results go there', permissions: { file_system: { write: [outside] } } },
    });
  assert.notEqual((await write()).exitCode, 0);
  decision = 'decline';
  await ask();
  assert.deepEqual((await reviewer.readThread(thread.id)).grants, []);
  decision = 'accept';
  assert.equal((await ask()).status, 'completed');
  assert.equal((await write()).exitCode, 0);
  const { grants } = await reviewer.readThread(thread.id);
  assert.deepEqual(grants.map((one) => one.permissions), [{ fileSystem: { write: [outside] } }]);
  assert.equal(await reviewer.revoke({ threadId: thread.id, kind: 'grant', id: grants[0].id }), true);
  assert.notEqual((await write()).exitCode, 0);
});
