// §201 A whole session of an IDE extension through the real daemon.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { AgentClient, ReviewerClient, stdioTransport, SessionLostError } from '../../clients/typescript/dist/index.js';
import { CuttingProxy } from './cutting_proxy.mjs';
import { clientInfo, Daemon, dangerous, gatehouse, running, shell, soon, until } from './daemon.mjs';

const limit = { timeout: 60_000 };
let daemon;
let agent;
let reviewer;
let answers = []; // what the reviewer says next; none: it waits
const asked = [];

before(async () => {
  daemon = await Daemon.start();
  agent = await AgentClient.connect({ clientInfo, transport: daemon.unix('agent'), reconnect: soon });
  reviewer = await ReviewerClient.connect({
    clientInfo,
    transport: daemon.tcp('reviewer'),
    reconnect: soon,
    approvals: (question) => {
      asked.push(question);
      return Promise.resolve(answers.shift());
    },
  });
});
after(async () => {
  agent?.close();
  reviewer?.close();
  await daemon?.end();
});

async function newThread(client = agent) {
  return (await client.startThread({ cwd: daemon.workspace })).thread;
}

/** The events of a thread: [method, params]. */
function record(client, thread, methods) {
  const heard = [];
  for (const method of methods)
    client.on(method, (event) => event.threadId === thread.id && heard.push([method, event]));
  return heard;
}

const delta = 'item/commandExecution/outputDelta';

test('§201 a call streams its output between its start and its end', limit, async () => {
  const thread = await newThread();
  const heard = record(agent, thread, ['turn/started', 'item/started', 'item/attempt/started', delta, 'item/completed']);
  const result = await agent.callTool(shell(thread, 'for i in 1 2 3; do echo $i; sleep 0.05; done; echo err >&2'));
  assert.equal(result.status, 'completed');
  assert.equal(result.exitCode, 0);
  assert.equal(result.sandboxDenied, false);
  await until(() => heard.at(-1)?.[0] === 'item/completed');
  const order = heard.map(([method]) => method).filter((method) => method !== delta);
  assert.deepEqual(order, ['turn/started', 'item/started', 'item/attempt/started', 'item/completed']);
  assert.equal(heard[0][1].seq, 1);
  const text = (stream) =>
    heard.filter(([m, e]) => m === delta && e.stream === stream).map(([, e]) => e.delta).join('');
  assert.equal(text('stdout'), '1\n2\n3\n');
  assert.equal(text('stderr'), 'err\n');
  assert.equal(heard.at(-1)[1].item.exitCode, 0);
  const seqs = heard.map(([, e]) => e.seq);
  assert.deepEqual(seqs, [...seqs].sort((a, b) => a - b));
});

test('a command that fails by itself is completed, with its exit code', limit, async () => {
  const thread = await newThread();
  const result = await agent.callTool(shell(thread, 'exit 7'));
  assert.deepEqual([result.status, result.exitCode], ['completed', 7]);
});

test('§50 the reviewer connection approves, and the call goes on', limit, async () => {
  const thread = await newThread();
  answers = [{ decision: 'accept' }];
  const result = await agent.callTool(shell(thread, dangerous));
  assert.deepEqual([result.status, result.exitCode], ['completed', 0]);
  const question = asked.at(-1);
  assert.equal(question.threadId, thread.id);
  assert.deepEqual(question.argv, dangerous);
  assert.ok(question.reason && question.willBeAllowed && question.actionDigest);
});

test('§48b a refusal is a result with the reviewer’s reason, and an item with a start and an end (§D11)', limit, async () => {
  const thread = await newThread();
  const heard = record(agent, thread, ['item/started', 'item/completed', 'serverRequest/resolved']);
  answers = [{ decision: 'decline', reason: 'use git clean' }];
  const result = await agent.callTool(shell(thread, dangerous));
  assert.equal(result.status, 'declined');
  assert.match(result.message, /use git clean/);
  await until(() => heard.length === 3);
  assert.deepEqual(heard.map(([method]) => method), ['item/started', 'serverRequest/resolved', 'item/completed']);
  assert.equal(heard[2][1].item.status, 'declined');
});

test('§127 an interrupt ends the calls of the turn and withdraws its questions', limit, async () => {
  const thread = await newThread();
  const started = record(agent, thread, ['item/attempt/started']);
  const sleeping = agent.callTool(shell(thread, 'sleep 61.25'));
  await until(() => started.length > 0);
  answers = [undefined];
  const waiting = agent.callTool(shell(thread, dangerous));
  await until(async () => (await reviewer.listApprovals(thread.id)).length === 1);
  await agent.interruptTurn({ threadId: thread.id });
  assert.equal((await sleeping).status, 'interrupted');
  assert.equal((await waiting).status, 'interrupted');
  assert.deepEqual(await reviewer.listApprovals(thread.id), []);
  await until(() => running('sleep 61.25') === 0 && running('sleep\u000061.25') === 0);
  await agent.startTurn({ threadId: thread.id });
  assert.equal((await agent.callTool(shell(thread, 'true'))).status, 'completed');
});

test('§51 an agent lifted the user’s stop by a turn of its own, and went on', limit, async () => {
  const thread = await newThread();
  const { id: threadId } = thread;
  answers = [{ decision: 'cancel' }];
  assert.equal((await agent.callTool(shell(thread, dangerous))).status, 'interrupted');
  const goesOn = async () => {
    await assert.rejects(agent.startTurn({ threadId, input: 'The user says: go on' }), { kind: 'waitsForReviewer' });
    assert.equal((await agent.callTool(shell(thread, 'true'))).status, 'rejected');
    assert.match((await agent.readThread(threadId)).stoppedBecause, /the user/);
    await reviewer.startTurn({ threadId, input: 'go on' });
    assert.equal((await agent.callTool(shell(thread, 'true'))).status, 'completed');
    assert.equal((await agent.readThread(threadId)).stoppedBecause, undefined);
  };
  await goesOn();
  const started = record(agent, thread, ['item/attempt/started']);
  const call = agent.callTool(shell(thread, 'sleep 61.125'));
  await until(() => started.length > 0);
  await reviewer.interruptTurn({ threadId });
  assert.match((await call).message, /since the user interrupted it/);
  await goesOn();
  await agent.completeTurn({ threadId });
  await reviewer.interruptTurn({ threadId }); // between two turns
  await goesOn();
});

test('one call of many can be cancelled', limit, async () => {
  const thread = await newThread();
  const started = record(agent, thread, ['item/attempt/started']);
  const first = agent.callTool(shell(thread, 'sleep 61.5', { callId: 'first' }));
  const second = agent.callTool(shell(thread, 'sleep 0.3; echo kept', { callId: 'second' }));
  await until(() => started.length === 2);
  await agent.cancelCall({ threadId: thread.id, callId: 'first' });
  assert.equal((await first).status, 'interrupted');
  assert.equal((await second).output, 'kept\n');
});

test('the boundary’s refusal is told while the call runs (§92b)', limit, async () => {
  const thread = await newThread();
  const result = await agent.callTool(shell(thread, 'touch /etc/gatehouse-test'));
  assert.equal(result.exitCode, 1);
  assert.equal(result.sandboxDenied, true);
  assert.equal(existsSync('/etc/gatehouse-test'), false);
});

test('§201 a session that is cut again and again loses no event and doubles none', limit, async () => {
  const proxy = await CuttingProxy.to(daemon.url);
  const client = await AgentClient.connect({
    clientInfo,
    transport: daemon.tcp('agent', proxy.url),
    reconnect: soon,
  });
  try {
    const thread = await newThread(client);
    const heard = record(client, thread, ['item/started', 'item/attempt/started', delta, 'item/completed', 'turn/started']);
    const direct = record(agent, thread, ['item/started', 'item/attempt/started', delta, 'item/completed', 'turn/started']);
    await agent.resumeThread({ threadId: thread.id, afterSeq: 0 });
    const lines = 400;
    const command = `for i in $(seq ${lines}); do echo line $i; sleep 0.004; done`;
    const call = client.callTool({ ...shell(thread, command), arguments: { command, timeout_ms: 50_000 } });
    for (let cut = 0; cut < 6; cut += 1) {
      const before = heard.length;
      await until(() => heard.length > before || heard.at(-1)?.[0] === 'item/completed');
      if (cut % 2) {
        proxy.freeze(); // events are sent into nowhere for a while
        await new Promise((resolve) => setTimeout(resolve, 60));
      }
      proxy.cut();
      await until(() => client.connected === false);
    }
    const result = await call;
    assert.equal(result.status, 'completed');
    const text = Array.from({ length: lines }, (_, i) => `line ${i + 1}\n`).join('');
    assert.equal(result.output, text);
    await until(() => heard.at(-1)?.[0] === 'item/completed' && direct.at(-1)?.[0] === 'item/completed');
    assert.equal(heard.filter(([m]) => m === delta).map(([, e]) => e.delta).join(''), text);
    assert.deepEqual(heard.map(([, e]) => e.seq), direct.map(([, e]) => e.seq));
    assert.equal(heard.filter(([m]) => m === 'item/started').length, 1);
    assert.ok(proxy.accepted >= 7, `${proxy.accepted} connections`);
  } finally {
    client.close();
    proxy.close();
  }
});

test('§201 a call id that comes again is the same call; with other arguments it is refused', limit, async () => {
  const thread = await newThread();
  const file = join(daemon.workspace, 'count');
  const once = shell(thread, `echo x >> ${file}; wc -l < ${file}`, { callId: 'again' });
  const [a, b] = await Promise.all([agent.callTool(once), agent.callTool(once)]);
  assert.equal(a.output, '1\n');
  assert.deepEqual(a, b);
  assert.deepEqual(await agent.callTool(once), a);
  await assert.rejects(agent.callTool(shell(thread, 'true', { callId: 'again' })), { kind: 'callIdReused' });
});

test('§16a a permission that is granted for the session stands in thread/read and can be taken back', limit, async () => {
  const thread = await newThread();
  answers = [{ decision: 'acceptForSession' }];
  const first = await agent.callTool(shell(thread, dangerous));
  assert.equal(first.status, 'completed');
  const { approvals } = await reviewer.readThread(thread.id);
  assert.equal(approvals.length, 1);
  const before = asked.length;
  assert.equal((await agent.callTool(shell(thread, dangerous))).status, 'completed');
  assert.equal(asked.length, before); // not asked again
  assert.equal(await reviewer.revoke({ threadId: thread.id, kind: 'approval', id: approvals[0].id }), true);
  assert.equal(await reviewer.revoke({ threadId: thread.id, kind: 'approval', id: approvals[0].id }), false);
  answers = [{ decision: 'decline' }];
  assert.equal((await agent.callTool(shell(thread, dangerous))).status, 'declined');
});

test('§D13 a command cannot read the tokens of the daemon, so nobody can answer through it', limit, async () => {
  const thread = await newThread();
  for (const authority of ['agent', 'reviewer']) {
    const file = join(daemon.env.XDG_STATE_HOME, 'gatehouse/tokens', `${authority}.token`);
    const result = await agent.callTool(shell(thread, `cat ${file}; cd ${file}/.. 2>/dev/null; cat ../tokens/*; cat /proc/*/root${file}`));
    assert.ok(!result.output.includes(daemon.token(authority)), authority);
    assert.notEqual(result.exitCode, 0);
  }
});

test('§133a policy/explain says what would be decided, and nothing runs', limit, async () => {
  const thread = await newThread();
  const told = await agent.explain({ threadId: thread.id, arguments: { argv: dangerous } });
  assert.equal(told.requirement.kind, 'needs_approval');
  assert.deepEqual(told.segments[0].argv, dangerous);
});

test('§133a policy/explain answered for the configuration what a thread with stricter terms refuses', limit, async () => {
  const { thread } = await agent.startThread({ cwd: daemon.workspace, approvalPolicy: 'never', sandbox: 'read-only' });
  const threadId = thread.id;
  const patch = `*** Begin Patch\n*** Add File: ${daemon.workspace}/made\n+x\n*** End Patch\n`;
  for (const [tool, args] of [
    ['shell_command', { argv: dangerous }],
    ['shell_command', { command: 'ls' }],
    ['exec_command', { argv: dangerous }],
    ['apply_patch', { patch }],
  ]) {
    const { requirement, sandbox } = await agent.explain({ threadId, tool, arguments: args });
    const done = await agent.callTool({ threadId, tool, arguments: args });
    assert.deepEqual(done.report.decision.requirement, requirement, tool);
    assert.deepEqual(done.report.decision.sandbox, sandbox, tool);
    assert.equal(done.status === 'rejected', requirement.kind === 'forbidden', tool);
  }
  assert.equal((await agent.explain({ tool: 'exec_command', arguments: { cmd: dangerous.join(' ') } })).requirement.kind, 'needs_approval');
  await assert.rejects(agent.explain({ threadId, arguments: { argv: ['ls'], approval_policy: 'on-request' } }), { code: -32602 });
  await assert.rejects(agent.explain({ threadId, tool: 'write_stdin', arguments: { session_id: 1 } }), /not judged by policy/);
});

test('an agent opens threads below the roots only, and asks for no wider terms', limit, async () => {
  await assert.rejects(agent.startThread({ cwd: '/' }), /outside the folders/);
  await assert.rejects(agent.startThread({ cwd: daemon.workspace, sandbox: 'danger-full-access' }), /wider/);
  await assert.rejects(agent.startThread({ cwd: daemon.workspace, permissions: { type: 'disabled' } }), Error);
  const strict = (await agent.startThread({ cwd: daemon.workspace, approvalPolicy: 'never' })).thread;
  assert.equal((await agent.callTool(shell(strict, dangerous))).status, 'rejected');
  const { thread } = await agent.startThread({ cwd: daemon.workspace, sandbox: 'read-only' });
  writeFileSync(join(daemon.workspace, 'kept'), 'x');
  const result = await agent.callTool(shell(thread, 'echo y > kept'));
  assert.notEqual(result.exitCode, 0);
});

test('§63 an agent does not open what is protected by working in it', limit, async () => {
  const repository = join(daemon.workspace, 'repository');
  for (const folder of ['.git/hooks', '.vscode', 'tools/hooks', 'sub'])
    mkdirSync(join(repository, folder), { recursive: true });
  writeFileSync(join(repository, '.git/config'), '[core]\n\thooksPath = tools/hooks\n');
  for (const folder of ['.git', '.git/hooks', '.vscode', 'tools/hooks']) {
    const protectedFolder = join(repository, folder);
    await assert.rejects(agent.startThread({ cwd: protectedFolder }), /is protected/, folder);
    const both = { cwd: repository, runtimeWorkspaceRoots: [repository, protectedFolder] };
    await assert.rejects(agent.startThread(both), /is protected/, folder);
  }
  const { thread } = await agent.startThread({ cwd: repository, runtimeWorkspaceRoots: [join(repository, 'sub')] });
  assert.equal((await agent.callTool(shell(thread, 'touch sub/made'))).exitCode, 0);
});

test('§201 the same session over standard input and output', limit, async () => {
  const client = await AgentClient.connect({
    clientInfo,
    transport: stdioTransport({
      program: gatehouse,
      args: ['serve', '--listen', 'stdio://', '--root', daemon.workspace, '--profile', 'workspace-write'],
      env: daemon.env,
      cwd: daemon.workspace,
    }),
  });
  const thread = await newThread(client);
  assert.equal((await client.callTool(shell(thread, 'echo over pipes'))).output, 'over pipes\n');
  const closed = new Promise((resolve) => client.on('closed', resolve));
  client.close();
  await closed;
});

test('clean-up: a closed thread is gone with what ran in it', limit, async () => {
  const thread = await newThread();
  const started = record(agent, thread, ['item/attempt/started']);
  const call = agent.callTool(shell(thread, 'sleep 61.75'));
  await until(() => started.length > 0);
  const told = [agent, reviewer].map((client) => new Promise((heard) => client.on('thread/closed', (event) => event.threadId === thread.id && heard())));
  await agent.closeThread(thread.id);
  assert.equal((await call).status, 'interrupted');
  await Promise.all(told);
  await until(() => running('61.75') === 0);
  assert.ok(!(await agent.listThreads()).some((one) => one.id === thread.id));
  await assert.rejects(agent.readThread(thread.id), { kind: 'unknownThread' });
});

test('§127 the daemon ends cleanly: its client hears how its calls ended, and goes on with the next one', limit, async () => {
  const thread = await newThread();
  const renewed = [];
  agent.on('connected', (event) => renewed.push(event.renewed));
  const heard = record(agent, thread, ['item/attempt/started', 'thread/closed']);
  const call = agent.callTool(shell(thread, 'sleep 62.25'));
  await until(() => heard.length > 0);
  assert.equal(await daemon.stop(), 0);
  assert.equal(existsSync(daemon.socket), false);
  assert.equal((await call).status, 'interrupted');
  await until(() => heard.length === 2);
  await until(() => running('62.25') === 0);
  await daemon.run();
  await until(() => renewed.length > 0);
  assert.equal((await agent.callTool(shell(await newThread(), 'echo again'))).output, 'again\n');
});

test('a client learns after the daemon was killed what is gone', limit, async () => {
  const thread = await newThread();
  const lost = [];
  const renewed = [];
  agent.on('threadLost', (event) => lost.push(event.threadId));
  const told = [];
  agent.on('connected', (event) => (renewed.push(event.renewed), told.push(event.lost)));
  const started = record(agent, thread, ['item/attempt/started']);
  const call = agent.callTool(shell(thread, 'sleep 62.75'));
  call.catch(() => {});
  await until(() => started.length > 0);
  await daemon.stop('SIGKILL');
  await until(() => running('62.75') === 0);
  await daemon.run();
  await until(() => renewed.length > 0);
  assert.deepEqual(renewed, [true]);
  assert.match(told[0], /calls and questions are gone.*rules that were kept are in force/);
  await assert.rejects(call, SessionLostError);
  assert.ok(lost.includes(thread.id));
  assert.equal((await agent.callTool(shell(await newThread(), 'echo again'))).output, 'again\n');
});
