import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { AgentClient, ConnectionLostError, ReviewerClient, SessionLostError, webSocketTransport } from '../dist/index.js';
import { ScriptedEndpoint, soon, until } from './scripted-endpoint.mjs';

const limit = { timeout: 20_000 };
let endpoint;
let client;

beforeEach(async () => {
  endpoint = await ScriptedEndpoint.listen();
});
afterEach(() => {
  client?.close();
  client = undefined;
  endpoint.close();
});

const options = (more = {}) => ({
  transport: webSocketTransport(endpoint.url),
  clientInfo: { name: 'test' },
  reconnect: soon,
  ...more,
});

async function agentWithThread() {
  client = await AgentClient.connect(options());
  const heard = [];
  client.on('warning', (event) => heard.push(event.seq));
  await client.startThread({ cwd: '/' });
  return heard;
}

test('§201 events that were on their way at the cut come once, in order', limit, async () => {
  const heard = await agentWithThread();
  endpoint.emit();
  await until(() => heard.length === 1);
  endpoint.emit(true);
  endpoint.emit(true);
  endpoint.cut();
  await until(() => heard.length >= 4); // the fourth is sent right after the resumption, before the lost ones
  endpoint.emit();
  await until(() => heard.length >= 5);
  assert.deepEqual(heard, [1, 2, 3, 4, 5]);
});

test('§201 a call goes on across a cut under its id, and is answered once', limit, async () => {
  await agentWithThread();
  const result = client.callTool({ threadId: 't', callId: 'c1', tool: 'shell_command', arguments: {} });
  await until(() => endpoint.requests.some((r) => r.method === 'tool/call'));
  endpoint.cut();
  await until(() => endpoint.requests.filter((r) => r.method === 'tool/call').length === 2);
  endpoint.finish('c1', 'done');
  assert.equal((await result).output, 'done');
  const [first, second] = endpoint.requests.filter((r) => r.method === 'tool/call');
  assert.deepEqual(first, second);
});

test('§201 a call that ended while the connection was away gives its result', limit, async () => {
  await agentWithThread();
  const result = client.callTool({ threadId: 't', callId: 'c1', tool: 'shell_command', arguments: {} });
  await until(() => endpoint.requests.some((r) => r.method === 'tool/call'));
  endpoint.cut();
  endpoint.finish('c1', 'meanwhile');
  assert.equal((await result).output, 'meanwhile');
});

test('a request that must not be repeated fails at a cut, and one that waits for the connection is sent', limit, async () => {
  await agentWithThread();
  const doubtful = client.startTurn({ threadId: 't' });
  await until(() => endpoint.requests.some((r) => r.method === 'turn/start'));
  endpoint.cut();
  await assert.rejects(doubtful, ConnectionLostError);
  await client.completeTurn({ threadId: 't' });
  assert.equal(endpoint.requests.filter((r) => r.method === 'turn/start').length, 1);
});

test('a call is never sent again into another session', limit, async () => {
  await agentWithThread();
  const result = client.callTool({ threadId: 't', callId: 'c1', tool: 'shell_command', arguments: {} });
  await until(() => endpoint.requests.some((r) => r.method === 'tool/call'));
  const renewed = new Promise((resolve) => client.on('connected', resolve));
  endpoint.session = 'session-2';
  endpoint.cut();
  await assert.rejects(result, SessionLostError);
  assert.equal((await renewed).renewed, true);
  assert.equal(endpoint.requests.filter((r) => r.method === 'tool/call').length, 1);
});

const question = { requestId: 'q1', threadId: 't', itemId: 'c1', actionDigest: 'd', availableDecisions: ['accept'] };

test('a question is shown once across a cut, and the answer that was given meanwhile is sent', limit, async () => {
  endpoint.authority = 'reviewer';
  endpoint.question = question;
  const shown = [];
  let say;
  client = await ReviewerClient.connect(
    options({
      approvals: (asked) => {
        shown.push(asked.requestId);
        return new Promise((resolve) => (say = resolve));
      },
    }),
  );
  await until(() => shown.length === 1);
  endpoint.cut();
  say({ decision: 'accept' });
  await until(() => endpoint.responses.length > 0);
  assert.deepEqual(shown, ['q1']);
  assert.deepEqual(endpoint.responses[0].result, { decision: 'accept' });
});

test('a question that was answered elsewhere is withdrawn from its handler', limit, async () => {
  endpoint.authority = 'reviewer';
  endpoint.question = question;
  let over;
  client = await ReviewerClient.connect(
    options({
      approvals: (asked, signal) => {
        over = signal;
        return new Promise(() => {});
      },
    }),
  );
  await until(() => over);
  endpoint.send({ method: 'serverRequest/resolved', params: { threadId: 't', seq: 1, requestId: 'q1' } });
  await until(() => over.aborted);
});

test('a reviewer client refuses the credential of an agent, and the other way round', limit, async () => {
  await assert.rejects(ReviewerClient.connect(options()), /credential of an? reviewer/);
  endpoint.authority = 'reviewer';
  await assert.rejects(AgentClient.connect(options()), /credential of an agent/);
});

/** What listeners throw, instead of an end of the test. */
function uncaught(t) {
  const thrown = [];
  const later = globalThis.queueMicrotask;
  t.mock.method(globalThis, 'queueMicrotask', (run) =>
    later(() => {
      try {
        run();
      } catch (error) {
        thrown.push(error.message);
      }
    }),
  );
  return thrown;
}

test('§201 a listener that throws does not keep the client away for ever, or reconnecting for ever', limit, async (t) => {
  const thrown = uncaught(t);
  await agentWithThread();
  for (const event of ['disconnected', 'connected', 'threadLost', 'warning'])
    client.on(event, () => {
      throw new Error(event);
    });
  const heard = [];
  client.on('warning', (event) => heard.push(event.seq)); // a listener behind one that throws
  client.session.follow('gone', 0);
  endpoint.cut();
  assert.equal((await client.listThreads()).length, 1);
  endpoint.emit();
  await until(() => heard.length > 0);
  assert.equal(client.connected, true);
  assert.equal(endpoint.requests.filter((r) => r.method === 'initialize').length, 2);
  await until(() => thrown.length >= 4);
  assert.deepEqual([...new Set(thrown)].sort(), ['connected', 'disconnected', 'threadLost', 'warning']);
});

test('a listener of the end that throws leaves no request waiting', limit, async (t) => {
  const thrown = uncaught(t);
  client = await AgentClient.connect(options({ reconnect: false }));
  client.on('closed', () => {
    throw new Error('closed');
  });
  const waiting = client.startTurn({ threadId: 't' });
  await until(() => endpoint.requests.some((r) => r.method === 'turn/start'));
  endpoint.cut();
  await assert.rejects(waiting, ConnectionLostError);
  await assert.rejects(client.listThreads(), ConnectionLostError);
  await until(() => thrown.length === 1);
});
