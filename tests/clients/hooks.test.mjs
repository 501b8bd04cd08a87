// §124 What a PostToolUse hook may take away: nobody hears it before, nor by asking again.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { AgentClient } from '../../clients/typescript/dist/index.js';
import { clientInfo, Daemon, shell, soon } from './daemon.mjs';

const limit = { timeout: 60_000 };
let daemon;
let agent;

before(async () => {
  daemon = new Daemon();
  mkdirSync(join(daemon.base, 'home/.gatehouse'));
  const hooks = [{ type: 'command', command: 'grep -q s3cret && { echo removed >&2; exit 2; }; exit 0' }];
  const settings = { hooks: { PostToolUse: [{ matcher: 'Bash', hooks }] } };
  writeFileSync(join(daemon.base, 'home/.gatehouse/hooks.json'), JSON.stringify(settings));
  await daemon.run();
  agent = await AgentClient.connect({ clientInfo, transport: daemon.unix('agent'), reconnect: soon });
});
after(async () => {
  agent?.close();
  await daemon?.end();
});

test('§124 output that a hook took away had been streamed before', limit, async () => {
  const { thread } = await agent.startThread({ cwd: daemon.workspace });
  const deltas = [];
  agent.on('item/commandExecution/outputDelta', (event) => deltas.push(event.delta));
  const taken = await agent.callTool(shell(thread, 'echo s3cret'));
  assert.match(taken.message, /removed/);
  assert.equal(taken.output, '');
  assert.equal((await agent.callTool(shell(thread, 'echo open'))).output, 'open\n');
  assert.deepEqual(deltas, []);
});
