// The console in a real browser against the real daemon.
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import http from 'node:http';
import { after, before, test } from 'node:test';
import { chromium } from '../../console/node_modules/playwright-core/index.mjs';
import { dangerous, shell, Stage, until } from './daemon.mjs';
import { status } from './raw_client.mjs';

const limit = { timeout: 90_000 };
const axe = readFileSync(new URL('../../console/node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');
/** Where screenshots go; none without it. */
const pictures = process.env.GATEHOUSE_SCREENSHOTS;
let stage;
let daemon;
let agent;
let browser;
let context;
let page;
let thread;
const problems = []; // what the page complained about

const linkOf = (one) => /^console: (\S+)$/m.exec(one.errors)?.[1];

before(async () => {
  if (pictures) mkdirSync(pictures, { recursive: true });
  stage = await Stage.start({ args: ['--console'] });
  ({ daemon, agent } = stage);
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] });
  context = await browser.newContext({ viewport: { width: 1100, height: 800 }, colorScheme: 'light' });
  page = await context.newPage();
  page.on('console', (message) => ['error', 'warning'].includes(message.type()) && problems.push(message.text()));
  page.on('pageerror', (error) => problems.push(String(error)));
  await until(() => linkOf(daemon));
  await page.goto(linkOf(daemon));
  await page.getByText('connected', { exact: true }).waitFor();
  ({ thread } = await agent.startThread({ cwd: daemon.workspace }));
});
after(async () => {
  await browser?.close();
  await stage?.end();
});

const card = () => page.locator('.approval.selected');
const picture = (name) => pictures && page.screenshot({ path: `${pictures}/${name}.png`, fullPage: true });
const show = async (name) => page.getByRole('navigation').getByRole('button', { name }).click();

async function accessible(name) {
  // The policy of the page lets no script in; the test's world is apart.
  const session = await context.newCDPSession(page);
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

test('the key leaves the address, and the link opens nothing for a second browser', limit, async () => {
  assert.equal(new URL(page.url()).hash, '');
  const [cookie] = await context.cookies();
  assert.deepEqual([cookie.httpOnly, cookie.sameSite, cookie.path.startsWith('/console/')], [true, 'Strict', true]);
  const other = await browser.newContext();
  const second = await other.newPage();
  await second.goto(linkOf(daemon));
  await second.getByText('used already').waitFor();
  await other.close();
});

test('§201 an approval appears within a second of the call, is answered by key, and the call goes on', limit, async (context) => {
  const call = agent.callTool(shell(thread, dangerous));
  const start = Date.now();
  await card().waitFor();
  const took = Date.now() - start;
  // Measured and told, not asserted: the machine may be busy. The test's own limit guards against a hang.
  context.diagnostic(`the approval appeared after ${took} ms`);
  await card().getByText('rm -rf no-such-thing', { exact: true }).first().waitFor();
  await card().locator('.segment .badge.prompt').waitFor();
  // The rule means what the terminal says it means: no wider in words than in fact.
  await card().getByText('but inside the sandbox, exactly: rm -rf no-such-thing').waitFor();
  assert.match(await page.locator('[role=status].visually-hidden').textContent(), /Approval needed: rm -rf/);
  assert.equal(await page.title(), '(1) Gatehouse');
  await card().getByRole('button', { name: 'Yes, once' }).isEnabled();
  await page.waitForFunction(() => !document.querySelector('.approval.selected button').disabled);
  await picture('approval');
  await accessible('approvals');
  await page.keyboard.press('y');
  assert.deepEqual([(await call).status, (await call).exitCode], ['completed', 0]);
  await card().waitFor({ state: 'detached' });
});

test('a key that is pressed the moment a question comes is no answer to it', limit, async () => {
  const call = agent.callTool(shell(thread, dangerous));
  await card().waitFor();
  await page.keyboard.press('y');
  await page.keyboard.press('y');
  assert.equal(await page.locator('.approval').count(), 1);
  await page.waitForFunction(() => !document.querySelector('.approval.selected button').disabled);
  await page.keyboard.press('n');
  assert.equal((await call).status, 'declined');
});

test('of two questions the older one is at the front; j chooses the other; a reason goes to the agent', limit, async () => {
  const first = agent.callTool(shell(thread, dangerous));
  await card().waitFor();
  const second = agent.callTool(shell(thread, ['rm', '-rf', 'no-such-other']));
  await page.waitForFunction(() => document.querySelectorAll('.approval').length === 2);
  assert.match(await card().textContent(), /no-such-thing/);
  await page.keyboard.press('j');
  assert.match(await card().textContent(), /no-such-other/);
  await card().getByLabel('Reason').fill('not yours');
  await page.waitForFunction(() => !document.querySelector('.approval.selected button').disabled);
  await picture('two-approvals');
  await card().getByRole('button', { name: 'No', exact: true }).click();
  assert.match((await second).message, /not yours/);
  await page.waitForFunction(() => document.querySelectorAll('.approval').length === 1);
  await page.waitForFunction(() => !document.querySelector('.approval.selected button').disabled);
  await page.keyboard.press('s');
  assert.equal((await first).status, 'completed');
});

test('nothing that an agent writes becomes markup, and what would not show is shown by name', limit, async () => {
  const evil = '<img src=x onerror="document.title=1"><script>document.title=2</script>\u202etxt\u001b[2J';
  const call = agent.callTool({
    threadId: thread.id,
    tool: 'shell_command',
    arguments: { argv: ['rm', '-rf', evil], justification: evil },
  });
  await card().waitFor();
  assert.equal(await card().locator('img, script').count(), 0);
  const text = await card().locator('h2').textContent();
  assert.match(text, /<img src=x/);
  assert.match(text, /\\u202e/);
  assert.match(text, /\\x1b/);
  await page.waitForFunction(() => !document.querySelector('.approval.selected button').disabled);
  await picture('hostile-text');
  await page.keyboard.press('n');
  assert.equal((await call).status, 'declined');
  await page.waitForFunction(() => document.title === 'Gatehouse');
});

test('§201 a patch is shown as a diff, with nothing of it as markup', limit, async () => {
  const patch = '*** Begin Patch\n*** Add File: /opt/gatehouse-no-such.txt\n+<b>new</b>\n*** End Patch\n';
  const call = agent.callTool(shell(thread, ['apply_patch', patch]));
  await card().waitFor();
  const diff = card().locator('.diff');
  await diff.waitFor();
  assert.match(await card().locator('h2').innerText(), /^Patch: Add File: .*gatehouse-no-such\.txt/);
  assert.equal(await diff.locator('.added').count(), 1);
  assert.equal(await diff.locator('b').count(), 0);
  await accessible('patch');
  await page.getByText('the same, and writing /opt', { exact: true }).waitFor();
  await picture('approval-patch');
  await page.waitForFunction(() => !document.querySelector('.approval.selected button').disabled);
  await page.keyboard.press('n');
  assert.equal((await call).status, 'declined');
});

test('§133a the card of a call that asks to leave the sandbox said that nothing asks about it', limit, async () => {
  const call = agent.callTool({
    threadId: thread.id,
    tool: 'shell_command',
    arguments: { argv: ['ls', 'no-such'], sandbox_permissions: 'require_escalated', justification: 'test' },
  });
  await card().waitFor();
  await card().getByText(/requirement: needs an approval/).waitFor({ state: 'attached' });
  await page.waitForFunction(() => !document.querySelector('.approval.selected button').disabled);
  await page.keyboard.press('n');
  assert.equal((await call).status, 'declined');
});

test('a question that is answered elsewhere leaves the page', limit, async () => {
  const call = agent.callTool(shell(thread, ['rm', '-rf', 'no-such-third']));
  await card().waitFor();
  await agent.interruptTurn({ threadId: thread.id });
  assert.equal((await call).status, 'interrupted');
  await card().waitFor({ state: 'detached' });
  await agent.startTurn({ threadId: thread.id });
});

test('the activity shows calls with output and decision, denials and answers, and filters them', limit, async () => {
  await agent.callTool(shell(thread, 'echo hello from inside; touch /etc/gatehouse-test'));
  await page.keyboard.press('2');
  const row = page.locator('.event', { hasText: 'hello from inside' }).last();
  await row.waitFor();
  await row.locator('summary').first().click();
  await row.locator('.output', { hasText: 'hello from inside' }).waitFor();
  await picture('activity');
  await accessible('activity');
  const answers = page.locator('.event:visible', { hasText: 'answered by' });
  assert.ok((await answers.count()) > 0);
  await page.getByLabel('Answers').uncheck();
  assert.equal(await answers.count(), 0);
  await page.getByLabel('Answers').check();
  await page.getByLabel('Only events with this text').fill('hello from');
  assert.equal(await page.locator('.event:visible').count(), 1);
  await page.getByLabel('Only events with this text').fill('');
});

test('§133a explain shows the whole decision, and nothing runs', limit, async () => {
  await show('Explain');
  await page.getByLabel('Command').fill('git status && rm -rf build');
  await page.keyboard.press('Enter');
  await page.locator('section:visible .verdict', { hasText: 'needs an approval' }).waitFor();
  assert.equal(await page.locator('section:visible .segment').count(), 2);
  await picture('explain');
  await accessible('explain');
});

test('profiles are drawn as what they open and close', limit, async () => {
  await show('Profiles');
  const card = page.locator('article', { has: page.getByRole('heading', { name: 'workspace-write' }) });
  await card.waitFor();
  const rows = async (list) => (await list.locator(':scope > li').allInnerTexts()).map((text) => text.split('\n')[0]);
  // A tree: what is opened in the root stands below it.
  assert.match((await rows(card.locator('ul.tree')))[0], /^may read\s*\/$/);
  const below = await card.locator('ul.tree > li > ul > li').allInnerTexts();
  assert.ok(below.some((text) => /may change\s*the workspace/.test(text)) && below.some((text) => /may change\s*tmp/.test(text)), below.join('|'));
  await picture('profiles');
  await accessible('profiles');
});

test('grants are listed and can be taken back', limit, async () => {
  await show('Grants');
  const take = page.getByRole('button', { name: /Take back .*no-such-thing/ });
  await take.waitFor();
  await picture('grants');
  await accessible('grants');
  await take.click();
  await take.waitFor({ state: 'detached' });
  await show('Approvals');
});

test('dark, and on a phone', limit, async () => {
  const call = agent.callTool(shell(thread, ['rm', '-rf', 'no-such-fourth']));
  await card().waitFor();
  await page.waitForFunction(() => !document.querySelector('.approval.selected button').disabled);
  await page.emulateMedia({ colorScheme: 'dark' });
  await picture('approval-dark');
  await accessible('dark');
  await page.setViewportSize({ width: 375, height: 720 });
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true);
  await picture('approval-phone');
  await card().getByRole('button', { name: 'No', exact: true }).click();
  assert.equal((await call).status, 'declined');
  await show('Activity');
  await picture('activity-phone');
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true);
  await show('Approvals');
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize({ width: 1100, height: 800 });
});

test('§D13 a page of another port gets nothing: no socket, no script, no frame, no cookie', limit, async () => {
  const seen = [];
  const other = http.createServer((request, response) => {
    seen.push(request.headers.cookie ?? '');
    response.setHeader('content-type', 'text/html');
    response.end('<p>evil');
  });
  await new Promise((resolve) => other.listen(0, '127.0.0.1', resolve));
  const evil = await context.newPage();
  await evil.goto(`http://127.0.0.1:${other.address().port}/`);
  const home = page.url();
  const tried = await evil.evaluate(async (console_) => {
    const socket = (address) =>
      new Promise((resolve) => {
        const one = new WebSocket(address, ['gatehouse.v1']);
        one.onopen = () => resolve('open');
        one.onerror = () => resolve('refused');
      });
    const at = new URL(console_);
    return {
      own: await socket(`ws://${at.host}${at.pathname}socket`),
      root: await socket(`ws://${at.host}/`),
      fetched: await fetch(console_, { credentials: 'include' }).then(() => 'read', () => 'refused'),
      entered: await fetch(`${console_}enter`, { method: 'POST', mode: 'no-cors', credentials: 'include', body: 'x' }).then((r) => r.type, () => 'refused'),
    };
  }, home);
  assert.deepEqual(tried, { own: 'refused', root: 'refused', fetched: 'refused', entered: 'refused' });
  assert.deepEqual(seen.filter((cookie) => cookie.includes('gatehouse')), []);
  assert.equal(await status(daemon, { path: new URL(home).pathname, headers: { Origin: 'http://evil.example' } }), 403);
  await evil.close();
  other.close();
});

test('§201 a connection that is cut comes back by itself, and the question that stood is answered', limit, async () => {
  const home = page.url();
  const cut = await context.newPage();
  const ways = [];
  await cut.routeWebSocket(/socket$/, (way) => {
    way.connectToServer();
    ways.push(way);
  });
  await cut.goto(home);
  await cut.getByText('connected', { exact: true }).waitFor();
  const call = agent.callTool(shell(thread, ['rm', '-rf', 'no-such-fifth']));
  const question = cut.locator('.approval.selected', { hasText: 'no-such-fifth' });
  await question.waitFor();
  await ways[0].close({ code: 1001, reason: 'cut' });
  await until(() => ways.length === 2);
  await cut.getByText('connected', { exact: true }).waitFor();
  await question.waitFor();
  assert.equal(await cut.locator('.approval').count(), 1);
  await cut.waitForFunction(() => !document.querySelector('.approval.selected button').disabled);
  await cut.keyboard.press('y');
  assert.equal((await call).status, 'completed');
  await question.waitFor({ state: 'detached' });
  await cut.close();
});

test('the page survives a restart of the daemon, and says what is gone', limit, async () => {
  assert.equal(await daemon.stop(), 0);
  await page.getByText(/not connected/).waitFor();
  await daemon.run('--console');
  await page.getByText('connected', { exact: true }).waitFor();
  ({ thread } = await agent.startThread({ cwd: daemon.workspace }));
  const call = agent.callTool(shell(thread, dangerous));
  await card().waitFor();
  await page.waitForFunction(() => !document.querySelector('.approval.selected button').disabled);
  await page.keyboard.press('y');
  assert.equal((await call).status, 'completed');
});

test('the page ran under its own policy without a complaint', () => {
  const expected = /ERR_CONNECTION_REFUSED|WebSocket connection to/;
  assert.deepEqual(problems.filter((text) => !expected.test(text)), []);
});
