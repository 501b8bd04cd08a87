// §201 fs/*: files through the endpoint, inside the boundary of a thread.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { descendants, Stage, until } from './daemon.mjs';
import { RawClient } from './raw_client.mjs';

const limit = { timeout: 60_000 };
const text = (bytes) => new TextDecoder().decode(bytes);
const base64 = (words) => Buffer.from(words).toString('base64');
let stage;
let daemon;
let agent;
let reviewer;
let raw;

before(async () => {
  stage = await Stage.start({ prepare, args: ['--profile', 'guarded'], reviewer: true });
  ({ daemon, agent, reviewer } = stage);
  raw = await RawClient.connect(daemon, 'agent');
});
function prepare(daemon) {
  mkdirSync(join(daemon.base, 'home/.gatehouse'));
  writeFileSync(
    join(daemon.base, 'home/.gatehouse/config.toml'),
    '[permissions.guarded]\nextends = "workspace-write"\n[permissions.guarded.filesystem.":project_roots"]\n"**/*.env" = "deny"\n',
  );
}
after(async () => {
  raw?.close();
  await stage?.end();
});

const newThread = async (more = {}) => (await agent.startThread({ cwd: daemon.workspace, ...more })).thread;
const at = (name) => join(daemon.workspace, name);
/** The error of a raw request; fails when there is none. */
const refusal = async (method, params) => {
  const { error, result } = await raw.request(method, params);
  assert.ok(error, `${method} ${JSON.stringify(params)} answered ${JSON.stringify(result)}`);
  return error;
};

test('§201 fs/*: files are written, read, listed, copied and removed in the workspace', limit, async () => {
  const threadId = (await newThread()).id;
  const here = (name, more = {}) => ({ threadId, path: at(name), ...more });
  await agent.createDirectory(here('a/b'));
  await agent.createDirectory(here('a/b')); // fine twice
  await agent.writeFile(here('a/b/one', { data: 'eins\n' }));
  await agent.writeFile(here('a/b/bytes', { data: new Uint8Array([0, 255, 10, 128]) }));
  assert.equal(readFileSync(at('a/b/one'), 'utf8'), 'eins\n');
  assert.equal(text(await agent.readFile(here('a/b/one'))), 'eins\n');
  assert.deepEqual([...(await agent.readFile(here('a/b/bytes')))], [0, 255, 10, 128]);
  await agent.writeFile(here('a/b/one', { data: 'zwei' })); // all of it is new
  assert.equal(readFileSync(at('a/b/one'), 'utf8'), 'zwei');
  await agent.copyPath({ threadId, sourcePath: at('a/b'), destinationPath: at('c'), recursive: true });
  assert.equal(readFileSync(at('c/one'), 'utf8'), 'zwei');
  const names = (await agent.readDirectory(here('c'))).map((e) => [e.fileName, e.isFile, e.isDirectory]).sort();
  assert.deepEqual(names, [['bytes', true, false], ['one', true, false]]);
  const about = await agent.getMetadata(here('a/b/one'));
  assert.deepEqual([about.isFile, about.isDirectory, about.isSymlink, about.size], [true, false, false, 4]);
  await agent.removePath(here('c/one'));
  assert.equal(existsSync(at('c/one')), false);
});

test('§201 fs/*: what is not there is -32004', limit, async () => {
  const threadId = (await newThread()).id;
  for (const method of ['fs/readFile', 'fs/getMetadata', 'fs/readDirectory', 'fs/remove']) {
    const error = await refusal(method, { threadId, path: at('no-such') });
    assert.deepEqual([method, error.code, error.data.kind], [method, -32004, 'notFound']);
  }
  assert.deepEqual((await raw.request('fs/remove', { threadId, path: at('no-such'), force: true })).result, {});
});

test('§201 fs/*: without a thread, or with a path that is none, nothing is done', limit, async () => {
  const threadId = (await newThread()).id;
  const without = await refusal('fs/readFile', { path: at('x') });
  assert.equal(without.code, -32602);
  assert.match(without.message, /threadId.*thread\/start/);
  for (const path of ['relative', '', `${at('x')}\n*** Delete File: y`, at('x '), `/${'x'.repeat(5000)}`])
    assert.equal((await refusal('fs/writeFile', { threadId, path, dataBase64: '' })).code, -32602, path);
  assert.equal((await refusal('fs/writeFile', { threadId, path: at('x'), dataBase64: '?' })).code, -32602);
  assert.equal((await refusal('fs/readFile', { threadId, path: at('x'), sandbox: null })).code, -32602);
  assert.equal((await refusal('fs/readFile', { threadId: 'thread-none', path: at('x') })).data.kind, 'unknownThread');
  for (const method of ['fs/watch', 'fs/unwatch', 'fs/open'])
    assert.equal((await refusal(method, { threadId, path: at('x') })).code, -32601);
});

test('§201 fs/*: what the profile denies cannot be read, not by a link and not by a copy', limit, async () => {
  const threadId = (await newThread()).id;
  writeFileSync(at('secret.env'), 'KEY=hidden-value\n');
  symlinkSync(at('secret.env'), at('harmless'));
  for (const path of ['secret.env', 'harmless']) {
    const error = await refusal('fs/readFile', { threadId, path: at(path) });
    assert.ok(!JSON.stringify(error).includes('hidden-value'));
  }
  await refusal('fs/copy', { threadId, sourcePath: at('secret.env'), destinationPath: at('copied') });
  assert.ok(!existsSync(at('copied')) || !readFileSync(at('copied'), 'utf8').includes('hidden-value'));
  await refusal('fs/writeFile', { threadId, path: at('secret.env'), dataBase64: base64('x') });
  assert.equal(readFileSync(at('secret.env'), 'utf8'), 'KEY=hidden-value\n');
});

test('§201 fs/*: what is protected, and what is outside, is not written', limit, async () => {
  const threadId = (await newThread()).id;
  mkdirSync(at('.git/hooks'), { recursive: true });
  const outside = join(daemon.base, 'outside');
  mkdirSync(outside);
  writeFileSync(join(outside, 'kept'), 'as it was');
  symlinkSync(outside, at('way-out'));
  symlinkSync(join(outside, 'kept'), at('file-out'));
  for (const path of [
    at('.git/hooks/pre-commit'),
    at('.git/config'),
    join(outside, 'new'),
    join(outside, 'kept'),
    at('way-out/new'),
    at('way-out/kept'),
    at('file-out'),
    at('../outside/new'),
  ]) {
    const error = await refusal('fs/writeFile', { threadId, path, dataBase64: base64('x') });
    assert.equal(error.data.kind, 'refused', `${path}: ${error.message}`);
    assert.ok(error.message.length > 30);
    if (path !== at('file-out')) await refusal('fs/createDirectory', { threadId, path: `${path}.d` });
    await refusal('fs/copy', { threadId, sourcePath: at('secret-free'), destinationPath: path });
  }
  assert.match((await refusal('fs/writeFile', { threadId, path: join(outside, 'new'), dataBase64: '' })).message, /apply_patch/);
  assert.equal((await refusal('fs/remove', { threadId, path: join(outside, 'kept') })).data.kind, 'refused');
  assert.equal(readFileSync(join(outside, 'kept'), 'utf8'), 'as it was');
  assert.equal(existsSync(join(outside, 'new')), false);
  assert.equal(existsSync(at('.git/hooks/pre-commit')), false);
});

test('§201 fs/remove: a whole folder is asked about, as rm -rf is', limit, async () => {
  const threadId = (await newThread()).id;
  mkdirSync(at('many'));
  writeFileSync(at('many/file'), '');
  const error = await refusal('fs/remove', { threadId, path: at('many'), recursive: true });
  assert.equal(error.data.kind, 'refused');
  assert.match(error.message, /shell_command/);
  assert.ok(existsSync(at('many/file')));
});

test('§201 fs/*: a thread that writes nothing or asks about all writing lets nothing be written', limit, async () => {
  for (const more of [{ sandbox: 'read-only' }, { approvalPolicy: 'untrusted' }]) {
    const threadId = (await reviewer.startThread({ cwd: daemon.workspace, ...more })).thread.id;
    const error = await refusal('fs/writeFile', { threadId, path: at('never'), dataBase64: '' });
    assert.equal(error.data.kind, 'refused', error.message);
    assert.equal(existsSync(at('never')), false);
    writeFileSync(at('readable'), 'yes');
    assert.equal(text(await agent.readFile({ threadId, path: at('readable') })), 'yes');
  }
});

test('§201 fs/*: an agent cannot reach tokens, the audit or the memory of its helper', limit, async () => {
  const threadId = (await newThread()).id;
  const state = join(daemon.env.XDG_STATE_HOME, 'gatehouse');
  for (const name of ['agent', 'reviewer']) {
    const error = await refusal('fs/readFile', { threadId, path: join(state, `tokens/${name}.token`) });
    assert.ok(!JSON.stringify(error).includes(daemon.token(name)));
    const target = { threadId, sourcePath: join(state, 'tokens'), destinationPath: at('stolen'), recursive: true };
    await raw.request('fs/copy', target);
    assert.equal(existsSync(at(`stolen/${name}.token`)), false);
    await refusal('fs/writeFile', { threadId, path: join(state, `tokens/${name}.token`), dataBase64: '' });
    assert.ok(daemon.token(name).length > 20);
  }
  await refusal('fs/writeFile', { threadId, path: join(state, 'audit.db'), dataBase64: '' });
});

test('§201 §51 fs/*: after the user stopped the agent no file is touched before his next turn', limit, async () => {
  const threadId = (await newThread()).id;
  const path = at('stopped');
  writeFileSync(path, 'as it was');
  await reviewer.interruptTurn({ threadId });
  assert.equal((await refusal('fs/writeFile', { threadId, path, dataBase64: base64('x') })).data.kind, 'refused');
  assert.equal((await refusal('fs/readFile', { threadId, path })).data.kind, 'refused');
  await reviewer.startTurn({ threadId });
  await agent.writeFile({ threadId, path, data: 'new' });
  assert.equal(readFileSync(path, 'utf8'), 'new');
});

test('§201 §124 fs/*: nothing is written past a hook that looks at patches', limit, async () => {
  const hook = { hooks: { PreToolUse: [{ matcher: 'apply_patch', hooks: [{ type: 'command', command: 'cat > /dev/null; exit 0' }] }] } };
  const file = join(daemon.base, 'home/.gatehouse/hooks.json');
  writeFileSync(file, JSON.stringify(hook));
  const threadId = (await newThread()).id;
  rmSync(file);
  const error = await refusal('fs/writeFile', { threadId, path: at('unseen'), dataBase64: '' });
  assert.equal(error.data.kind, 'refused');
  assert.match(error.message, /hook/);
  assert.equal(existsSync(at('unseen')), false);
  assert.deepEqual(await agent.readDirectory({ threadId, path: at('.git/hooks') }), []);
});

test('§201 fs/readFile: no more than goes into a message, and no device or pipe', { timeout: 180_000 }, async () => {
  const threadId = (await newThread()).id;
  writeFileSync(at('large'), '');
  truncateSync(at('large'), 11 * 1024 * 1024);
  assert.equal((await agent.readFile({ threadId, path: at('large') })).length, 11 * 1024 * 1024);
  truncateSync(at('large'), 11 * 1024 * 1024 + 1);
  const error = await refusal('fs/readFile', { threadId, path: at('large') });
  assert.deepEqual([error.code, error.data.kind], [-32603, 'tooLarge']);
  assert.match(error.message, /11534337/);
  const most = Buffer.alloc(11 * 1024 * 1024 + 1).toString('base64');
  assert.equal((await refusal('fs/writeFile', { threadId, path: at('big'), dataBase64: most })).data.kind, 'tooLarge');
  assert.equal(existsSync(at('big')), false);
  assert.equal((await refusal('fs/readFile', { threadId, path: '/dev/zero' })).data.kind, 'notTaken');
});

test('§201 fs/*: a thread without a boundary is refused, whoever asks', limit, async () => {
  const { thread } = await reviewer.startThread({ cwd: daemon.workspace, sandbox: 'danger-full-access' });
  writeFileSync(at('plain'), 'text');
  const wish = { threadId: thread.id, path: at('plain') };
  await assert.rejects(reviewer.readFile(wish), { kind: 'sandboxRequired' });
  assert.equal((await refusal('fs/readFile', wish)).data.kind, 'sandboxRequired');
  // In a thread with one a reviewer reads as the agent does.
  const guarded = await reviewer.startThread({ cwd: daemon.workspace });
  assert.equal(text(await reviewer.readFile({ threadId: guarded.thread.id, path: at('plain') })), 'text');
});

/** The words and the state of a process, if it is a program of a file call: nothing before it is one, since the daemon waits for that. */
function fileCall(pid) {
  try {
    const words = readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0');
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return words.includes('file-call') && { program: words[0], state: stat.slice(stat.lastIndexOf(')') + 2)[0] };
  } catch {
    return false; // it has ended
  }
}

/** Reads the workspace with a call whose processes have been stopped, so that it would take for ever. One that is answered first
 *  is followed by another. */
async function stuckCall(client, threadId) {
  for (;;) {
    let answered = false;
    const answer = client.request('fs/readDirectory', { threadId, path: daemon.workspace }).finally(() => (answered = true));
    const held = new Set();
    const stopAll = () => {
      for (const pid of descendants(daemon.pid).filter((one) => !held.has(one) && fileCall(one))) {
        process.kill(pid, 'SIGSTOP');
        held.add(pid);
      }
    };
    await until(() => {
      stopAll();
      return held.size > 0 || answered;
    });
    for (let before = 0; before !== held.size; stopAll()) before = held.size;
    // A signal takes its time; one whose vfork child was stopped waits for that (D).
    await until(() => [...held].every((pid) => !fileCall(pid) || 'TD'.includes(fileCall(pid).state)));
    // The outer program's end is the call's.
    if ([...held].some((pid) => fileCall(pid) && fileCall(pid).program.endsWith('/gatehouse-sandbox'))) return { answer, held };
    await answer;
  }
}
const lives = (pid) => existsSync(`/proc/${pid}`);

test('§201 fs/*: a call that hung went on for 60 s after a stop, after its thread and after its client', limit, async () => {
  for (const [name, end] of [
    ['the user stops the agent', (threadId) => reviewer.interruptTurn({ threadId })],
    ['the agent stops its turn', (threadId) => raw.request('turn/interrupt', { threadId })],
    ['the turn is over', (threadId) => raw.request('turn/complete', { threadId })],
    ['the thread is closed', (threadId) => raw.request('thread/close', { threadId })],
  ]) {
    const threadId = (await newThread()).id;
    await raw.request('turn/start', { threadId });
    const { answer, held } = await stuckCall(raw, threadId);
    await end(threadId);
    const { error } = await answer;
    assert.deepEqual([error.code, error.data.kind], [-32603, 'cancelled'], name);
    await until(() => ![...held].some(lives));
  }
  const threadId = (await newThread()).id;
  const client = await RawClient.connect(daemon, 'agent');
  const { held } = await stuckCall(client, threadId);
  client.close();
  await until(() => ![...held].some(lives));
  assert.ok((await raw.request('fs/readDirectory', { threadId, path: daemon.workspace })).result, 'the thread goes on');
});

test('§201 fs/writeFile: text that is no base64 is refused, and nothing is written', limit, async () => {
  const threadId = (await newThread()).id;
  for (const dataBase64 of ['====', 'a', 'a===', 'Zm9v*', 'Zm9v'.repeat(100_000) + '!']) {
    const error = await refusal('fs/writeFile', { threadId, path: at('no-base64'), dataBase64 });
    assert.deepEqual([error.code, error.data.kind], [-32602, 'invalidParams']);
  }
  assert.equal(existsSync(at('no-base64')), false);
});

test('§201 fs/*: many at once are answered, or told to come again', limit, async () => {
  const threadId = (await newThread()).id;
  writeFileSync(at('small'), 'x');
  const all = await Promise.all(Array.from({ length: 40 }, () => raw.request('fs/readFile', { threadId, path: at('small') })));
  const kinds = new Set(all.map(({ error }) => error?.data.kind ?? 'read'));
  assert.ok(kinds.has('read'));
  kinds.delete('read');
  kinds.delete('overloaded');
  assert.deepEqual([...kinds], []);
  assert.equal(text(await agent.readFile({ threadId, path: at('small') })), 'x');
});

test('§201 a client that reads nothing was read files to until the memory was full', { timeout: 300_000 }, async () => {
  const thread = await newThread();
  writeFileSync(at('large'), '');
  truncateSync(at('large'), 3 << 20);
  const slow = await RawClient.connect(daemon, 'agent');
  const params = { threadId: thread.id, path: at('large') };
  slow.socket.pause();
  const answers = [];
  let taken = performance.now();
  for (let i = 0; i < 26; i += 1) {
    answers.push(slow.request('fs/readFile', params));
    // One that reads is the clock: by its answer one more of the others has been made.
    assert.ok((await raw.request('fs/readFile', params)).result);
    // One is taken: who takes nothing for 30 s is sent away.
    if (performance.now() - taken > 20_000) {
      taken = performance.now();
      const one = once(slow.socket, 'message');
      slow.socket.resume();
      await one;
      slow.socket.pause();
    }
  }
  slow.socket.resume();
  const refused = (await Promise.all(answers)).filter(({ error }) => /answers wait/.test(error?.message ?? ''));
  assert.ok(refused.length > 0);
  assert.ok((await slow.request('fs/readFile', params)).result, 'it reads again');
  slow.close();
});
