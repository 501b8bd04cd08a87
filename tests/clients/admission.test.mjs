// §201 §D13 Who gets in (the table of admission).
import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { AgentClient, NotAdmittedError, unixSocketTransport, webSocketTransport } from '../../clients/typescript/dist/index.js';
import { clientInfo, Daemon, soon } from './daemon.mjs';
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

test('the client says that it was not admitted, and does not try again', limit, async () => {
  for (const transport of [webSocketTransport(daemon.url, { token: 'x'.repeat(43) }), unixSocketTransport(daemon.socket)])
    await assert.rejects(AgentClient.connect({ clientInfo, transport, reconnect: soon }), (error) => {
      assert.ok(error instanceof NotAdmittedError);
      assert.equal(error.status, 401);
      return true;
    });
});
