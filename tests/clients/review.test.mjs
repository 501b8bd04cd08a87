// §204 `gatehouse review`: the questions of a running daemon, answered at another terminal (tmux) or by a program.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { after, before, test } from 'node:test';
import { AgentClient } from '../../clients/typescript/dist/index.js';
import { clientInfo, Daemon, dangerous, endsWithUs, gatehouse, shell, soon, Stage, start, until } from './daemon.mjs';

const limit = { timeout: 120_000 };
let stage;
let daemon;
let agent;

before(async () => {
  stage = await Stage.start();
  ({ daemon, agent } = stage);
});
after(() => stage?.end());

const ask = async (command = dangerous, more = {}) => {
  const { thread } = await agent.startThread({ cwd: daemon.workspace });
  return agent.callTool(shell(thread, command, more));
};

/** A terminal of its own, with a program in it. */
class Tmux {
  constructor(size = ['-x', '100', '-y', '40'], env = {}) {
    this.name = `gh-review-${process.pid}-${Math.random().toString(36).slice(2)}`;
    this.over = endsWithUs(() => this.end());
    this.tmux('-f', '/dev/null', 'new-session', '-d', ...size, 'bash --norc', { env: { ...daemon.env, TERM: 'xterm-256color', PS1: 'shell$ ', ...env } });
  }
  tmux(...args) {
    const options = typeof args.at(-1) === 'object' ? args.pop() : {};
    return execFileSync('tmux', ['-L', this.name, ...args], { encoding: 'utf8', timeout: 60_000, killSignal: 'SIGKILL', ...options });
  }
  type(...keys) {
    this.tmux('send-keys', ...keys);
  }
  /** The screen, with lines that the terminal broke joined. */
  screen(...more) {
    return this.tmux('capture-pane', '-p', '-J', '-S', '-200', ...more);
  }
  async shows(text) {
    try {
      await until(() => (typeof text === 'string' ? this.screen().includes(text) : text.test(this.screen())));
    } finally {
      this.last = this.screen();
    }
  }
  /** Types an answer once the question takes one: its prompt is the last that is shown. */
  async answer(...keys) {
    await this.shows(/\n>\s*$/);
    this.type(...keys);
  }
  /** Clears the screen and what has scrolled off it: `text` is gone then. */
  async wipe(text) {
    this.type('clear', 'Enter');
    await until(() => !this.tmux('capture-pane', '-p').includes(text));
    this.tmux('clear-history');
  }
  end() {
    this.over();
    this.tmux('kill-server');
  }
}

const inTmux = (name, body, ...how) =>
  test(name, limit, async () => {
    const terminal = new Tmux(...how);
    try {
      await body(terminal);
    } finally {
      terminal.end();
    }
  });

inTmux('§204 a question of a running daemon appears at another terminal and one key answers it', async (terminal) => {
  terminal.type(`${gatehouse} review`, 'Enter');
  await terminal.shows('No question waits');
  const call = ask();
  await terminal.shows('rm -rf no-such-thing');
  await terminal.shows('[y] yes, once');
  terminal.type('?');
  await terminal.shows(/segments:[\s\S]*requirement: needs an approval[\s\S]*boundary: sandbox/);
  await terminal.answer('y');
  assert.equal((await call).status, 'completed');
  const second = ask();
  await terminal.shows(/approval needed[\s\S]*approval needed/);
  terminal.type('n');
  const refused = await second;
  assert.equal(refused.status, 'declined');
  terminal.type('C-d');
  await terminal.shows('Answered: 2. Still standing: 0.');
});

inTmux('§133a ? about a call that asks to leave the sandbox said that nothing asks about it', async (terminal) => {
  terminal.type(`${gatehouse} review`, 'Enter');
  await terminal.shows('No question waits');
  const call = ask([], { arguments: { argv: ['ls', 'no-such-thing'], sandbox_permissions: 'require_escalated', justification: 'test' } });
  await terminal.shows('[y] yes, once');
  terminal.type('?');
  await terminal.shows(/segments:[\s\S]*requirement: needs an approval[\s\S]*boundary: none of ours/);
  terminal.type('n');
  assert.equal((await call).status, 'declined');
});

inTmux('§133a the question of `run` says why, too, and stands on', async (terminal) => {
  terminal.type(`${gatehouse} run --profile workspace-write -- rm -rf no-such-thing; echo "status $?"`, 'Enter');
  await terminal.shows(/\[q\] no, and stop here\n\s+\[\?\] why\n>/);
  terminal.type('?', 'Enter');
  await terminal.shows(/> \?\n\nsegments:[\s\S]*requirement: needs an approval[\s\S]*boundary: sandbox[^>]*\n> /);
  await terminal.answer('y', 'Enter');
  await terminal.shows('status 0');
});

inTmux('§204 what is typed before a question stands does not answer it', async (terminal) => {
  terminal.type(`${gatehouse} review`, 'Enter');
  await terminal.shows('No question waits');
  terminal.type('y', 'y', 'y');
  const call = ask();
  await terminal.shows('[y] yes, once');
  terminal.type('x');
  await terminal.shows('please type one of');
  terminal.type('n');
  assert.equal((await call).status, 'declined');
});

inTmux('§204 no question is lost when the prompt is interrupted, stopped or killed', async (terminal) => {
  terminal.type(`${gatehouse} review`, 'Enter');
  await terminal.shows('No question waits');
  const call = ask(['rm', '-rf', 'no-such-1']);
  await terminal.shows('no-such-1');
  terminal.type('C-c');
  await terminal.shows('Still standing: 1.');
  await terminal.wipe('Still standing');
  // Stopped and continued: the question is shown again, and the shell in between had its terminal as it was.
  terminal.type(`${gatehouse} review`, 'Enter');
  await terminal.shows('[y] yes, once');
  terminal.type('C-z');
  await terminal.shows(/Stopped/);
  terminal.type('stty -a | grep -o "[-]*icanon"', 'Enter');
  await terminal.shows(/^icanon$/m);
  terminal.type('fg', 'Enter');
  await terminal.shows(/fg[\s\S]*\[y\] yes, once/);
  terminal.type('C-c');
  await terminal.shows(/fg[\s\S]*Still standing: 1\./);
  await terminal.wipe('Still standing');
  terminal.type(`${gatehouse} review`, 'Enter');
  await terminal.shows('[y] yes, once');
  const shellPid = terminal.tmux('display-message', '-p', '#{pane_pid}').trim();
  process.kill(Number(execFileSync('pgrep', ['-P', shellPid], { encoding: 'utf8' })), 'SIGKILL');
  await terminal.shows('Killed');
  terminal.type('stty sane', 'Enter');
  await terminal.wipe('Killed');
  terminal.type(`${gatehouse} review`, 'Enter');
  await terminal.shows('no-such-1');
  await terminal.answer('y');
  assert.equal((await call).status, 'completed');
});

inTmux(
  '§204 in a narrow window nothing of the command is lost, and NO_COLOR writes no colour',
  async (terminal) => {
    terminal.type(`${gatehouse} review`, 'Enter');
    await terminal.shows('No question waits');
    const long = 'x'.repeat(90);
    const call = ask(['rm', '-rf', `no-such-${long}`]);
    await terminal.shows('[n] no');
    await terminal.shows(`rm -rf no-such-${long}`);
    assert.doesNotMatch(terminal.screen('-e'), /\x1b\[[0-9;]*[1-9]m/);
    terminal.type('n');
    await call;
  },
  ['-x', '44', '-y', '30'],
  { NO_COLOR: '1' },
);

inTmux(
  '§204 the question of `gatehouse run` was gone from the screen after the program had been stopped and continued',
  async (terminal) => {
    terminal.type(`cd ${daemon.workspace}; ${gatehouse} run --profile workspace-write -- rm -rf no-such-run`, 'Enter');
    await terminal.shows('[n] no');
    assert.doesNotMatch(terminal.screen('-e'), /\x1b\[[0-9;]*[1-9]m/);
    terminal.type('C-z');
    await terminal.shows(/Stopped/);
    terminal.type('fg', 'Enter');
    await terminal.shows(/fg[\s\S]*command: rm -rf no-such-run[\s\S]*\[n\] no[\s\S]*> /);
    terminal.type('x', 'Enter');
    await terminal.shows('please type one of the letters');
    await terminal.answer('y', 'Enter');
    await terminal.shows(/approved by user; in the linux sandbox/);
    await terminal.wipe('[q] no, and stop here'); // also when the program takes its time to end
    terminal.type(`${gatehouse} run --profile workspace-write -- rm -rf no-such-run`, 'Enter');
    await terminal.shows('[q] no, and stop here');
    terminal.type('C-c');
    await terminal.shows('The call was cancelled');
    terminal.type('echo "status $?"', 'Enter');
    await terminal.shows('status 120');
  },
  ['-x', '50', '-y', '40'],
  { NO_COLOR: '1' },
);

test('§204 --list and --json are for programs: questions out, answers in, every outcome told', limit, async () => {
  const run = (...args) => start(gatehouse, ['review', ...args], { env: daemon.env, stdio: ['pipe', 'pipe', 'pipe'] });
  const program = run('--json');
  const said = [];
  let rest = '';
  program.stdout.setEncoding('utf8').on('data', (text) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop();
    said.push(...lines.map((line) => JSON.parse(line)));
  });
  const of = (type) => said.filter((line) => line.type === type);
  await until(() => of('connected').length === 1);
  const call = ask(['rm', '-rf', 'no-such-2']);
  await until(() => of('question').length === 1);
  const [question] = of('question');
  assert.deepEqual(question.argv, ['rm', '-rf', 'no-such-2']);
  const listed = execFileSync(gatehouse, ['review', '--list', '--json'], { env: daemon.env, encoding: 'utf8' });
  assert.equal(JSON.parse(listed).requestId, question.requestId);
  assert.match(execFileSync(gatehouse, ['review', '--list'], { env: daemon.env, encoding: 'utf8' }), /command: rm -rf no-such-2/);
  program.stdin.write('{"requestId": "other", "decision": "accept"}\nnonsense\n');
  await until(() => of('notTaken').length === 2);
  program.stdin.write(`${JSON.stringify({ requestId: question.requestId, decision: 'accept' })}\n`);
  assert.equal((await call).status, 'completed');
  await until(() => of('resolved').length === 1);
  program.stdin.end();
  assert.equal(await new Promise((resolve) => program.once('close', resolve)), 0);
});

test('§204 a daemon that restarts is found again, and its new questions are answered', limit, async () => {
  const own = await Daemon.start();
  const program = start(gatehouse, ['review', '--json', '--connect', own.url], { env: own.env, stdio: ['pipe', 'pipe', 'inherit'] });
  let out = '';
  program.stdout.setEncoding('utf8').on('data', (text) => (out += text));
  try {
    await until(() => out.includes('"connected"'));
    await own.stop('SIGKILL');
    await until(() => out.includes('"lost"'));
    await own.run();
    await until(() => out.split('"connected"').length === 3);
    const worker = await AgentClient.connect({ clientInfo, transport: own.unix('agent'), reconnect: soon });
    const { thread } = await worker.startThread({ cwd: own.workspace });
    const call = worker.callTool(shell(thread, dangerous));
    await until(() => out.includes('"question"'));
    const question = JSON.parse(out.split('\n').find((line) => line.includes('"question"')));
    program.stdin.write(`${JSON.stringify({ requestId: question.requestId, decision: 'decline' })}\n`);
    assert.equal((await call).status, 'declined');
    worker.close();
  } finally {
    program.kill();
    await own.end();
  }
});

test('§204 an answer that was the last line of the input was lost', limit, async () => {
  for (let round = 0; round < 5; ++round) {
    const program = start(gatehouse, ['review', '--json'], { env: daemon.env, stdio: ['pipe', 'pipe', 'inherit'] });
    let out = '';
    program.stdout.setEncoding('utf8').on('data', (text) => (out += text));
    const call = ask();
    await until(() => out.includes('"question"'));
    const question = JSON.parse(out.split('\n').find((line) => line.includes('"question"')));
    program.stdin.end(`${JSON.stringify({ requestId: question.requestId, decision: 'decline' })}\n`);
    assert.equal((await call).status, 'declined');
  }
});

test('§204 an answer that was there before the connection was refused, and the end of input passed for success', limit, async () => {
  const call = ask();
  const list = () => execFileSync(gatehouse, ['review', '--list', '--json'], { env: daemon.env, encoding: 'utf8' });
  let listed = '';
  await until(() => (listed = list()) !== '');
  const input = `${JSON.stringify({ requestId: JSON.parse(listed).requestId, decision: 'decline' })}\n`;
  const said = execFileSync(gatehouse, ['review', '--json'], { env: daemon.env, input, encoding: 'utf8' });
  assert.doesNotMatch(said, /notTaken/);
  assert.equal((await call).status, 'declined');
});

test('§204 without a daemon, without its token or with the wrong one, an error says the next step', limit, async () => {
  const fails = (...args) => {
    try {
      execFileSync(gatehouse, ['review', '--list', ...args], { env: { ...daemon.env, XDG_STATE_HOME: `${daemon.base}/empty` }, stdio: 'pipe' });
    } catch (error) {
      return { status: error.status, text: error.stderr.toString() };
    }
    return { status: 0 };
  };
  const none = fails();
  assert.equal(none.status, 1);
  assert.match(none.text, /gatehouse serve --root/);
  assert.match(fails('--connect', daemon.url).text, /--reviewer-token-file/);
  const agents = fails('--connect', daemon.url, '--reviewer-token-file', `${daemon.base}/home/state/gatehouse/tokens/agent.token`);
  assert.equal(agents.status, 1);
  assert.match(agents.text, /an agent answers no questions/);
  assert.match(fails('--connect', 'ws://192.0.2.1:80').text, /not on this machine/);
});
