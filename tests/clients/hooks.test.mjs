// §124 What a PostToolUse hook may take away: nobody hears it before, nor by asking again.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { shell, Stage } from './daemon.mjs';

const limit = { timeout: 60_000 };
let stage;
let daemon;
let agent;

before(async () => {
  stage = await Stage.start({ prepare });
  ({ daemon, agent } = stage);
});
function prepare(daemon) {
  mkdirSync(join(daemon.base, 'home/.gatehouse'));
  const hooks = [{ type: 'command', command: 'grep -q s3cret && { echo removed >&2; exit 2; }; exit 0' }];
  const settings = { hooks: { PostToolUse: [{ matcher: 'Bash', hooks }] } };
  writeFileSync(join(daemon.base, 'home/.gatehouse/hooks.json'), JSON.stringify(settings));
}
after(() => stage?.end());

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

test('§124 §201 output of command/exec that a hook takes away is neither streamed nor told', limit, async () => {
  const { thread } = await agent.startThread({ cwd: daemon.workspace });
  const deltas = [];
  agent.on('command/exec/outputDelta', (event) => deltas.push(event));
  let id = 0;
  for (const tty of [false, true])
    for (const streamStdoutStderr of [false, true]) {
      const run = (script) =>
        agent.runCommand({ threadId: thread.id, command: ['/bin/sh', '-c', script], processId: `p${++id}`, tty, streamStdoutStderr });
      const taken = await run('sleep 0.3; echo s3cret');
      assert.match(taken.message, /removed/);
      assert.equal(taken.stdout, '');
      assert.equal((await run('sleep 0.3; echo open')).stdout.replace('\r', ''), 'open\n');
    }
  assert.deepEqual(deltas, []);
});
