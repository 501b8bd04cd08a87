// §201 The VS Code extension against the real daemon: only the editor's own API is played.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { promisify } from 'node:util';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { ReviewerClient } from '../../clients/typescript/dist/index.js';
import { clientInfo, Daemon, dangerous, gatehouse, shell, soon, Stage, until } from './daemon.mjs';
import { FakeEditor } from './fake_vscode.mjs';

const limit = { timeout: 60_000 };
const folder = new URL('../../clients/vscode/', import.meta.url);
const file = fileURLToPath(new URL('dist/extension.cjs', folder));
let stage;
let daemon;
let agent;

before(async () => {
  stage = await Stage.start();
  ({ daemon, agent } = stage);
});
after(() => stage?.end());

const attached = () => ({ mode: 'attach', address: daemon.url, tokens: `${daemon.env.XDG_STATE_HOME}/gatehouse/tokens` });

async function withExtension(settings, body, where = daemon.workspace) {
  const editor = new FakeEditor(where, settings);
  const context = { subscriptions: [] };
  const api = await editor.load(file).activate(context);
  try {
    await body(editor, api);
  } finally {
    for (const one of context.subscriptions) one.dispose();
  }
}

async function ask(command = dangerous) {
  const { thread } = await agent.startThread({ cwd: daemon.workspace });
  return { thread, call: agent.callTool(shell(thread, command)) };
}

test('§201 a question is a prompt with the command, folder, reason and what a yes allows; the button answers it', limit, () =>
  withExtension(attached(), async (editor) => {
    const { call } = await ask();
    await until(() => editor.prompts.length === 1);
    const [prompt] = editor.prompts;
    assert.match(prompt.message, /rm -rf no-such-thing/);
    assert.match(prompt.detail, new RegExp(`Folder: ${daemon.workspace}`));
    assert.match(prompt.detail, /Why: .+\n\nA yes allows: .+/s);
    assert.ok(prompt.choices.includes('Yes, once') && prompt.choices.includes('No'));
    assert.match(editor.status.text, /1 question/);
    prompt.answer('Yes, once');
    assert.equal((await call).status, 'completed');
    await until(() => !/question/.test(editor.status.text));
  }));

test('§201 a prompt that is closed answers nothing: the question waits and is shown again', limit, () =>
  withExtension(attached(), async (editor) => {
    const { call } = await ask();
    await until(() => editor.prompts.length === 1);
    editor.prompts[0].answer(undefined);
    await until(() => editor.status.command === 'gatehouse.review');
    void editor.commands.get('gatehouse.review')();
    await until(() => editor.prompts.length === 2);
    editor.prompts[1].answer('No');
    assert.equal((await call).status, 'declined');
  }));

test('§50 an answer to a question that was answered elsewhere changes nothing, and says so', limit, () =>
  withExtension(attached(), async (editor) => {
    const other = await ReviewerClient.connect({ clientInfo, transport: daemon.tcp('reviewer'), reconnect: soon });
    const { call } = await ask();
    await until(() => editor.prompts.length === 1);
    const [question] = await other.listApprovals();
    await other.resolveApproval(question, 'decline');
    assert.equal((await call).status, 'declined');
    await until(() => !/question/.test(editor.status.text));
    editor.prompts[0].answer('Yes, once');
    await until(() => editor.messages.some((text) => text.includes('answered elsewhere')));
    other.close();
  }));

test('§201 a patch is shown as a diff before it is answered', limit, () =>
  withExtension(attached(), async (editor) => {
    const patch = '*** Begin Patch\n*** Add File: /opt/gatehouse-no-such/new.txt\n+hello\n*** End Patch\n';
    const { call } = await ask(['apply_patch', patch]);
    await until(() => editor.prompts.length === 1);
    assert.match(editor.prompts[0].message, /a patch: Add File: .*new\.txt/);
    editor.prompts[0].answer('Show the patch');
    await until(() => editor.documents.length === 1);
    assert.deepEqual(editor.documents[0], { language: 'diff', content: patch });
    void editor.commands.get('gatehouse.review')();
    await until(() => editor.prompts.length === 2);
    editor.prompts[1].answer('No');
    assert.equal((await call).status, 'declined');
  }));

test('§201 a session is a terminal: command, output, decision and boundary; nothing in it can drive the terminal', limit, () =>
  withExtension(attached(), async (editor) => {
    const { call } = await ask("printf 'one\\n\\033]0;title\\007\\033[2Jtwo\\033[31mred\\n'; exit 3");
    await call;
    await until(() => editor.terminals.some(({ text }) => text.includes('exit 3')));
    const { text } = editor.terminals.find(({ text }) => text.includes('exit 3'));
    assert.match(text, /\$ .*printf/);
    assert.match(text, /sandbox linux/);
    assert.ok(text.includes('one\r\n'));
    assert.ok(!text.includes('\x1b]0') && !text.includes('\x1b[2J'), JSON.stringify(text));
    assert.ok(text.includes('\x1b[31mred'));
  }));

const session = (thread, cmd) =>
  agent.callTool({ threadId: thread.id, tool: 'exec_command', arguments: { cmd, tty: true, yield_time_ms: 250 } });
const liveOf = (editor, id) => editor.terminals.find(({ name }) => name === `Gatehouse session ${id}`);

test('§125 a terminal session is a terminal that is typed into, of the size of its panel', limit, () =>
  withExtension(attached(), async (editor) => {
    const { thread } = await agent.startThread({ cwd: daemon.workspace });
    // The trap comes after `read`, which a signal with a trap ends: the panel's own size comes at any moment.
    const { sessionId } = await session(thread, "printf 'name? '; read name; trap 'stty size' WINCH; echo hello $name; while :; do sleep 0.05; done");
    await until(() => liveOf(editor, sessionId)?.text.includes('name?'));
    const live = liveOf(editor, sessionId);
    assert.match(live.text, /in the sandbox/);
    live.pty.handleInput('vis');
    live.pty.handleInput('itor ü\r');
    await until(() => live.text.includes('hello visitor ü'));
    live.pty.setDimensions({ rows: 50, columns: 132 });
    await until(() => live.text.includes('50 132'));
    live.pty.setDimensions({ rows: 0, columns: 132 });
    live.pty.setDimensions({ rows: 5000, columns: 2 });
    await until(() => live.text.includes('1000 2'));
    // The thread's own terminal tells of the command, and does not repeat what the session says.
    assert.ok(editor.terminals.some(({ text }) => text.includes('$ ') && text.includes('read name') && !text.includes('hello visitor')));
    live.pty.close();
    void editor.commands.get('gatehouse.showSessions')();
    await until(() => editor.terminals.filter(({ name }) => name === live.name).at(-1).text.includes('hello visitor'));
    await agent.endTerminal({ threadId: thread.id, sessionId });
    await until(() => editor.terminals.filter(({ name }) => name === live.name).at(-1).text.includes('This session is over'));
    const audit = await promisify(execFile)(gatehouse, ['audit', 'list', '--json', '--limit', '200'], { env: daemon.env });
    assert.match(audit.stdout, /terminal_input/);
    assert.doesNotMatch(audit.stdout, /"visitor/);
  }));

test('§125 what a session prints reaches the screen and nothing else', limit, () =>
  withExtension(attached(), async (editor) => {
    const hostile = '\\033]0;owned\\007\\033]8;;https://evil.example/\\033\\\\link\\033]8;;\\033\\\\\\033]52;c;b3duZWQ=\\007\\033[c\\033[>c\\033[6n\\033[?1$p\\033P$qm\\033\\\\\\033[18t\\033[?1000;25h\\033[2J\\033[3;4Hhere\\033[31mred';
    const { thread } = await agent.startThread({ cwd: daemon.workspace });
    const { sessionId } = await session(thread, `for c in $(seq 1 2); do printf '${hostile}'; done; echo EN''D; sleep 600`);
    await until(() => liveOf(editor, sessionId)?.text.includes('END'));
    const { text } = liveOf(editor, sessionId);
    const said = text.slice(text.indexOf('\x1b[?25h'), text.lastIndexOf('END'));
    const once = '\x1b[?25h\x1b[2J\x1b[3;4Hhere\x1b[31mred';
    assert.equal(said, `${once}link${once}`, JSON.stringify(text));
    await agent.endTerminal({ threadId: thread.id, sessionId });
  }));

test('§125 a sequence that comes in pieces is the same sequence, and one that never ends swallows no screen for ever', () => {
  const { ScreenFilter } = new FakeEditor('/', {}).load(file);
  const whole = 'a\x1b]0;t\x07b\x1b[1;31mc\x1b[?1000;1049hd\x1b[6ne\x1b(0f\x1bPx\x1b\\g\x9b6nh\x1b[!pi\x1b[2 qj\x1b#8k\x1b[>0ql\x1b[\x1b[Km\x05\0\x7fü';
  const wanted = 'ab\x1b[1;31mc\x1b[?1049hde\x1b(0fg6nh\x1b[!pi\x1b[2 qj\x1b#8kl\x1b[Kmü';
  assert.equal(new ScreenFilter().pass(whole), wanted);
  const cut = new ScreenFilter();
  assert.equal([...whole].map((c) => cut.pass(c)).join(''), wanted);
  assert.equal(new ScreenFilter().pass(`\x1b[${'1;'.repeat(1000)}mtext`).slice(-4), 'text');
  assert.equal(new ScreenFilter().pass('\x1b]0;no end\x18text'), 'text');
});

test('§125 a number of lines that no screen has kept the editor busy for hours', () => {
  const { ScreenFilter } = new FakeEditor('/', {}).load(file);
  assert.equal(new ScreenFilter().pass('\x1b[2147483647L\x1b[3;99999999999S\x1b[38;5;208mx'), '\x1b[1000L\x1b[3;1000S\x1b[38;5;208mx');
});

test('§125 a session that runs already is there when the extension attaches', limit, async () => {
  const { thread } = await agent.startThread({ cwd: daemon.workspace });
  const { sessionId } = await session(thread, 'echo before; cat');
  await withExtension(attached(), async (editor) => {
    await until(() => liveOf(editor, sessionId)?.text.includes('before'));
    liveOf(editor, sessionId).pty.handleInput('after\r');
    await until(() => liveOf(editor, sessionId).text.includes('after\r\nafter'));
  });
  await agent.endTerminal({ threadId: thread.id, sessionId });
});

test('§201 without settings the extension starts a daemon of its own, runs through the gate, and ends it', limit, async () => {
  const env = { ...process.env };
  Object.assign(process.env, daemon.env);
  try {
    await withExtension({ program: gatehouse, profile: 'workspace-write', approvalPolicy: 'on-request' }, async (editor, api) => {
      const { status, output } = await api.run('echo behind the gate');
      assert.deepEqual([status, output], ['completed', 'behind the gate\n']);
      assert.match(editor.status.text, /workspace-write · on-request/);
    });
    await withExtension({ program: '/no/such/gatehouse' }, async (editor) => {
      assert.match(editor.messages[0], /install Gatehouse or set gatehouse.program/);
    });
    await withExtension({ program: gatehouse, profile: 'nonsense' }, async (editor) => {
      assert.match(editor.messages[0], /nonsense/);
    });
  } finally {
    process.env = env;
  }
});

test('§201 a lost connection is said in the status bar and comes back', limit, async () => {
  const own = await Daemon.start();
  try {
    const tokens = `${own.env.XDG_STATE_HOME}/gatehouse/tokens`;
    await withExtension({ mode: 'attach', address: own.url, tokens }, async (editor) => {
      await own.stop('SIGKILL');
      await until(() => editor.status.text.includes('$(warning)'));
      await own.run();
      await until(() => !editor.status.text.includes('$(warning)'));
    });
  } finally {
    await own.end();
  }
});

test('the package has what vsce asks for, and a workspace can set nothing that widens its boundary', () => {
  const about = JSON.parse(readFileSync(new URL('package.json', folder)));
  for (const field of ['name', 'displayName', 'publisher', 'version', 'engines', 'main', 'contributes', 'categories']) assert.ok(about[field], field);
  for (const name of ['README.md', 'CHANGELOG.md', '.vscodeignore']) assert.ok(readFileSync(new URL(name, folder)).length > 0);
  const { properties } = about.contributes.configuration;
  for (const name of ['program', 'address', 'tokens', 'profile', 'approvalPolicy']) assert.equal(properties[`gatehouse.${name}`].scope, 'machine', name);
});

test('vsce makes the package without a network, and only what the editor needs is in it', limit, async () => {
  const vsce = fileURLToPath(new URL('node_modules/@vscode/vsce/vsce', import.meta.url));
  const out = mkdtempSync('/var/tmp/gatehouse-test-');
  const env = { PATH: process.env.PATH, HOME: out, npm_config_offline: 'true' };
  const run = (...args) => promisify(execFile)(process.execPath, [vsce, ...args], { cwd: fileURLToPath(folder), env });
  try {
    const packed = await run('package', '--no-dependencies', '--skip-license', '--out', `${out}/gatehouse.vsix`);
    assert.ok(readFileSync(`${out}/gatehouse.vsix`).length > 10_000, packed.stdout);
    assert.doesNotMatch(packed.stdout + packed.stderr, /WARNING/);
    const { stdout } = await run('ls', '--no-dependencies');
    const files = stdout.trim().split('\n').filter((line) => /^[\w./-]+$/.test(line));
    assert.deepEqual(files.sort(), ['CHANGELOG.md', 'README.md', 'dist/extension.cjs', 'package.json']);
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
});
