// §50 §D13 Who may answer, and which answer counts.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ReviewerClient } from '../../clients/typescript/dist/index.js';
import { clientInfo, dangerous, shell, soon, Stage, until } from './daemon.mjs';
import { RawClient } from './raw_client.mjs';

const limit = { timeout: 60_000 };
const approvals = { gatehouse: { approvals: true } };
let stage;
let daemon;
let agent;

before(async () => {
  stage = await Stage.start();
  ({ daemon, agent } = stage);
});
after(() => stage?.end());

async function reviewer() {
  const asked = [];
  const over = [];
  const client = await ReviewerClient.connect({
    clientInfo,
    transport: daemon.tcp('reviewer'),
    reconnect: soon,
    approvals: (question, signal) => {
      asked.push(question);
      signal.addEventListener('abort', () => over.push(question.requestId));
      return Promise.resolve(undefined);
    },
  });
  return { client, asked, over };
}

async function proposed() {
  const { thread } = await agent.startThread({ cwd: daemon.workspace });
  return { thread, call: agent.callTool(shell(thread, dangerous)) };
}

test('§50 two reviewers are asked; the first answer counts, the other is told and comes too late', limit, async () => {
  const [a, b] = [await reviewer(), await reviewer()];
  const { call } = await proposed();
  await until(() => a.asked.length === 1 && b.asked.length === 1);
  assert.deepEqual(a.asked[0], b.asked[0]);
  await a.client.resolveApproval(a.asked[0], 'accept');
  assert.equal((await call).status, 'completed');
  await until(() => b.over.length === 1);
  await assert.rejects(b.client.resolveApproval(b.asked[0], 'decline'), { kind: 'notTaken' });
  a.client.close();
  b.client.close();
});

test('§50 two answers at the same moment: exactly one is taken', limit, async () => {
  const [a, b] = [await reviewer(), await reviewer()];
  const { call } = await proposed();
  await until(() => a.asked.length === 1 && b.asked.length === 1);
  const said = await Promise.allSettled([
    a.client.resolveApproval(a.asked[0], 'accept'),
    b.client.resolveApproval(b.asked[0], 'decline'),
  ]);
  assert.equal(said.filter((one) => one.status === 'fulfilled').length, 1);
  const taken = said[0].status === 'fulfilled' ? 'completed' : 'declined';
  assert.equal((await call).status, taken);
  a.client.close();
  b.client.close();
});

test('a reviewer that is dropped leaves its question to the other, and to one that comes', limit, async () => {
  const a = await reviewer();
  const { call, thread } = await proposed();
  await until(() => a.asked.length === 1);
  a.client.close();
  const b = await reviewer();
  await until(() => b.asked.some((one) => one.threadId === thread.id));
  assert.equal(b.asked[0].requestId, a.asked[0].requestId);
  assert.equal((await b.client.listApprovals(thread.id)).length, 1);
  await b.client.resolveApproval(b.asked[0], 'accept');
  assert.equal((await call).status, 'completed');
  b.client.close();
});

test('an answer that is replayed, late, for another digest or not on offer is not taken', limit, async () => {
  const a = await reviewer();
  const { call, thread } = await proposed();
  await until(() => a.asked.length === 1);
  const question = a.asked[0];
  const standing = async () => (await a.client.listApprovals(thread.id)).length;
  await assert.rejects(a.client.resolveApproval({ ...question, actionDigest: 'x' }, 'accept'), { kind: 'notTaken' });
  assert.equal(await standing(), 1);
  const wider = { acceptWithExecpolicyAmendment: { execpolicy_amendment: ['rm'] } };
  await assert.rejects(a.client.resolveApproval(question, wider), { kind: 'invalidParams' });
  await assert.rejects(a.client.resolveApproval(question, 'yes'), { kind: 'invalidParams' });
  assert.equal(await standing(), 1);
  await a.client.resolveApproval(question, 'accept');
  await assert.rejects(a.client.resolveApproval(question, 'accept'), { kind: 'notTaken' });
  assert.equal((await call).status, 'completed');
  // The same command again is another question; the old answer is none to it.
  const again = agent.callTool(shell(thread, dangerous));
  await until(() => a.asked.length === 2);
  await assert.rejects(a.client.resolveApproval(question, 'accept'), { kind: 'notTaken' });
  await assert.rejects(a.client.resolveApproval({ ...question, requestId: a.asked[1].requestId, actionDigest: '' }, 'accept'), {
    kind: 'notTaken',
  });
  await a.client.resolveApproval(a.asked[1], 'decline');
  assert.equal((await again).status, 'declined');
  a.client.close();
});

test('a malformed answer to the server’s request declines', limit, async () => {
  const raw = await RawClient.connect(daemon, 'reviewer', { capabilities: approvals });
  const { call, thread } = await proposed();
  const request = () => raw.messages.find((m) => m.method?.endsWith('requestApproval') && m.params.threadId === thread.id);
  await until(request);
  raw.send(JSON.stringify({ jsonrpc: '2.0', id: request().id, result: { decision: 'certainly' } }));
  assert.equal((await call).status, 'declined');
  raw.close();
});

test('§D13 an agent cannot approve its own call, whatever it sends', limit, async () => {
  const a = await reviewer();
  const { call, thread } = await proposed();
  await until(() => a.asked.length === 1);
  const question = a.asked[0];
  const evil = await RawClient.connect(daemon, 'agent', { initialize: false });
  const wish = { clientInfo: { name: 'evil' }, capabilities: approvals };
  assert.equal((await evil.request('initialize', wish)).error.data.kind, 'authority');
  assert.ok((await evil.request('initialize', { clientInfo: wish.clientInfo })).result);
  const { threadId, requestId, actionDigest } = question;
  await evil.request('thread/resume', { threadId, afterSeq: 0 });
  for (const [method, params] of [
    ['approval/resolve', { threadId, requestId, actionDigest, decision: 'accept' }],
    ['approval/list', {}],
    ['grant/revoke', { threadId, kind: 'grant', id: 1 }],
  ])
    assert.equal((await evil.request(method, params)).error.data.kind, 'authority', method);
  // An answer to a request that it was never sent, under each form of id.
  for (const id of [requestId, requestId.replace(/^review-/, '')])
    evil.send(JSON.stringify({ jsonrpc: '2.0', id, result: { decision: 'accept' } }));
  // The session of the reviewer, with the agent's credential.
  const thief = await RawClient.connect(daemon, 'agent', { initialize: false });
  const stolen = await thief.request('initialize', {
    clientInfo: { name: 'thief' },
    resumeSessionId: a.client.facts.sessionId,
    takeover: true,
  });
  assert.equal(stolen.error.data.kind, 'unknownSession');
  assert.equal((await a.client.listApprovals(thread.id)).length, 1);
  assert.ok(!evil.messages.some((m) => m.method?.endsWith('requestApproval')));
  await a.client.resolveApproval(question, 'decline');
  assert.equal((await call).status, 'declined');
  for (const one of [evil, thief]) one.close();
  a.client.close();
});

test('§D13 a reviewer cannot propose calls', limit, async () => {
  const raw = await RawClient.connect(daemon, 'reviewer');
  const { thread } = await agent.startThread({ cwd: daemon.workspace });
  const told = await raw.request('tool/call', { ...shell(thread, 'true'), callId: 'c' });
  assert.equal(told.error.data.kind, 'authority');
  raw.close();
});

test('a connection that was cut answers its question after it has come back', limit, async () => {
  const first = await RawClient.connect(daemon, 'reviewer', { capabilities: approvals });
  const { call, thread } = await proposed();
  const request = (raw) => raw.messages.find((m) => m.method?.endsWith('requestApproval') && m.params.threadId === thread.id);
  await until(() => request(first));
  first.close();
  const second = await RawClient.connect(daemon, 'reviewer', { initialize: false });
  const resumed = await second.request('initialize', {
    clientInfo: { name: 'raw' },
    resumeSessionId: first.facts.sessionId,
    takeover: true,
  });
  assert.equal(resumed.result.resumed, true);
  await until(() => request(second));
  assert.equal(request(second).id, request(first).id);
  second.send(JSON.stringify({ jsonrpc: '2.0', id: request(second).id, result: { decision: 'accept' } }));
  assert.equal((await call).status, 'completed');
  second.close();
});
