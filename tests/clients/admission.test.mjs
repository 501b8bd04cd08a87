// §201 §D13 Who gets in (the table of admission).
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, statSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { AgentClient, NotAdmittedError, unixSocketTransport, webSocketTransport } from '../../clients/typescript/dist/index.js';
import { clientInfo, Daemon, gatehouse, soon } from './daemon.mjs';
import { status } from './raw_client.mjs';

const limit = { timeout: 60_000 };
let daemon;
let port;
let bearer;

before(async () => {
  daemon = await Daemon.start('--allow-origin', 'vscode-webview://known');
  port = new URL(daemon.url).port;
  bearer = { Authorization: `Bearer ${daemon.token('agent')}` };
});
after(() => daemon?.end());

const foreign = ['http://evil.example', 'null', 'http://127.0.0.1', 'vscode-webview://other', 'vscode-webview://known.evil'];

/** How a program ends that should not begin to serve, and what it says. */
function ends(...args) {
  const { status: code, stderr } = spawnSync(gatehouse, args, { env: daemon.env, cwd: daemon.workspace, timeout: 20_000, encoding: 'utf8' });
  return { status: code, text: stderr };
}

/** The status of the answer to lines as they are. */
function statusOf(lines) {
  return new Promise((done) => {
    const socket = net.connect(Number(port), '127.0.0.1', () => socket.write(`${lines.join('\r\n')}\r\n\r\n`));
    socket.on('error', () => {}).once('data', (data) => {
      done(Number(/^HTTP\/1\.1 (\d+)/.exec(data.toString('latin1'))?.[1]));
      socket.destroy();
    });
  });
}

test('§201 the credential decides, and only as a header', limit, async () => {
  assert.equal(await status(daemon, { upgrade: true }), 401);
  assert.equal(await status(daemon, { upgrade: true, headers: bearer }), 101);
  assert.equal(await status(daemon, { upgrade: true, headers: { Authorization: bearer.Authorization.replace('Bearer', 'bEARER') } }), 101);
  assert.equal(await status(daemon, { upgrade: true, headers: { Authorization: `${bearer.Authorization}x` } }), 401);
  assert.equal(await status(daemon, { upgrade: true, headers: { Authorization: 'Basic YTpi' } }), 401);
  assert.equal(await status(daemon, { upgrade: true, headers: { Authorization: 'Bearer ' } }), 401);
  assert.equal(await status(daemon, { upgrade: true, path: `/?token=${daemon.token('agent')}` }), 401);
});

test('BR-194 §D13 no web page gets in, also with a token', limit, async () => {
  for (const Origin of [...foreign, `http://127.0.0.1:${port}`]) {
    assert.equal(await status(daemon, { upgrade: true, headers: { ...bearer, Origin } }), 403, Origin);
    assert.equal(await status(daemon, { path: '/readyz', headers: { Origin } }), 403, Origin);
  }
  assert.equal(await status(daemon, { upgrade: true, headers: { ...bearer, Origin: 'vscode-webview://known' } }), 101);
  const token = `gatehouse.token.${daemon.token('agent')}`;
  const page = { Origin: 'vscode-webview://known', 'Sec-WebSocket-Protocol': `gatehouse.v1, ${token}` };
  assert.equal(await status(daemon, { upgrade: true, headers: page }), 101);
  assert.equal(await status(daemon, { upgrade: true, headers: { ...page, Origin: 'http://evil.example' } }), 403);
});

test('§201 BR-194 the origin is refused before the token is looked at, and never twice or by its beginning', limit, async () => {
  for (const Origin of foreign) {
    assert.equal(await status(daemon, { upgrade: true, headers: { Origin } }), 403, `${Origin}, no token`);
    assert.equal(await status(daemon, { upgrade: true, headers: { Origin, Authorization: 'Bearer wrong' } }), 403, `${Origin}, wrong token`);
    assert.equal(await status(daemon, { path: '/healthz', headers: { Origin } }), 403, Origin);
  }
  const known = 'vscode-webview://known';
  for (const Origin of [`${known}/`, `${known}:80`, known.toUpperCase(), ` ${known}x`, [known, 'http://evil.example'], [known, known]])
    assert.equal(await status(daemon, { upgrade: true, headers: { ...bearer, Origin } }), 403, `${Origin}`);
  assert.equal(await status(daemon, { upgrade: true, headers: { Origin: known } }), 401, 'a known page needs a token like all');
});

test('§201 headers that stand twice, another version of WebSocket, a token in two places', limit, async () => {
  const { Authorization } = bearer;
  assert.equal(await status(daemon, { upgrade: true, headers: { Authorization: [Authorization, 'Bearer x'] } }), 401);
  const own = `127.0.0.1:${port}`;
  for (const lines of [[`Host: ${own}`, 'Host: evil.example'], ['Host: evil.example', `Host: ${own}`], []])
    assert.ok([400, 403].includes(await statusOf(['GET /readyz HTTP/1.1', ...lines])), `${lines}`);
  assert.equal(await statusOf(['GET /readyz HTTP/1.1', `Host: ${own}`]), 200);
  for (const version of ['8', '12', '14', ''])
    assert.ok((await status(daemon, { upgrade: true, headers: { ...bearer, 'Sec-WebSocket-Version': version } })) >= 400, version);
  // The header is the one that counts: a page cannot set it, so that nothing of a page can stand in for it.
  const other = `gatehouse.v1, gatehouse.token.${'x'.repeat(43)}`;
  assert.equal(await status(daemon, { upgrade: true, headers: { ...bearer, 'Sec-WebSocket-Protocol': other } }), 101);
  const right = `gatehouse.v1, gatehouse.token.${daemon.token('agent')}`;
  const wrong = { Authorization: 'Bearer wrong', 'Sec-WebSocket-Protocol': right };
  assert.equal(await status(daemon, { upgrade: true, headers: wrong }), 401);
});

test('§201 --ws-token-file and --ws-token-sha256: the agents’ token is one that is there, or known by its digest', limit, async (t) => {
  const token = 'a-token_of-the-clients-own-with-enough-of-it';
  const file = join(daemon.base, 'ws.token');
  writeFileSync(file, `${token}\n`, { mode: 0o600 });
  const digest = createHash('sha256').update(token).digest('hex');
  for (const args of [['--ws-token-file', file], ['--ws-token-sha256', digest], ['--ws-token-sha256', digest.toUpperCase()]]) {
    const one = await Daemon.start(...args);
    t.after(() => one.end());
    const enter = (Authorization) => status(one, { upgrade: true, headers: { Authorization } });
    assert.equal(await enter(`Bearer ${token}`), 101);
    assert.equal(await enter(`Bearer ${token}x`), 401);
    assert.equal(await enter(`Bearer ${digest}`), 401, 'the digest is no token');
    const agent = await AgentClient.connect({ clientInfo, transport: webSocketTransport(one.url, { token }), reconnect: soon });
    const { thread } = await agent.startThread({ cwd: one.workspace });
    const shown = await agent.callTool({ threadId: thread.id, callId: 'c', tool: 'shell_command', arguments: { command: `cat ${file}` } });
    if (args[0] === '--ws-token-file') assert.ok(!shown.output.includes(token), 'its file is hidden from commands');
    agent.close();
  }
  const open = join(daemon.base, 'open.token');
  writeFileSync(open, `${token}\n`, { mode: 0o644 });
  writeFileSync(join(daemon.base, 'short.token'), 'short\n', { mode: 0o600 });
  for (const [args, named] of [
    [['--ws-token-file', join(daemon.base, 'none')], /is not there/],
    [['--ws-token-file', open], /can be read by others/],
    [['--ws-token-file', join(daemon.base, 'short.token')], /32 characters/],
    [['--ws-token-sha256', digest.slice(1)], /64 hexadecimal digits/],
    [['--ws-token-sha256', `${digest.slice(1)}g`], /64 hexadecimal digits/],
    [['--ws-token-file', file, '--ws-token-sha256', digest], /exclude each other/],
    [['--ws-token-file', file, '--agent-token-file', file], /exclude each other/],
    [['--ws-token-file', join(daemon.env.XDG_STATE_HOME, 'gatehouse/tokens/reviewer.token')], /approve its own calls/],
  ]) {
    const { status: code, text } = ends('serve', '--listen', 'ws://127.0.0.1:0', ...args);
    assert.notEqual(code, 0, `${args}`);
    assert.match(text, named);
  }
});

test('§201 no address but loopback is listened on, and no origin is listed that every page could have', limit, () => {
  for (const at of ['ws://0.0.0.0:0', 'ws://[::]:0', 'ws://127.evil.example:0', 'ws://127.0.0.2:0', 'ws://localhost.:0', 'ws://192.0.2.1:0']) {
    const { status: code, text } = ends('serve', '--listen', at);
    assert.notEqual(code, 0, at);
    assert.match(text, /loopback/, at);
    assert.notEqual(ends('exec-server', '--listen', at).status, 0, at);
  }
  for (const origin of ['null', '*', 'https://*.example', 'ide.example', 'https://ide.example/', 'https://IDE.example'])
    assert.notEqual(ends('serve', '--listen', 'ws://127.0.0.1:0', '--allow-origin', origin).status, 0, origin);
});

test('§D13 a Host that merely resolves to this machine is refused', limit, async () => {
  for (const Host of ['evil.example', `evil.example:${port}`, `127.evil.example:${port}`, `127.0.0.1.evil.example:${port}`, '127.0.0.1', '127.0.0.1:1', `127.1:${port}`, `user@127.0.0.1:${port}`])
    assert.equal(await status(daemon, { upgrade: true, headers: { ...bearer, Host } }), 403, Host);
  assert.equal(await status(daemon, { upgrade: true, headers: { ...bearer, Host: `localhost:${port}` } }), 101);
  assert.equal(await status(daemon, { path: '/healthz', headers: { Host: 'evil.example' } }), 403);
});

test('other paths and methods', limit, async () => {
  assert.equal(await status(daemon, { path: '/readyz' }), 200);
  assert.equal(await status(daemon, { path: '/healthz' }), 200);
  assert.equal(await status(daemon, { headers: bearer }), 426);
  assert.equal(await status(daemon, { path: '/exec2', upgrade: true, headers: bearer }), 404);
  assert.equal(await status(daemon, { method: 'POST', headers: bearer }), 405);
  assert.equal(await status(daemon, { method: 'HEAD', headers: bearer }), 405); // a body would be an error here
  assert.equal(await status(daemon, { method: 'OPTIONS', headers: { Origin: 'http://evil.example' } }), 403);
});

test('§201 the Unix socket and the token files are this user’s alone', limit, async () => {
  assert.equal(statSync(daemon.socket).mode & 0o777, 0o600);
  const folder = join(daemon.env.XDG_STATE_HOME, 'gatehouse/tokens');
  assert.equal(statSync(folder).mode & 0o777, 0o700);
  for (const name of ['agent.token', 'reviewer.token']) assert.equal(statSync(join(folder, name)).mode & 0o777, 0o600);
  assert.notEqual(daemon.token('agent'), daemon.token('reviewer'));
  assert.ok(daemon.token('agent').length >= 43);
  assert.equal(await status(daemon, { socketPath: daemon.socket, upgrade: true, headers: bearer }), 101);
  assert.equal(await status(daemon, { socketPath: daemon.socket, upgrade: true }), 401);
});

test('§201 strangers who hold on to every place keep nobody with a credential out', limit, async () => {
  const held = [];
  for (let i = 0; i < 200; i += 1) {
    const socket = net.connect(Number(port), '127.0.0.1');
    socket.on('error', () => {}).resume();
    held.push(socket);
    if (i % 2) socket.write(`GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`);
  }
  await Promise.all(held.map((socket) => socket.connecting && new Promise((resolve) => socket.once('connect', resolve))));
  for (let i = 0; i < 5; i += 1) assert.equal(await status(daemon, { upgrade: true, headers: bearer }), 101);
  for (const socket of held) socket.destroy();
});

test('BR-195 another user of the machine gets in nowhere', { ...limit, skip: process.getuid() !== 0 && 'needs root' }, async () => {
  // Even where the folder and the socket let everybody through.
  chmodSync(daemon.base, 0o755);
  chmodSync(daemon.socket, 0o666);
  const knock = `
    const http = require('node:http');
    const upgrade = { Connection: 'Upgrade', Upgrade: 'websocket', 'Sec-WebSocket-Version': '13', 'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==' };
    const ask = (where, headers) => new Promise((done) => {
      const request = http.request({ ...where, headers }, (answer) => { answer.resume(); done(answer.statusCode); });
      request.on('upgrade', (answer, socket) => { socket.destroy(); done(answer.statusCode); });
      request.on('error', (error) => done(error.code));
      request.end();
    });
    const [socketPath, port, token] = process.argv.slice(1);
    const tcp = { host: '127.0.0.1', port };
    (async () => console.log(JSON.stringify([
      await ask({ socketPath }, upgrade),
      await ask({ socketPath }, { ...upgrade, Authorization: 'Bearer ' + token }),
      await ask(tcp, upgrade),
      await ask({ ...tcp, method: 'POST' }, { 'Content-Type': 'text/plain' }),
    ])))();`;
  const told = execFileSync(process.execPath, ['-e', knock, daemon.socket, port, daemon.token('agent')], {
    uid: 65534,
    gid: 65534,
    env: {},
    cwd: '/',
    encoding: 'utf8',
  });
  chmodSync(daemon.socket, 0o600);
  chmodSync(daemon.base, 0o700);
  assert.deepEqual(JSON.parse(told), [403, 403, 401, 405]);
});

test('BR-195 an upgrade behind an ordinary request on the same connection is judged like any other', limit, async () => {
  const { hostname } = new URL(daemon.url);
  const common = `Host: 127.0.0.1:${port}\r\n`;
  const upgrade = `GET / HTTP/1.1\r\n${common}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`;
  const got = await new Promise((done) => {
    let all = '';
    const socket = net.connect(Number(port), hostname, () => socket.write(`GET /readyz HTTP/1.1\r\n${common}\r\n${upgrade}`));
    socket.on('data', (data) => {
      all += data.toString('latin1');
      if (/HTTP\/1\.1 .*HTTP\/1\.1 /s.test(all)) socket.destroy();
    });
    socket.on('error', () => {}).on('close', () => done(all));
  });
  assert.match(got, /^HTTP\/1\.1 200 .*HTTP\/1\.1 401 /s);
});

test('the client says that it was not admitted, and does not try again', limit, async () => {
  for (const transport of [webSocketTransport(daemon.url, { token: 'x'.repeat(43) }), unixSocketTransport(daemon.socket)])
    await assert.rejects(AgentClient.connect({ clientInfo, transport, reconnect: soon }), (error) => {
      assert.ok(error instanceof NotAdmittedError);
      assert.equal(error.status, 401);
      return true;
    });
});
