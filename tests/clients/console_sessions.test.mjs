// The console's sessions in a real browser against the real daemon: watched, typed into, ended.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { chromium } from '../../console/node_modules/playwright-core/index.mjs';
import { gatehouse, Stage, until } from './daemon.mjs';

const limit = { timeout: 60_000 };
const axe = readFileSync(new URL('../../console/node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');
/** Where screenshots go; none without it. */
const pictures = process.env.GATEHOUSE_SCREENSHOTS;
let stage;
let daemon;
let agent;
let reviewer;
let browser;
let page;
let thread;
const problems = [];

before(async () => {
  if (pictures) mkdirSync(pictures, { recursive: true });
  stage = await Stage.start({ args: ['--console'], reviewer: true });
  ({ daemon, agent, reviewer } = stage);
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] });
  const context = await browser.newContext({ viewport: { width: 1100, height: 900 }, colorScheme: 'light' });
  page = await context.newPage();
  page.on('console', (message) => ['error', 'warning'].includes(message.type()) && problems.push(message.text()));
  page.on('pageerror', (error) => problems.push(String(error)));
  await until(() => /^console: (\S+)$/m.test(daemon.errors));
  await page.goto(/^console: (\S+)$/m.exec(daemon.errors)[1]);
  await page.getByText('connected', { exact: true }).waitFor();
  ({ thread } = await agent.startThread({ cwd: daemon.workspace }));
  await page.keyboard.press('3');
});
after(async () => {
  await browser?.close();
  await stage?.end();
});

const begin = async (cmd, more = {}) =>
  (await agent.callTool({ threadId: thread.id, tool: 'exec_command', arguments: { cmd, tty: true, yield_time_ms: 250, ...more } })).sessionId;
const screen = () => page.locator('.xterm-rows').innerText();
const shows = (text) => until(async () => (await screen()).replaceAll('\u00a0', ' ').includes(text));
const open = async (text) => {
  await page.locator('.sessions button', { hasText: text }).first().click();
  await page.locator('.xterm-rows').waitFor();
};
const picture = (name) => pictures && page.screenshot({ path: `${pictures}/${name}.png`, fullPage: true });
const output = async (sessionId) => (await agent.readTerminal({ threadId: thread.id, sessionId })).output;

const colourOf = (text) =>
  page.locator('.xterm-rows span', { hasText: text }).first().evaluate((one) => getComputedStyle(one).color);

async function accessible(name) {
  const session = await page.context().newCDPSession(page);
  const { frameTree } = await session.send('Page.getFrameTree');
  const { executionContextId } = await session.send('Page.createIsolatedWorld', { frameId: frameTree.frame.id, worldName: 'axe' });
  const run = async (expression) =>
    (await session.send('Runtime.evaluate', { expression, contextId: executionContextId, awaitPromise: true, returnByValue: true })).result.value;
  await run(axe);
  const found = JSON.parse(
    await run('axe.run(document).then(r => JSON.stringify(r.violations.map(v => [v.id, v.help, v.nodes.map(n => n.html).slice(0, 3)])))'),
  );
  assert.deepEqual(found, [], `${name}: axe`);
  await session.detach();
}

test('§125 a session of an agent appears, is watched and typed into from the page', limit, async () => {
  const id = await begin('printf "name? "; read name; printf "\\033[32mhello %s\\033[0m\\n" "$name"; cat');
  await open('read name');
  await shows('name?');
  await page.keyboard.type('visitor\n');
  await shows('hello visitor');
  await page.keyboard.type('second line ü\n');
  await until(async () => (await output(id)).includes('second line ü\r\nsecond line ü'));
  assert.notEqual(await colourOf('hello visitor'), await colourOf('second line'));
  await picture('session');
  await accessible('session');
  // Keys that answer approvals and change pages elsewhere are the session's own here.
  await page.keyboard.type('1y');
  await shows('1y');
  await page.keyboard.press('F6');
  assert.equal(await page.evaluate(() => document.activeElement?.textContent), 'Fit to this page');
  // For a screen reader the lines are there as text of their own.
  await page.getByLabel('For a screen reader').check();
  await page.locator('.xterm-accessibility-tree', { hasText: 'hello visitor' }).waitFor();
  await accessible('session, for a screen reader');
  await page.getByLabel('For a screen reader').uncheck();
});

test('§205 what a person types is recorded before it happens, and not word by word', limit, async () => {
  const id = await begin('stty -echo; read secret; echo "got ${#secret}"; sleep 600');
  await open('stty -echo');
  await until(async () => (await agent.listTerminals(thread.id)).some((one) => one.sessionId === id));
  await page.locator('.xterm-helper-textarea').focus();
  await page.keyboard.type('hunter2\n');
  await shows('got 7');
  const audit = execFileSync(gatehouse, ['audit', 'list', '--json', '--limit', '200'], { env: daemon.env, encoding: 'utf8' });
  const typed = audit.split('\n').filter((line) => line.includes('terminal_input'));
  assert.ok(typed.length > 0, audit);
  assert.equal(typed.every((line) => JSON.parse(line).body.by === 'user'), true);
  assert.ok(!typed.join('').includes('hunter2'));
});

test('nothing that a session prints becomes markup, a title, a link, or input that nobody typed', limit, async () => {
  const title = await page.title();
  const hostile = [
    '<img src=x onerror=alert(1)><b>bold?</b>\\n', // markup
    '\\033]0;owned\\007\\033]2;owned\\007', // title
    '\\033]8;;https://evil.example/\\033\\\\click\\033]8;;\\033\\\\\\n', // link
    '\\033]52;c;b3duZWQ=\\007', // clipboard
    '\\033]10;?\\007\\033[c\\033[>c\\033[6n\\033[?6n\\033[5n\\033[?1$p\\033P$qm\\033\\\\\\033[18t', // questions
    '\\033[?1000h\\033[?1003h\\033[?1004h', // reports of mouse and focus
  ].join('');
  const id = await begin(`printf '${hostile}'; echo END; stty -icanon -echo; cat -v`);
  await open('cat -v');
  await shows('END');
  await page.locator('.terminal-frame').click();
  await page.mouse.move(300, 500);
  await page.keyboard.press('F6');
  await page.locator('.xterm-helper-textarea').focus();
  await page.keyboard.type('typed');
  await shows('typed');
  const said = (await output(id)).split('END\r\n')[1];
  assert.equal(said, 'typed', 'the terminal answered what nobody typed');
  assert.equal(await page.title(), title);
  assert.equal(await page.locator('.terminal-frame img, .terminal-frame b, .terminal-frame a').count(), 0);
  assert.match((await screen()).replaceAll('\u00a0', ' '), /<img src=x onerror=alert\(1\)><b>bold\?<\/b>/);
});

test('much output, and output that is no longer kept, leave the end of it on the screen', limit, async () => {
  await begin('for i in $(seq 1 60000); do echo "line $i of many, with some more words to make it long"; done; echo THE END; sleep 600');
  await open('seq 1 60000');
  await shows('THE END');
});

test('colours of every kind are drawn under the strict policy', limit, async () => {
  await begin("printf '\\033[38;2;10;120;200mtrue\\033[0m \\033[38;5;201mindexed\\033[0m \\033[1;31mbold\\033[0m\\n'; sleep 600");
  await open('38;2;10');
  await shows('true indexed bold');
  assert.notEqual(await colourOf('true'), await page.evaluate(() => getComputedStyle(document.body).color));
});

test('a session is fitted to the page, interrupted, and ended', limit, async () => {
  await begin("trap 'stty size' WINCH; trap 'echo interrupted' INT; echo up; while :; do sleep 0.05; done");
  await open('stty size');
  await shows('up');
  await page.getByRole('button', { name: 'Fit to this page' }).click();
  await until(async () => /^\d+ \d+/m.test(await screen().then((text) => text.replaceAll('\u00a0', ' '))));
  await page.getByRole('button', { name: 'Interrupt (Ctrl-C)' }).click();
  await shows('interrupted');
  await page.getByRole('button', { name: 'End it' }).click();
  await page.getByText('This session is over').waitFor();
});

test('dark, and on a phone', limit, async () => {
  await begin('printf "\\033[1mls\\033[0m\\nREADME.md  src  tests\\n\\033[31merror:\\033[0m none\\n$ "; cat');
  await open('README.md');
  await shows('README.md');
  await page.emulateMedia({ colorScheme: 'dark' });
  await picture('session-dark');
  await accessible('session, dark');
  await page.setViewportSize({ width: 375, height: 720 });
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true);
  await picture('session-phone');
  await page.setViewportSize({ width: 1100, height: 900 });
  await page.emulateMedia({ colorScheme: 'light' });
});

test('an agent cannot type as a person, and a session without a terminal says that it cannot be typed into', limit, async () => {
  const id = await begin('sleep 601', { tty: false });
  const typing = { threadId: thread.id, sessionId: id, text: 'x\n' };
  await assert.rejects(agent.session.request('thread/backgroundTerminals/write', typing), /needs the credential of a reviewer/);
  await assert.rejects(reviewer.writeTerminal(typing), /no terminal/);
  await assert.rejects(reviewer.writeTerminal({ ...typing, sessionId: 999_999 }), /no terminal session/);
  await assert.rejects(reviewer.writeTerminal({ ...typing, text: '' }), /1 to 65536/);
  await open('sleep 601');
  await page.getByText('it cannot be typed into').waitFor();
});

test('the page ran under its own policy without a complaint', () => {
  assert.deepEqual(problems, []);
});
