// §201 BR-197 One client on standard input and output: it is told what is wrong, it may read slowly, and its end is the daemon's.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { Daemon, gatehouse, start, until } from './daemon.mjs';
import { RawClient } from './raw_client.mjs';

const limit = { timeout: 120_000 };
let daemon; // its folders only
let child;
let out; // messages that were read
let errors;
let ended; // {code, signal}

beforeEach(() => (daemon = new Daemon()));
afterEach(async () => {
  if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
  await ended;
  await daemon.end();
});

/** `reads`: from the beginning; else when `read` is called. */
function serve({ reads = true, more = [] } = {}) {
  const args = ['serve', '--listen', 'stdio://', ...more, '--root', daemon.workspace, '--profile', 'workspace-write'];
  child = start(gatehouse, args, { env: daemon.env, cwd: daemon.workspace, stdio: ['pipe', 'pipe', 'pipe'] });
  out = [];
  errors = '';
  child.stdin.on('error', () => {});
  child.stderr.setEncoding('utf8').on('data', (text) => (errors += text));
  ended = new Promise((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })));
  if (reads) read();
}

function read() {
  let rest = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop();
    for (const line of lines) out.push(JSON.parse(line));
  });
}

const say = (message) => child.stdin.write(`${typeof message === 'string' ? message : JSON.stringify(message)}\n`);
const initialize = { id: 0, method: 'initialize', params: { clientInfo: { name: 'test' } } };

async function answer(id) {
  await until(() => out.some((m) => m.id === id && !m.method));
  return out.find((m) => m.id === id && !m.method);
}

function openThread() {
  say(initialize);
  say({ id: 1, method: 'thread/start', params: { cwd: daemon.workspace } });
}

test('BR-197 a line that is too long, and what is no message, is answered; the client stays', limit, async () => {
  serve();
  say(initialize);
  say(`{"id":1,"method":"thread/loaded/list","params":{"x":"${'y'.repeat(17 << 20)}"}}`);
  say({ id: 2, method: 'thread/loaded/list' });
  assert.ok((await answer(2)).result);
  const refused = await answer(null);
  assert.equal(refused.error.code, -32700);
  assert.match(refused.error.message, /longer than 16777216 bytes/);
  say('{"id":3');
  say({ id: 4, method: 'thread/loaded/list' });
  assert.ok((await answer(4)).result);
  assert.deepEqual(out.map((m) => m.id), [0, null, 2, null, 4]);
  child.stdin.end();
  assert.deepEqual(await ended, { code: 0, signal: null });
});

test('blank lines are no messages, whatever line ends the client writes', limit, async () => {
  serve();
  child.stdin.write(`\n\r\n \t\r\n${JSON.stringify(initialize)}\r\n\r\n`);
  say({ id: 1, method: 'thread/loaded/list' });
  await answer(1);
  assert.deepEqual(out.map((m) => m.id), [0, 1]);
});

test('§201 a client that reads slowly loses no answer, and goes on', limit, async () => {
  serve();
  openThread();
  // More than the daemon lets wait for any client: results of 1 MiB each, three times in each answer.
  const calls = Array.from({ length: 12 }, (_, i) => `call-${i}`);
  const { thread } = (await answer(1)).result;
  child.stdout.pause();
  for (const callId of calls)
    say({
      id: callId,
      method: 'tool/call',
      params: {
        threadId: thread.id,
        callId,
        tool: 'shell_command',
        // of many at once, on a machine that has other work
        arguments: { command: `head -c 1500000 /dev/zero | tr '\\0' x; touch ${callId}`, timeout_ms: 100_000 },
      },
    });
  await until(() => calls.every((callId) => existsSync(join(daemon.workspace, callId))));
  await new Promise((resolve) => setTimeout(resolve, 1000));
  child.stdout.resume();
  for (const callId of calls) assert.equal((await answer(callId)).result?.status, 'completed', callId);
  say({ id: 'again', method: 'thread/loaded/list' });
  assert.equal((await answer('again')).result.data.length, 1);
  child.stdin.end();
  assert.deepEqual(await ended, { code: 0, signal: null });
});

test('§201 what was answered before the end of the input can be read after it', limit, async () => {
  serve({ reads: false });
  say(initialize);
  const asked = 200;
  for (let i = 1; i <= asked; i += 1)
    say({ id: i, method: 'policy/explain', params: { arguments: { command: 'true; '.repeat(20) } } });
  child.stdin.end();
  await new Promise((resolve) => setTimeout(resolve, 500));
  read();
  assert.deepEqual(await ended, { code: 0, signal: null });
  await until(() => out.length === asked + 1);
  assert.ok(out.every((m) => m.result));
});

test('an input that ends inside a line, and an output that is closed, are said, and in the exit status', limit, async () => {
  serve();
  say(initialize);
  await answer(0);
  child.stdin.end('{"id":1,"method":"thread/lo');
  assert.deepEqual(await ended, { code: 1, signal: null });
  assert.match(errors, /the stream ended 27 bytes into a line/);
  serve({ reads: false });
  child.stdout.destroy();
  say(initialize);
  assert.deepEqual(await ended, { code: 1, signal: null });
  assert.match(errors, /standard output was closed/);
});

test('§201 a client whose session another connection took over is let go, and the daemon ends with its input', limit, async () => {
  serve({ more: ['--listen', 'ws://127.0.0.1:0'] });
  openThread();
  const { sessionId } = (await answer(0)).result;
  await answer(1);
  await until(() => /^ws:.*$/m.test(errors));
  const url = /^ws:.*$/m.exec(errors)[0];
  const other = await RawClient.connect({ url, token: (as) => daemon.token(as) }, 'agent', { initialize: false });
  const outputEnds = new Promise((resolve) => child.stdout.once('end', resolve));
  const taken = await other.request('initialize', { clientInfo: { name: 'x' }, resumeSessionId: sessionId, takeover: true });
  assert.equal(taken.result.resumed, true);
  await outputEnds;
  say({ id: 'late', method: 'thread/loaded/list' });
  assert.equal((await other.request('thread/loaded/list', {})).result.data.length, 1);
  child.stdin.end();
  assert.deepEqual(await ended, { code: 1, signal: null });
  assert.match(errors, /another connection resumed this session/);
  other.close();
});
