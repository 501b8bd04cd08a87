// "Why?" about a call: console, terminal and audit say the same words.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { after, before, test } from 'node:test';
import { AgentClient, ReviewerClient } from '../../clients/typescript/dist/index.js';
import { clientInfo, Daemon, gatehouse, shell, soon, until } from './daemon.mjs';

const limit = { timeout: 60_000 };
let daemon;
let agent;
let reviewer;

before(async () => {
  daemon = await Daemon.start();
  agent = await AgentClient.connect({ clientInfo, transport: daemon.unix('agent'), reconnect: soon });
  reviewer = await ReviewerClient.connect({ clientInfo, transport: daemon.unix('reviewer'), reconnect: soon });
});
after(async () => {
  agent?.close();
  reviewer?.close();
  await daemon?.end();
});

const run = (...args) => execFileSync(gatehouse, args, { env: daemon.env, encoding: 'utf8', cwd: daemon.workspace });
/** Without the lines about the command itself, which only the terminal needs to repeat. */
const terminal = (argv) => run('policy', 'explain', '--profile', 'workspace-write', '--', ...argv).replace(/^command: .*\napproval policy: .*\n/, '');

test('§133a "why?" is answered with the same words in the console, at the terminal and in the audit', limit, async () => {
  const { thread } = await agent.startThread({ cwd: daemon.workspace });
  const commands = [['ls', '-l'], ['rm', '-rf', 'no-such-thing'], ['bash', '-c', 'git status && rm -rf no-such; cat *.md'], ['rm', '-rf', '/']];
  for (const [index, argv] of commands.entries()) {
    const callId = `why-${index}`;
    const call = agent.callTool({ ...shell(thread, argv), callId });
    let asked = false;
    const ended = call.then(() => (asked = true));
    await until(async () => asked || (await reviewer.listApprovals(thread.id)).length > 0);
    for (const question of await reviewer.listApprovals(thread.id)) {
      const before = await reviewer.explain({ threadId: thread.id, arguments: { argv: question.argv } });
      assert.equal(before.why, terminal(argv), 'the question in the console');
      await reviewer.resolveApproval(question, 'decline', { reason: 'not now' });
    }
    await ended;
    const { report, status } = await call;
    const words = terminal(argv);
    const answers = report.why.slice(words.length);
    assert.equal(report.why.slice(0, words.length), words, 'the call in the console');
    assert.equal(answers, status === 'declined' ? 'answer to attempt 1: denied, by user: not now\n' : '');
    assert.equal(run('audit', 'why', callId), report.why, 'the audit');
    const told = JSON.parse(run('audit', 'why', '--json', callId));
    assert.deepEqual([told.call, told.why], [callId, report.why]);
    assert.deepEqual(told.entries.map((one) => one.kind), status === 'declined' && answers !== '' ? ['decision', 'review'] : ['decision']);
    assert.match(words, /^segments/);
    assert.match(words, /\nrequirement: .*\n.*boundary.*: /s);
  }
});

test('a call that the audit does not know is an error that names it', () => {
  assert.throws(() => run('audit', 'why', 'no-such-call'), (why) => why.status === 1 && /no-such-call/.test(why.stderr));
});
