// §118–§127 Terminal sessions through the real daemon.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { running, Stage, until } from './daemon.mjs';
import { RawClient } from './raw_client.mjs';

const limit = { timeout: 60_000 };
let stage;
let daemon;
let agent;

before(async () => {
  stage = await Stage.start();
  ({ daemon, agent } = stage);
});
after(() => stage?.end());

const newThread = async () => (await agent.startThread({ cwd: daemon.workspace })).thread;
const exec = (thread, cmd, more = {}) =>
  agent.callTool({ threadId: thread.id, tool: 'exec_command', arguments: { cmd, yield_time_ms: 250, ...more } });
const write = (thread, session_id, chars = '', yield_time_ms = 5000) =>
  agent.callTool({ threadId: thread.id, tool: 'write_stdin', arguments: { session_id, chars, yield_time_ms } });

test('§148 a session outlives its call, streams on, and the last poll has its end', limit, async () => {
  const thread = await newThread();
  let streamed = '';
  const ended = [];
  agent.on('item/commandExecution/outputDelta', (e) => e.threadId === thread.id && (streamed += e.delta));
  agent.on('item/commandExecution/terminalEnded', (e) => e.threadId === thread.id && ended.push(e));
  const first = await exec(thread, 'for i in 1 2 3 4 5; do echo $i; sleep 0.1; done; exit 6');
  assert.equal(first.status, 'completed');
  assert.equal(typeof first.sessionId, 'number');
  let text = first.output;
  let last;
  do {
    last = await write(thread, first.sessionId);
    text += last.output;
  } while (last.sessionId !== undefined);
  assert.equal(text, '1\n2\n3\n4\n5\n');
  assert.equal(last.exitCode, 6);
  await until(() => ended.length === 1);
  assert.deepEqual([ended[0].sessionId, ended[0].exitCode, streamed], [first.sessionId, 6, text]);
});

test('§127 an interrupted turn leaves background sessions; they are listed, read and ended', limit, async () => {
  const thread = await newThread();
  const { turn } = await agent.startTurn({ threadId: thread.id });
  const marker = '86399.25';
  const one = await exec(thread, `echo up; sleep ${marker}`);
  const two = await exec(thread, `sleep ${marker}`);
  await agent.interruptTurn({ threadId: thread.id, turnId: turn.id });
  const data = await agent.listTerminals(thread.id);
  assert.deepEqual(data.map((t) => [t.sessionId, t.running]).sort(), [[one.sessionId, true], [two.sessionId, true]].sort());
  const first = { threadId: thread.id, sessionId: one.sessionId };
  assert.equal((await agent.readTerminal(first)).output, 'up\n');
  assert.equal(await agent.endTerminal(first), true);
  assert.equal(await agent.endTerminal(first), false);
  assert.equal(await agent.endAllTerminals(thread.id), 1);
  await until(() => running(marker) === 0);
  // Not passed on to the command (SIGSTOP, SIGALRM, a real-time signal), or none.
  for (const signal of [19, 14, 34, 99])
    await assert.rejects(agent.signalTerminal({ threadId: thread.id, sessionId: two.sessionId, signal }));
});

test('§123 a stop that came while a write was being recorded was lost: it was typed, and a closed thread waited for ever', limit, async () => {
  const raw = await RawClient.connect(daemon, 'agent');
  const call = (threadId, callId, name, args) => raw.request('tool/call', { threadId, callId, tool: name, arguments: args });
  for (const [n, stop] of [
    (threadId, callId) => raw.request('tool/cancel', { threadId, callId }),
    (threadId) => raw.request('turn/interrupt', { threadId }),
    (threadId) => raw.request('thread/close', { threadId }),
  ].entries()) {
    const { id } = (await raw.request('thread/start', { cwd: daemon.workspace })).result.thread;
    await raw.request('turn/start', { threadId: id });
    const file = join(daemon.workspace, `typed-${n}`);
    const begun = await call(id, 'begin', 'exec_command', { cmd: `read -r word; echo $word > ${file}`, tty: true, yield_time_ms: 250 });
    const { sessionId } = begun.result;
    const typed = call(id, 'type', 'write_stdin', { session_id: sessionId, chars: 'word\n', yield_time_ms: 5000 });
    const stopped = stop(id, 'type');
    assert.equal((await typed).result.status, 'interrupted');
    assert.ok((await stopped).result);
    if (n < 2) assert.equal((await raw.request('thread/backgroundTerminals/terminate', { threadId: id, sessionId })).result.found, true);
    assert.equal(existsSync(file), false);
  }
  raw.close();
});

test('§127 an end that was ordered before its thread was closed was never answered', limit, async () => {
  const raw = await RawClient.connect(daemon, 'agent');
  const { id } = (await raw.request('thread/start', { cwd: daemon.workspace })).result.thread;
  const begun = await raw.request('tool/call', {
    threadId: id, callId: 'begin', tool: 'exec_command',
    arguments: { cmd: "trap '' INT TERM; echo up; while :; do sleep 0.05; done", tty: true, yield_time_ms: 250 },
  });
  const ended = raw.request('thread/backgroundTerminals/terminate', { threadId: id, sessionId: begun.result.sessionId });
  const closed = raw.request('thread/close', { threadId: id });
  assert.ok((await closed).result);
  const { error } = await ended;
  assert.deepEqual([error.code, error.data.kind], [-32603, 'cancelled']);
  raw.close();
});
