// BR-194 §D13 A page in a real browser: of another origin, of a name that was made to resolve to this machine, also with a
// token: it gets in nowhere and reads nothing.
import assert from 'node:assert/strict';
import http from 'node:http';
import { after, before, test } from 'node:test';
import { chromium } from '../../console/node_modules/playwright-core/index.mjs';
import { AgentClient } from '../../clients/typescript/dist/index.js';
import { clientInfo, Daemon, shell, soon } from './daemon.mjs';

const limit = { timeout: 120_000 };
let daemon;
let browser;
let elsewhere; // a page's own server

before(async () => {
  daemon = await Daemon.start('--console');
  elsewhere = http.createServer((_, answer) => answer.setHeader('Content-Type', 'text/html').end('<title>a page</title>'));
  await new Promise((resolve) => elsewhere.listen(0, '127.0.0.1', resolve));
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--host-resolver-rules=MAP evil.example 127.0.0.1'],
  });
});
after(async () => {
  await browser?.close();
  elsewhere?.close();
  await daemon?.end();
});

/** What a page at `url` gets when it tries everything that a page can try. */
async function attempts(url) {
  const context = await browser.newContext();
  const page = await context.newPage();
  const shown = await page.goto(url);
  const port = new URL(daemon.url).port;
  const tokens = [daemon.token('agent'), daemon.token('reviewer')];
  const told = await page.evaluate(
    async ({ port, tokens }) => {
      const opened = (address, protocols) =>
        new Promise((resolve) => {
          const socket = new WebSocket(address, protocols);
          socket.onopen = () => resolve(true);
          socket.onclose = () => resolve(false);
        });
      const read = async (address, options) => {
        try {
          const answer = await fetch(address, options);
          return answer.ok ? await answer.text() : answer.status;
        } catch {
          return 'nothing';
        }
      };
      const sockets = [];
      const texts = [];
      for (const host of ['127.0.0.1', 'localhost', 'evil.example']) {
        sockets.push(await opened(`ws://${host}:${port}/`, []));
        for (const token of tokens) sockets.push(await opened(`ws://${host}:${port}/`, ['gatehouse.v1', `gatehouse.token.${token}`]));
        texts.push(await read(`http://${host}:${port}/readyz`));
        texts.push(await read(`http://${host}:${port}/`, { method: 'POST', body: '{"id":1,"method":"initialize"}' }));
        texts.push(await read(`http://${host}:${port}/`, { headers: { Authorization: `Bearer ${tokens[0]}` } }));
      }
      return { sockets, texts };
    },
    { port, tokens },
  );
  await context.close();
  return { status: shown.status(), ...told };
}

async function untouched() {
  const agent = await AgentClient.connect({ clientInfo, transport: daemon.unix('agent'), reconnect: soon });
  const { thread } = await agent.startThread({ cwd: daemon.workspace });
  assert.equal((await agent.callTool(shell(thread, 'echo fine'))).output, 'fine\n');
  agent.close();
}

test('BR-194 §D13 a page of another origin opens no socket and reads no answer', limit, async () => {
  const told = await attempts(`http://127.0.0.1:${elsewhere.address().port}/`);
  assert.equal(told.status, 200);
  assert.ok(told.sockets.length === 9 && told.sockets.every((one) => one === false), JSON.stringify(told));
  assert.ok(told.texts.every((one) => one === 'nothing' || one === 403), JSON.stringify(told));
  await untouched();
});

test('BR-194 §D13 a page whose name was made to resolve to this server is not even shown', limit, async () => {
  const told = await attempts(`http://evil.example:${new URL(daemon.url).port}/`);
  assert.equal(told.status, 403);
  assert.ok(told.sockets.every((one) => one === false), JSON.stringify(told));
  assert.ok(told.texts.every((one) => one === 'nothing' || one === 403), JSON.stringify(told));
  await untouched();
});
