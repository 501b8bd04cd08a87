// "Why?" about a call: console, terminal and audit say the same words.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
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
      const before = await reviewer.explain({ threadId: thread.id, requestId: question.requestId });
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

/** The question of a call that is asked about, and what the reviewer hears to "why?"; it is then refused. */
const whyOf = async (threadId, call) => {
  const ended = agent.callTool({ threadId, ...call });
  let question;
  await until(async () => ([question] = await reviewer.listApprovals(threadId)) && question);
  const told = await reviewer.explain({ threadId, requestId: question.requestId });
  const alone = question.argv.length > 0 ? await reviewer.explain({ threadId, arguments: { argv: question.argv } }) : undefined;
  await reviewer.resolveApproval(question, 'decline');
  const { report } = await ended;
  return { question, told, alone, report };
};

test('§133a "why?" about a question was answered for its words alone, without what the call asked for', limit, async () => {
  const { thread } = await agent.startThread({ cwd: daemon.workspace });
  const escalated = { sandbox_permissions: 'require_escalated', justification: 'test' };
  const more = { sandbox_permissions: 'with_additional_permissions', justification: 'test' };
  const outside = join(daemon.base, 'outside');
  mkdirSync(outside);
  const patch = `*** Begin Patch\n*** Add File: ${join(outside, 'new')}\n+line\n*** End Patch\n`;
  const kinds = {
    escalated: [{ tool: 'shell_command', arguments: { argv: ['ls'], ...escalated } }, 'unsandboxed'],
    'with more permissions': [
      { tool: 'shell_command', arguments: { argv: ['ls'], ...more, additional_permissions: { file_system: { write: [outside] } } } },
      'sandboxed',
    ],
    'in another folder': [{ tool: 'shell_command', arguments: { argv: ['ls'], workdir: '/', ...escalated } }, 'unsandboxed'],
    'a terminal session': [{ tool: 'exec_command', arguments: { cmd: 'ls', tty: true, ...escalated } }, 'unsandboxed'],
    'a patch': [{ tool: 'apply_patch', arguments: { patch } }, 'sandboxed'],
  };
  for (const [kind, [call, boundary]] of Object.entries(kinds)) {
    const { told, alone, report } = await whyOf(thread.id, { callId: kind.replaceAll(' ', '-'), ...call });
    assert.equal(told.requirement.kind, 'needs_approval', kind);
    assert.equal(told.sandbox.first_attempt, boundary, kind);
    assert.match(told.why, /^segments/, kind);
    assert.equal(report.why, `${told.why}answer to attempt 1: denied, by user\n`, kind);
    if (kind !== 'a patch') assert.equal(alone.requirement.kind, 'skip', `${kind}: its words alone`);
  }
});

test('§133a a question that no policy judged says so, one that is gone too, and an agent is told neither', limit, async () => {
  const { thread } = await agent.startThread({ cwd: daemon.workspace });
  const ended = agent.callTool({
    threadId: thread.id,
    tool: 'request_permissions',
    arguments: { permissions: { file_system: { write: [daemon.base] } }, reason: 'test' },
  });
  let question;
  await until(async () => ([question] = await reviewer.listApprovals(thread.id)) && question);
  const why = { threadId: thread.id, requestId: question.requestId };
  await assert.rejects(reviewer.explain(why), /about later commands; none is judged yet/);
  await assert.rejects(agent.explain(why), (error) => error.kind === 'authority');
  await reviewer.resolveApproval(question, 'decline');
  await ended;
  await assert.rejects(reviewer.explain(why), (error) => error.kind === 'unknownQuestion' && /approval\/list/.test(error.message));
  await assert.rejects(reviewer.explain({ ...why, arguments: { argv: ['ls'] } }), (error) => error.kind === 'invalidParams');
});

test('§133a input for a running process was explained as the start of that process', limit, async () => {
  const { thread } = await agent.startThread({ cwd: daemon.workspace });
  const started = agent.callTool({
    threadId: thread.id,
    tool: 'exec_command',
    arguments: { cmd: 'cat', tty: true, yield_time_ms: 250, sandbox_permissions: 'require_escalated', justification: 'test' },
  });
  let question;
  await until(async () => ([question] = await reviewer.listApprovals(thread.id)) && question);
  await reviewer.resolveApproval(question, 'accept');
  const { sessionId } = await started;
  const written = agent.callTool({ threadId: thread.id, tool: 'write_stdin', arguments: { session_id: sessionId, chars: 'x' } });
  await until(async () => ([question] = await reviewer.listApprovals(thread.id)) && question);
  await assert.rejects(reviewer.explain({ threadId: thread.id, requestId: question.requestId }), /no rule judges what is written/);
  await reviewer.resolveApproval(question, 'decline');
  await written;
});

test('a call that the audit does not know is an error that names it', () => {
  assert.throws(() => run('audit', 'why', 'no-such-call'), (why) => why.status === 1 && /no-such-call/.test(why.stderr));
});
