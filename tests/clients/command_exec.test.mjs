// §201 command/exec: commands of a client's own, as calls of a thread.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { clientInfo, dangerous, gatehouse, running, Stage, until } from './daemon.mjs';
import { RawClient } from './raw_client.mjs';

const limit = { timeout: 60_000 };
const asked = [];
let decision = 'decline';
let held; // set: questions wait for it
let stage;
let daemon;
let agent;
let reviewer;
let raw;

before(async () => {
  stage = await Stage.start({
    reviewer: async (question) => {
      asked.push(question);
      await held;
      return { decision };
    },
  });
  ({ daemon, agent, reviewer } = stage);
  raw = await RawClient.connect(daemon, 'agent');
});
after(async () => {
  raw?.close();
  await stage?.end();
});

let last = 0;
const newThread = async (more = {}) => (await agent.startThread({ cwd: daemon.workspace, ...more })).thread;
const sh = (script) => ['/bin/sh', '-c', script];
const newId = () => `p${++last}`;
const base64 = (words) => Buffer.from(words).toString('base64');
/** The deltas of one command that a raw client heard. */
const deltasOf = (client, processId) =>
  client.messages.filter((m) => m.method === 'command/exec/outputDelta' && m.params.processId === processId).map((m) => m.params);
const said = (client, processId, stream = 'stdout') =>
  Buffer.concat(
    deltasOf(client, processId)
      .filter((d) => d.stream === stream)
      .map((d) => Buffer.from(d.deltaBase64, 'base64')),
  ).toString();
const refusal = async (method, params, client = raw) => {
  const { error, result } = await client.request(method, params);
  assert.ok(error, `${method} answered ${JSON.stringify(result)}`);
  return error;
};

test('§201 command/exec: without a thread nothing runs, and the message says why', limit, async () => {
  const error = await refusal('command/exec', { command: sh('touch ran') });
  assert.deepEqual([error.code, error.data.kind], [-32602, 'invalidParams']);
  assert.match(error.message, /policy of a thread; thread\/start/);
  assert.equal(existsSync(join(daemon.workspace, 'ran')), false);
  const byReviewer = await RawClient.connect(daemon, 'reviewer');
  const threadId = (await newThread()).id;
  assert.equal((await refusal('command/exec', { threadId, command: ['true'] }, byReviewer)).data.kind, 'authority');
  byReviewer.close();
});

test('§201 command/exec: it runs in the sandbox of the thread, and is an item of it', limit, async () => {
  const thread = await newThread();
  const items = [];
  agent.on('item/completed', (e) => e.threadId === thread.id && items.push(e.item));
  const told = await agent.runCommand({ threadId: thread.id, command: sh('echo out; echo err >&2; exit 7') });
  assert.deepEqual([told.exitCode, told.stdout, told.stderr, told.status], [7, 'out\n', 'err\n', 'completed']);
  await until(() => items.length === 1);
  assert.deepEqual([items[0].id, items[0].exitCode], [told.callId, 7]);
  const outside = join(daemon.base, 'outside');
  const denied = await agent.runCommand({ threadId: thread.id, command: ['touch', outside] });
  assert.notEqual(denied.exitCode, 0);
  assert.equal(existsSync(outside), false);
  const read = await agent.runCommand({
    threadId: thread.id,
    command: ['cat', join(daemon.env.XDG_STATE_HOME, 'gatehouse/tokens/reviewer.token')],
  });
  assert.ok(read.exitCode !== 0 && !read.stdout.includes(daemon.token('reviewer')));
  const limited = await agent.runCommand({ threadId: thread.id, command: ['sleep', '50'], timeoutMs: 200 });
  assert.deepEqual([limited.exitCode, limited.status], [124, 'timedOut']);
});

test('§201 command/exec: what must be asked is asked, and a no is a result', limit, async () => {
  const thread = await newThread();
  const before = asked.length;
  const told = await agent.runCommand({ threadId: thread.id, command: dangerous, processId: newId() });
  assert.deepEqual([told.status, told.exitCode], ['declined', 125]);
  assert.ok(told.message.length > 0);
  assert.equal(asked.length, before + 1);
  assert.deepEqual(asked.at(-1).argv, dangerous);
  decision = 'accept';
  assert.equal((await agent.runCommand({ threadId: thread.id, command: dangerous })).status, 'completed');
  decision = 'decline';
  const never = await newThread({ approvalPolicy: 'never' });
  assert.equal((await agent.runCommand({ threadId: never.id, command: dangerous })).status, 'rejected');
});

test('§201 command/exec: what is not done here is refused by its name, and nothing runs', limit, async () => {
  const threadId = (await newThread()).id;
  const command = sh('touch ran');
  for (const [more, code, named] of [
    [{ command: [] }, -32600, /command/],
    [{ env: { A: 'b' } }, -32602, /`env`/],
    [{ env: 'A=b' }, -32602, /`env`/],
    [{ sandboxPolicy: { type: 'dangerFullAccess' } }, -32602, /`sandboxPolicy`/],
    [{ permissionProfile: ':danger-full-access' }, -32602, /`permissionProfile`/],
    [{ disableOutputCap: true }, -32602, /`disableOutputCap`/],
    [{ outputBytesCap: 1048577 }, -32602, /`outputBytesCap`/],
    [{ outputBytesCap: -1 }, -32602, /`outputBytesCap`/],
    [{ timeoutMs: 5, disableTimeout: true }, -32602, /`disableTimeout`/],
    [{ disableTimeout: true }, -32602, /`disableTimeout`/],
    [{ timeoutMs: 0 }, -32602, /`timeoutMs`/],
    [{ size: { rows: 2, cols: 2 } }, -32602, /`size`/],
    [{ streamStdin: true, processId: 'x' }, -32602, /`streamStdin`/],
    [{ streamStdoutStderr: true }, -32600, /`processId`/],
    [{ tty: true }, -32600, /`processId`/],
    [{ tty: true, processId: 'x', timeoutMs: 5 }, -32602, /`timeoutMs`/],
    [{ tty: true, processId: 'x', size: { rows: 0, cols: 5 } }, -32602, /`rows`/],
    [{ processId: '' }, -32602, /`processId`/],
    [{ processId: 'x'.repeat(129) }, -32602, /`processId`/],
    [{ unknown: 1 }, -32602, /unknown/],
  ]) {
    const error = await refusal('command/exec', { threadId, command, ...more });
    assert.equal(error.code, code, JSON.stringify(more));
    assert.match(error.message, named);
  }
  assert.equal(existsSync(join(daemon.workspace, 'ran')), false);
  assert.equal((await raw.request('command/exec', { threadId, command: ['true'], env: {}, sandboxPolicy: null })).result.exitCode, 0);
});

test('§201 command/exec: the deltas add up, are numbered, and go to nobody else', limit, async () => {
  const threadId = (await newThread()).id;
  const other = await RawClient.connect(daemon, 'agent');
  const processId = newId();
  const script = 'for i in 1 2 3; do echo out $i; echo err $i >&2; sleep 0.05; done; seq 20000; exit 3';
  const { result } = await raw.request('command/exec', { threadId, command: sh(script), processId, streamStdoutStderr: true });
  assert.deepEqual([result.exitCode, result.stdout, result.stderr, result.outputTruncated], [3, '', '', false]);
  const numbers = Array.from({ length: 20000 }, (_, i) => `${i + 1}\n`).join('');
  assert.equal(said(raw, processId), `out 1\nout 2\nout 3\n${numbers}`);
  assert.equal(said(raw, processId, 'stderr'), 'err 1\nerr 2\nerr 3\n');
  assert.deepEqual(deltasOf(raw, processId).map((d) => d.seq), deltasOf(raw, processId).map((_, i) => i + 1));
  assert.ok(deltasOf(raw, processId).every((d) => !d.capReached));
  assert.deepEqual(deltasOf(other, processId), []);
  other.close();
});

test('§201 command/exec: outputBytesCap holds for what is told and what is streamed', limit, async () => {
  const threadId = (await newThread()).id;
  const command = sh('printf 0123456789; printf abcdefghij >&2');
  const { result } = await raw.request('command/exec', { threadId, command, outputBytesCap: 4 });
  assert.deepEqual([result.stdout, result.stderr, result.outputTruncated], ['0123', 'abcd', true]);
  const processId = newId();
  const streamed = await raw.request('command/exec', { threadId, command, processId, streamStdoutStderr: true, outputBytesCap: 4 });
  assert.equal(streamed.result.outputTruncated, true);
  assert.deepEqual([said(raw, processId), said(raw, processId, 'stderr')], ['0123', 'abcd']);
  assert.ok(deltasOf(raw, processId).some((d) => d.capReached));
});

test('§201 command/exec: a terminal is typed into, resized and ended by who started it', limit, async () => {
  const threadId = (await newThread()).id;
  const other = await RawClient.connect(daemon, 'agent');
  const processId = newId();
  const script = 'stty -echo; stty size; while read line; do echo "got $line"; [ "$line" = size ] && stty size; [ "$line" = end ] && exit 5; done';
  const answer = raw.request('command/exec', {
    threadId,
    command: sh(script),
    processId,
    tty: true,
    streamStdin: true,
    streamStdoutStderr: true,
    size: { rows: 30, cols: 100 },
  });
  const write = (words, client = raw) => client.request('command/exec/write', { processId, deltaBase64: base64(words) });
  await until(() => said(raw, processId).includes('\n')); // echo is off
  assert.deepEqual((await write('grüße\n')).result, {});
  await until(() => said(raw, processId).includes('got grüße'));
  await raw.request('command/exec/resize', { processId, size: { rows: 41, cols: 77 } });
  await write('size\n');
  await until(() => said(raw, processId).includes('41 77'));
  // Nobody else has a command of this name.
  for (const [method, more] of [
    ['command/exec/write', { deltaBase64: base64('end\n') }],
    ['command/exec/resize', { size: { rows: 1, cols: 1 } }],
    ['command/exec/terminate', {}],
  ])
    assert.equal((await refusal(method, { processId, ...more }, other)).data.kind, 'unknownProcess');
  for (const more of [{}, { deltaBase64: '' }, { deltaBase64: '?' }, { deltaBase64: '/w==' }, { deltaBase64: 'AA==' }, { closeStdin: true }])
    assert.equal((await refusal('command/exec/write', { processId, ...more })).code, -32602, JSON.stringify(more));
  assert.equal((await refusal('command/exec', { threadId, command: ['true'], processId })).data.kind, 'processIdInUse');
  await write('end\n');
  const { result } = await answer;
  assert.deepEqual([result.exitCode, result.status, result.stdout, result.stderr], [5, 'completed', '', '']);
  assert.equal((await refusal('command/exec/write', { processId, deltaBase64: base64('x') })).data.kind, 'unknownProcess');
  // Free again, in the same thread.
  const again = await raw.request('command/exec', { threadId, command: sh('echo again'), processId });
  assert.deepEqual([again.result.exitCode, again.result.stdout], [0, 'again\n']);
  assert.deepEqual(await agent.listTerminals(threadId), []);
  other.close();
});

test('§201 command/exec: a terminal that is not streamed tells its output at the end', limit, async () => {
  const threadId = (await newThread()).id;
  const processId = newId();
  const answer = raw.request('command/exec', { threadId, command: sh('stty -echo; read a; echo "<$a>"; exit 4'), processId, tty: true });
  // What is typed before there is a terminal waits for it.
  assert.deepEqual((await raw.request('command/exec/write', { processId, deltaBase64: base64('early\n') })).result, {});
  const { result } = await answer;
  assert.equal(result.exitCode, 4);
  assert.match(result.stdout, /<early>/);
});

test('§201 command/exec: terminate ends a command, with a terminal and without', limit, async () => {
  const threadId = (await newThread()).id;
  for (const [tty, marker] of [[false, '86397.01'], [true, '86397.02']]) {
    const processId = newId();
    const answer = raw.request('command/exec', { threadId, command: sh(`sleep ${marker}; echo never`), processId, tty });
    await until(() => running(marker) > 0);
    if (!tty) assert.equal((await refusal('command/exec/write', { processId, deltaBase64: base64('x') })).data.kind, 'noTerminal');
    assert.deepEqual((await raw.request('command/exec/terminate', { processId })).result, {});
    const { result } = await answer;
    assert.notEqual(result.exitCode, 0);
    assert.ok(!result.stdout.includes('never'));
    await until(() => running(marker) === 0);
  }
});

test('§201 command/exec: a question that stands ends with terminate, and nothing runs', limit, async () => {
  const { thread } = await reviewer.startThread({ cwd: daemon.workspace });
  const quiet = await RawClient.connect(daemon, 'agent');
  held = new Promise(() => {}); // nobody answers
  const processId = newId();
  const before = asked.length;
  const answer = quiet.request('command/exec', { threadId: thread.id, command: dangerous, processId, tty: true });
  await until(() => asked.length > before);
  await quiet.request('command/exec/terminate', { processId });
  assert.equal((await answer).result.status, 'interrupted');
  held = undefined;
  quiet.close();
});

test('§201 command/exec: it ends with its connection, unless it is detachable', limit, async () => {
  const threadId = (await newThread()).id;
  for (const [tty, detachable, marker] of [[false, false, '86398.11'], [true, false, '86398.12'], [false, true, '86398.13'], [true, true, '86398.14']]) {
    const client = await RawClient.connect(daemon, 'agent');
    void client.request('command/exec', { threadId, command: ['sleep', marker], processId: newId(), tty, detachable, ...(!tty && { timeoutMs: 60_000 }) });
    await until(() => running(marker) > 0);
    client.close();
    await client.ended;
    if (!detachable) {
      await until(() => running(marker) === 0);
      continue;
    }
    // Time enough for what ends with its connection, as above.
    const probe = await raw.request('command/exec', { threadId, command: ['true'] });
    assert.equal(probe.result.exitCode, 0);
    assert.ok(running(marker) > 0);
  }
  await agent.closeThread(threadId);
  await until(() => running('86398.1') === 0);
});

test('§201 command/exec: who takes the session up again has its detachable commands, and nobody else', limit, async () => {
  const threadId = (await newThread()).id;
  const first = await RawClient.connect(daemon, 'agent');
  const processId = newId();
  const script = 'stty -echo; echo ready; read line; echo "got $line"; exit 6';
  void first.request('command/exec', { threadId, command: sh(script), processId, tty: true, detachable: true, streamStdoutStderr: true });
  await until(() => said(first, processId).includes('ready'));
  first.close();
  await first.ended;
  const write = { processId, deltaBase64: base64('back\n') };
  assert.equal((await refusal('command/exec/write', write)).data.kind, 'unknownProcess');
  const again = await RawClient.connect(daemon, 'agent', { initialize: false });
  const params = { clientInfo: { name: 'raw' }, resumeSessionId: first.facts.sessionId };
  await until(async () => (await again.request('initialize', params)).result);
  assert.deepEqual((await again.request('command/exec/write', write)).result, {});
  await until(() => said(again, processId).includes('got back'));
  await until(async () => (await again.request('command/exec/terminate', { processId })).error?.data.kind === 'unknownProcess');
  again.close();
});

test('§201 command/exec: the end of its thread is its end, and is told', limit, async () => {
  const threadId = (await newThread()).id;
  const markers = ['86396.21', '86396.22'];
  const answers = markers.map((marker, i) =>
    raw.request('command/exec', { threadId, command: ['sleep', marker], processId: newId(), tty: i === 1 }),
  );
  await until(() => markers.every((marker) => running(marker) > 0));
  await agent.closeThread(threadId);
  for (const { result } of await Promise.all(answers)) assert.equal(result.status, 'interrupted');
  await until(() => markers.every((marker) => running(marker) === 0));
});

test('§201 §205 command/exec and fs/writeFile stand in the audit', limit, async () => {
  const threadId = (await newThread()).id;
  const processId = newId();
  await agent.runCommand({ threadId, command: ['echo', 'to-be-found-1'], processId });
  await agent.writeFile({ threadId, path: join(daemon.workspace, 'to-be-found-2'), data: 'x' });
  assert.equal(readFileSync(join(daemon.workspace, 'to-be-found-2'), 'utf8'), 'x');
  const shown = spawnSync(gatehouse, ['audit', 'export'], { env: daemon.env, encoding: 'utf8', cwd: daemon.workspace });
  assert.equal(shown.status, 0, shown.stderr);
  assert.ok(shown.stdout.includes('to-be-found-1') && shown.stdout.includes('to-be-found-2'), shown.stdout.slice(-2000));
});

test('§201 command/exec: a process id equal to an id that a call or a turn had was refused for ever', limit, async () => {
  const thread = await newThread();
  const name = newId();
  await agent.callTool({ threadId: thread.id, callId: name, tool: 'shell_command', arguments: { command: 'true' } });
  const told = await agent.runCommand({ threadId: thread.id, command: ['echo', 'again'], processId: name });
  assert.deepEqual([told.status, told.stdout], ['completed', 'again\n']);
  assert.ok(told.callId.startsWith(`command:${name}:`));
});

test('§201 a client’s call or turn could have the id of what is typed into a command', limit, async () => {
  const thread = await newThread();
  const call = { threadId: thread.id, callId: 'command:x/1', tool: 'shell_command', arguments: { command: 'true' } };
  for (const [method, params] of [['tool/call', call], ['turn/start', { threadId: thread.id, turnId: 'command:x/1' }]]) {
    const error = await refusal(method, params);
    assert.deepEqual([error.code, error.data.kind], [-32602, 'invalidParams'], method);
    assert.match(error.message, /command\/exec/);
  }
});
