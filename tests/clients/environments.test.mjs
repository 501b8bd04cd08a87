// §7 Threads of one daemon on several machines: each call runs in the place of its thread, and what is allowed there is
// allowed nowhere else.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { dangerous, gatehouse, shell, Stage, start } from './daemon.mjs';
import { RawClient } from './raw_client.mjs';

const limit = { timeout: 60_000 };
const servers = [];
const asked = [];
let decision = 'accept';
let stage;
let daemon;
let agent;
let reviewer;

/** A machine of its own, as far as an exec server is one: its folder there holds a marker. */
async function machine(daemon, name, ...options) {
  const folder = join(daemon.base, name);
  mkdirSync(join(folder, 'below'), { recursive: true });
  writeFileSync(join(folder, 'marker'), `${name}\n`);
  const child = start(gatehouse, ['exec-server', '--listen', 'ws://127.0.0.1:0', ...options], {
    env: daemon.env,
    cwd: '/',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  servers.push(child);
  const url = await new Promise((resolve, reject) => {
    child.stdout.setEncoding('utf8').once('data', (text) => resolve(text.trim()));
    child.once('exit', (code) => reject(new Error(`the exec server ended (${code})`)));
  });
  return { folder, url };
}

let build;
let gpu;

async function prepare(daemon) {
  build = await machine(daemon, 'build', '--no-auth');
  const token = join(daemon.base, 'gpu.token');
  gpu = await machine(daemon, 'gpu', '--token-file', token);
  daemon.configure(
    `[environments.build]\nexec_server = "${build.url}"\ncwd = "${build.folder}"\n` +
      `[environments.gpu]\nexec_server = "${gpu.url}"\ncwd = "${gpu.folder}"\ntoken_file = "${token}"\n` +
      `[permissions.web]\nextends = ":workspace"\n[permissions.web.network]\nenabled = true\ndomains = { "example.org" = "allow" }\n`,
  );
  writeFileSync(join(daemon.workspace, 'marker'), 'here\n');
}

before(async () => {
  stage = await Stage.start({
    prepare,
    reviewer: async (question) => {
      asked.push(question);
      return { decision };
    },
  });
  ({ daemon, agent, reviewer } = stage);
});
after(async () => {
  await stage?.end();
  for (const one of servers) one.kill('SIGKILL');
});

const on = async (environmentId, more = {}, client = agent) =>
  (await client.startThread({ environments: [{ environmentId, ...more }] })).thread;
const marker = async (thread) => (await agent.callTool(shell(thread, 'cat marker'))).output;

test('§7 the same command runs on the machine of its thread, in that thread\'s folder', limit, async () => {
  const threads = {
    here: (await agent.startThread({ cwd: daemon.workspace })).thread,
    build: await on('build'),
    gpu: await on('gpu', { cwd: gpu.folder }),
  };
  assert.deepEqual(threads.here.environments, [{ environmentId: 'local', cwd: daemon.workspace }]);
  assert.deepEqual(threads.build.environments, [{ environmentId: 'build', cwd: build.folder }]);
  assert.deepEqual([threads.gpu.environments[0].environmentId, threads.gpu.cwd], ['gpu', gpu.folder]);
  const said = await Promise.all(Object.values(threads).map(marker));
  assert.deepEqual(said, ['here\n', 'build\n', 'gpu\n']);
  const made = await agent.callTool(shell(threads.gpu, 'echo x > made && pwd'));
  assert.deepEqual([made.output, made.exitCode], [`${gpu.folder}\n`, 0]);
  assert.ok(existsSync(join(gpu.folder, 'made')));
  assert.equal((await reviewer.readThread(threads.gpu.id)).thread.environments[0].environmentId, 'gpu');
  // Confined there as here.
  assert.notEqual((await agent.callTool(shell(threads.build, `echo x > ${gpu.folder}/no`))).exitCode, 0);
  assert.ok(!existsSync(join(gpu.folder, 'no')));
  assert.equal(await marker(await on('local', { cwd: daemon.workspace })), 'here\n');
});

test('§7 §51 an approval for the session counts on its machine only', limit, async () => {
  const [one, two] = [await on('build'), await on('gpu')];
  decision = 'acceptForSession';
  const questions = async (thread) => {
    const begun = asked.length;
    assert.equal((await agent.callTool(shell(thread, dangerous))).status, 'completed');
    return asked.slice(begun).map((question) => question.environmentId);
  };
  assert.deepEqual(await questions(one), ['build']);
  assert.deepEqual(await questions(one), []);
  assert.deepEqual(await questions(two), ['gpu']);
  assert.deepEqual(await questions((await agent.startThread({ cwd: daemon.workspace })).thread), ['local']);
  decision = 'accept';
});

test('§7 §16a permissions are granted for the machine that they were asked for', limit, async () => {
  const outside = join(daemon.base, 'outside');
  mkdirSync(outside);
  const [one, two] = [await on('build'), await on('gpu')];
  const write = async (thread) => (await agent.callTool(shell(thread, `echo x > ${outside}/file`))).exitCode === 0;
  assert.equal(await write(one), false);
  const permissions = { file_system: { write: [outside] } };
  const given = await agent.callTool({ threadId: one.id, tool: 'request_permissions', arguments: { reason: 'r', permissions } });
  assert.equal(given.status, 'completed');
  assert.equal(asked.at(-1).environmentId, 'build');
  assert.equal(await write(one), true);
  assert.equal(await write(two), false);
});

test('§7 an unknown environment, two at once, and folders that are none of an agent are refused', limit, async () => {
  const raw = await RawClient.connect(daemon, 'agent');
  const refusal = async (params) => {
    const { error } = await raw.request('thread/start', params);
    assert.equal(error?.data.kind, 'invalidParams', JSON.stringify(params));
    return error.message;
  };
  const to = (environmentId, more = {}) => ({ environments: [{ environmentId, ...more }] });
  assert.match(await refusal(to('biuld')), /no environment `biuld`; known are `local`, `build`, `gpu`/);
  assert.match(await refusal({ environments: [...to('build').environments, ...to('gpu').environments] }), /names 2 machines/);
  assert.match(await refusal(to('build', { cwd: gpu.folder })), /outside/);
  assert.match(await refusal(to('build', { cwd: `${build.folder}/../gpu` })), /outside/);
  assert.match(await refusal({ ...to('build'), runtimeWorkspaceRoots: ['/'] }), /nothing else/);
  assert.match(await refusal({ ...to('build'), sandbox: 'danger-full-access' }), /wider/);
  assert.match(await refusal(to('local')), /`cwd`, is missing/);
  assert.match(await refusal({}), /`cwd`, is missing/);
  const below = await on('build', { cwd: 'below' });
  assert.deepEqual([below.cwd, below.runtimeWorkspaceRoots], [join(build.folder, 'below'), [build.folder]]);
  assert.equal(await marker(await on('build', { cwd: gpu.folder }, reviewer)), 'gpu\n'); // a reviewer may choose
  raw.close();
});

test('§7 a thread stays on its machine when its settings change', limit, async () => {
  const thread = await on('build');
  const raw = await RawClient.connect(daemon, 'reviewer');
  const { error } = await raw.request('thread/settings/update', {
    threadId: thread.id,
    environments: [{ environmentId: 'gpu' }],
  });
  assert.match(error.message, /environments/);
  const { thread: told } = await reviewer.updateSettings({ threadId: thread.id, sandbox: 'read-only' });
  assert.deepEqual(told.environments, [{ environmentId: 'build', cwd: build.folder }]);
  assert.equal(await marker(thread), 'build\n');
  assert.notEqual((await agent.callTool(shell(thread, 'touch no'))).exitCode, 0);
  raw.close();
});

test('§7 what cannot be had on another machine is refused by its name', limit, async () => {
  const thread = await on('build');
  const patch = '*** Begin Patch\n*** Add File: patched\n+x\n*** End Patch';
  const told = await agent.callTool({ threadId: thread.id, tool: 'apply_patch', arguments: { patch } });
  assert.equal(told.status, 'rejected');
  assert.match(told.message, /environment `build`/);
  assert.ok(!existsSync(join(build.folder, 'patched')) && !existsSync(join(daemon.workspace, 'patched')));
  await assert.rejects(
    reviewer.startThread({ environments: [{ environmentId: 'build' }], sandbox: 'web' }),
    /`build` has no managed network/,
  );
});

test('§7 §148 a terminal session lives on the machine of its thread', limit, async () => {
  const thread = await on('gpu');
  const run = (tool, args) => agent.callTool({ threadId: thread.id, tool, arguments: args });
  const first = await run('exec_command', { cmd: 'cat marker; read word; echo got $word; exit 4', tty: true, yield_time_ms: 500 });
  assert.equal(typeof first.sessionId, 'number', JSON.stringify(first));
  let text = first.output;
  let last = await run('write_stdin', { session_id: first.sessionId, chars: 'ping\n', yield_time_ms: 5000 });
  text += last.output;
  while (last.sessionId !== undefined) {
    last = await run('write_stdin', { session_id: first.sessionId, chars: '', yield_time_ms: 5000 });
    text += last.output;
  }
  assert.match(text, /^gpu\r?\n/);
  assert.match(text, /got ping/);
  assert.equal(last.exitCode, 4);
});

test('§D13 no command here sees the token of another machine', limit, async () => {
  const { thread } = await agent.startThread({ cwd: daemon.workspace });
  const token = join(daemon.base, 'gpu.token');
  const told = await agent.callTool(shell(thread, `cat ${token}`));
  assert.notEqual(told.exitCode, 0);
  assert.ok(!told.output.includes(readFileSync(token, 'utf8').trim()));
});

test('§D13 the token of a machine that was named meanwhile was readable in open threads', limit, async () => {
  const { thread } = await agent.startThread({ cwd: daemon.workspace });
  const token = join(daemon.base, 'later.token');
  writeFileSync(token, 'of-a-machine-named-later\n', { mode: 0o600 });
  const file = join(daemon.base, 'home/.gatehouse/config.toml');
  const before = readFileSync(file, 'utf8');
  writeFileSync(file, `${before}[environments.later]\nexec_server = "ws://127.0.0.1:9"\ncwd = "/"\ntoken_file = "${token}"\n`);
  const told = await agent.callTool(shell(thread, `cat ${token}`));
  writeFileSync(file, before);
  assert.notEqual(told.exitCode, 0);
  assert.doesNotMatch(told.output, /named-later/);
});

test('§7 new settings moved a thread to the machine that its name had come to mean', limit, async () => {
  const thread = await on('build');
  const file = join(daemon.base, 'home/.gatehouse/config.toml');
  const before = readFileSync(file, 'utf8');
  const other = await machine(daemon, 'other', '--no-auth');
  writeFileSync(file, before.replace(build.url, other.url));
  await assert.rejects(reviewer.updateSettings({ threadId: thread.id, sandbox: 'read-only' }), /another machine/);
  const told = await agent.callTool(shell(thread, 'cat marker'));
  assert.equal(told.status, 'failed');
  assert.match(told.message, /another machine/);
  writeFileSync(file, before);
  assert.equal(await marker(thread), 'build\n');
  await reviewer.updateSettings({ threadId: thread.id, sandbox: 'read-only' });
  assert.equal(await marker(thread), 'build\n');
});

test('§7 `serve --environment` is where threads work whose client names none', limit, async () => {
  const other = await Stage.start({
    prepare: (own) => own.configure(`[environments.there]\nexec_server = "${build.url}"\ncwd = "${build.folder}"\n`),
    args: ['--environment', 'there'],
  });
  const client = other.agent;
  const { thread } = await client.startThread({});
  assert.equal(thread.environments[0].environmentId, 'there');
  assert.equal((await client.callTool(shell(thread, 'cat marker'))).output, 'build\n');
  const { thread: below } = await client.startThread({ cwd: 'below' });
  assert.equal((await client.callTool(shell(below, 'pwd'))).output, `${build.folder}/below\n`);
  await other.end();
});
