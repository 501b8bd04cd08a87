// §111 §143 Hosts that are asked about over the endpoint: what was answered for the session is seen and can be taken back, and a
// refused connection is told at once.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { shell, Stage, until } from './daemon.mjs';

const limit = { timeout: 60_000 };
let stage;
let daemon;
let agent;
let reviewer;
let thread;
let decision;
let told;
const asked = [];
const blocked = [];

before(async () => {
  stage = await Stage.start({
    prepare: (own) =>
      own.configure('[permissions.net]\nextends = "workspace-write"\n[permissions.net.network]\nenabled = true\ndomains = { "bad.test" = "deny" }\n'),
    args: ['--profile', 'net'],
    reviewer: async (question) => {
      asked.push(question.networkTarget);
      told = await reviewer.explain({ threadId: question.threadId, requestId: question.requestId });
      return { decision };
    },
  });
  ({ daemon, agent, reviewer } = stage);
  ({ thread } = await agent.startThread({ cwd: daemon.workspace }));
  agent.on('item/network/blocked', (event) => blocked.push(event));
});
after(() => stage?.end());

const fetchFrom = (host, callId) => agent.callTool(shell(thread, `curl -sS -m 20 http://${host}/`, { callId }));
const hosts = async () => (await reviewer.readThread(thread.id)).hosts;

test('§111 an answer about a host for the session is listed, and asked again once it is taken back', limit, async () => {
  decision = 'acceptForSession';
  await fetchFrom('one.test', 'first');
  assert.deepEqual(asked.splice(0), ['http://one.test:80']);
  await fetchFrom('one.test', 'second');
  assert.deepEqual(asked, []);
  const [one, ...more] = await hosts();
  assert.deepEqual([one.host, one.allowed, more], ['http://one.test:80', true, []]);
  const take = () => reviewer.revoke({ threadId: thread.id, kind: 'host', id: one.id });
  assert.equal(await take(), true);
  assert.equal(await take(), false);
  assert.deepEqual(await hosts(), []);
  decision = 'decline';
  const { report } = await fetchFrom('one.test', 'third');
  assert.equal(told.requirement.kind, 'skip');
  assert.match(told.why, /\nasked because: the command wants to connect to http:\/\/one\.test:80, which no rule allows\n$/, '§133a');
  assert.ok(report.why.startsWith(told.why.replace(/asked because: .*\n$/, '')), '§133a the report begins with the same words');
  assert.deepEqual(asked.splice(0), ['http://one.test:80']);
});

test('§143 a refused connection was told only when its command had ended', limit, async () => {
  blocked.length = 0;
  const waits = "curl -sS -m 20 http://bad.test/; until test -e seen; do sleep 0.05; done";
  const call = agent.callTool(shell(thread, waits, { callId: 'waits' }));
  while (blocked.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  writeFileSync(join(daemon.workspace, 'seen'), '');
  await call;
  const [{ itemId, attempt, host, method, reason, rule, message }, ...more] = blocked;
  assert.deepEqual([itemId, attempt, host, method, reason], ['waits', 1, 'http://bad.test:80', 'GET', 'denied_by_rule']);
  assert.match(rule, /^`bad\.test` = deny/);
  assert.match(message, /bad\.test/);
  assert.deepEqual(more, []);
});

test('§113 an answer for good is a rule: it is listed and taken back there, and told as the yes that it is', limit, async () => {
  decision = { applyNetworkPolicyAmendment: { network_policy_amendment: { host: 'good.test', protocol: 'http', port: 80, action: 'allow' } } };
  const told = await fetchFrom('good.test', 'for-good');
  const [review] = told.report.reviews;
  assert.deepEqual([review.decision, review.denies_host], ['network_policy_amendment', false]);
  const rules = join(daemon.base, 'home/.gatehouse/rules/default.rules');
  await until(() => existsSync(rules) && readFileSync(rules, 'utf8').includes('good.test'));
  await fetchFrom('good.test', 'after'); // reads the rules
  assert.deepEqual(await hosts(), []);
  asked.splice(0);
  writeFileSync(rules, '');
  decision = 'decline';
  await fetchFrom('good.test', 'taken-back');
  assert.deepEqual(asked, ['http://good.test:80']);
});

test('§113 a rule for good that could not be written was told to nobody', limit, async () => {
  const rules = join(daemon.base, 'home/.gatehouse/rules/default.rules');
  rmSync(rules, { force: true });
  mkdirSync(rules, { recursive: true });
  const warnings = [];
  agent.on('warning', (event) => warnings.push(event.message));
  decision = { applyNetworkPolicyAmendment: { network_policy_amendment: { host: 'kept.test', protocol: 'http', port: 80, action: 'allow' } } };
  await fetchFrom('kept.test', 'unwritten');
  await until(() => warnings.some((text) => /kept\.test.*this session only/s.test(text)));
  rmSync(rules, { recursive: true });
});
