// §16a §53 A yes, a grant and a root of a thread are about what really stands there, not about a name that an agent's
// own commands can give to something else.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Stage } from './daemon.mjs';

const limit = { timeout: 60_000 };
let stage;
let daemon;
let agent;
let reviewer;
let decision;
const asked = [];

before(async () => {
  stage = await Stage.start({
    reviewer: (question) => {
      asked.push(question);
      return Promise.resolve({ decision });
    },
  });
  ({ daemon, agent, reviewer } = stage);
  mkdirSync(out());
});
after(() => stage?.end());

const out = (name = '') => join(daemon.base, 'out', name);
const ws = (name) => join(daemon.workspace, name);
const newThread = async (cwd = daemon.workspace) => (await agent.startThread({ cwd })).thread;
const shell = (thread, command, more = {}) => ({
  threadId: thread.id,
  tool: 'shell_command',
  arguments: { command, ...more },
});
const escalated = { sandbox_permissions: 'require_escalated', justification: 'test' };
/** The result of a call and the questions that it asked, all answered by `say`. */
async function run(call, say = 'decline') {
  decision = say;
  asked.length = 0;
  const result = await agent.callTool(call);
  return { ...result, questions: [...asked] };
}
const wish = (thread, ...write) => ({
  threadId: thread.id,
  tool: 'request_permissions',
  arguments: { permissions: { file_system: { write } }, reason: 'to build' },
});

test('§53 an approval for the session held for another folder that the agent had put in its place', limit, async () => {
  const thread = await newThread();
  mkdirSync(ws('d'));
  const call = () => shell(thread, 'touch $(date +%s%N)', { workdir: ws('d'), ...escalated });
  const first = await run(call(), 'acceptForSession');
  assert.equal(first.exitCode, 0, first.message);
  assert.equal((await run(call())).questions.length, 0);
  assert.equal((await run(shell(thread, `mv d d_; ln -s ${out()} d`))).exitCode, 0);
  assert.equal((await run(call())).questions.length, 1);
  assert.deepEqual(readdirSync(out()), []);
});

test('§53 an approval for the session outlived the script that it was given for', limit, async () => {
  const thread = await newThread();
  writeFileSync(ws('s.sh'), 'echo GOOD\n');
  const call = () => shell(thread, 'sh s.sh', escalated);
  const first = await run(call(), 'accept');
  assert.match(first.output, /GOOD/);
  assert.ok(!first.questions[0].availableDecisions.includes('acceptForSession'));
  assert.match(first.questions[0].willBeAllowed, /Only this once: .*s\.sh/);
  await run(shell(thread, `echo 'touch ${out('evil')}' > s.sh`));
  assert.equal((await run(call())).questions.length, 1);
  assert.equal(existsSync(out('evil')), false);
  // What the agent cannot change may be approved for the session.
  const other = await run(shell(thread, 'true', escalated), 'acceptForSession');
  assert.ok(other.questions[0].availableDecisions.includes('acceptForSession'));
  assert.equal((await run(shell(thread, 'true', escalated))).questions.length, 0);
});

test('§16a permissions were asked for by the name of a link, and granted where it leads', limit, async () => {
  const thread = await newThread();
  assert.equal((await run(shell(thread, `ln -s ${out()} lnk; ln -s ${out()} lk2`))).exitCode, 0);
  const given = await run(wish(thread, ws('lnk')), 'acceptForSession');
  assert.ok(given.questions[0].willBeAllowed.includes(`write ${out()}`), given.questions[0].willBeAllowed);
  const { grants } = await reviewer.readThread(thread.id);
  assert.deepEqual(grants.map((one) => one.permissions), [{ fileSystem: { write: [out()] } }]);
  const more = { sandbox_permissions: 'with_additional_permissions', justification: 'test' };
  const other = join(daemon.base, 'out2');
  mkdirSync(other);
  symlinkSync(other, ws('lk3'));
  const call = () =>
    shell(thread, 'touch lk3/z', { ...more, additional_permissions: { file_system: { write: [ws('lk3')] } } });
  const once = await run(call(), 'acceptForSession');
  assert.ok(once.questions[0].willBeAllowed.includes(`write ${other}`), once.questions[0].willBeAllowed);
  assert.equal((await run(call())).questions.length, 0);
  const secret = join(daemon.base, 'secret');
  mkdirSync(secret);
  assert.equal((await run(shell(thread, `rm lk3; ln -s ${secret} lk3`))).exitCode, 0);
  assert.equal((await run(call())).questions.length, 1);
  assert.deepEqual(readdirSync(secret), []);
});

test('§16a a grant for a path that was not there held for the link put in its place', limit, async () => {
  const thread = await newThread();
  const secret = join(daemon.base, 'secret2');
  mkdirSync(secret);
  await run(wish(thread, ws('gd/x')), 'acceptForSession');
  await run(shell(thread, `mkdir -p gd; ln -s ${secret} gd/x`));
  await run(shell(thread, 'touch gd/x/viaB'));
  assert.deepEqual(readdirSync(secret), []);
});

test('§63 a grant opened protected names and the folders of Gatehouse itself', limit, async () => {
  const thread = await newThread();
  mkdirSync(ws('.git/hooks'), { recursive: true });
  const home = join(daemon.base, 'home/.gatehouse');
  mkdirSync(home, { recursive: true });
  for (const path of [ws('.git/hooks'), home, join(home, 'rules'), join(daemon.base, 'home/state/gatehouse')]) {
    const no = await run(wish(thread, path), 'acceptForSession');
    assert.equal(no.questions.length, 0, path);
    assert.match(no.message, /no grant opens what is protected/);
    await run(shell(thread, `touch ${path}/zz`));
    assert.equal(existsSync(join(path, 'zz')), false, path);
  }
  const part = await run(wish(thread, out(), ws('.git/hooks')), 'acceptForSession');
  assert.match(part.questions[0].willBeAllowed, /Protected, and opened by no grant: write .*\.git\/hooks/);
  await run(shell(thread, 'touch .git/hooks/zz'));
  assert.equal(existsSync(ws('.git/hooks/zz')), false);
  const named = { sandbox_permissions: 'with_additional_permissions', justification: 'test' };
  const additional_permissions = { file_system: { write: [ws('.git/hooks')] } };
  const once = await run(shell(thread, 'true', { ...named, additional_permissions }));
  assert.match(once.questions[0].willBeAllowed, /PROTECTED: write .*\.git\/hooks/);
});

test('§50 the root of a thread was a name, which another thread gave to a folder elsewhere', limit, async () => {
  const above = await newThread();
  const elsewhere = join(daemon.base, 'elsewhere');
  mkdirSync(elsewhere);
  await run(shell(above, 'mkdir root'));
  const below = await newThread(ws('root'));
  assert.equal((await run(shell(below, 'touch before'))).exitCode, 0);
  await run(shell(above, `mv root root_; ln -s ${elsewhere} root`));
  const swapped = await run(shell(below, 'touch fromswap'));
  assert.match(swapped.message, /leads elsewhere than when the session began/);
  const patch = '*** Begin Patch\n*** Add File: viaPatch\n+x\n*** End Patch';
  await run({ threadId: below.id, tool: 'apply_patch', arguments: { patch } });
  assert.deepEqual(readdirSync(elsewhere), []);
});
