// §201 Many clients at once, with calls that are asked about, refused, run and cancelled, over connections that break and
// readers that stop reading: every call has its one right outcome, every event comes once, no question is lost, and the
// daemon is afterwards what it was before.
//
// GATEHOUSE_LOAD_SECONDS (10): how long new calls are begun; GATEHOUSE_LOAD_CONNECTIONS (200); GATEHOUSE_LOAD_CALLS in
// flight on each (10; 50 when it is longer than 10 s, as in the second tier of scripts/test).
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { AgentClient, ReviewerClient } from '../../clients/typescript/dist/index.js';
import { CuttingProxy } from './cutting_proxy.mjs';
import { clientInfo, Daemon, sanitized, shell } from './daemon.mjs';

const seconds = Number(process.env.GATEHOUSE_LOAD_SECONDS ?? 10);
const connections = Number(process.env.GATEHOUSE_LOAD_CONNECTIONS ?? 200);
const inFlight = Number(process.env.GATEHOUSE_LOAD_CALLS ?? (seconds > 10 ? 50 : 10));
const reviewers = 3;
const soon = { firstDelayMs: 5, maxDelayMs: 500 };
const limit = { timeout: (seconds * 10 + 600) * 1000 };

let daemon;
before(async () => {
  daemon = new Daemon();
  mkdirSync(join(daemon.base, 'home/.config/gatehouse/rules'), { recursive: true });
  const rules = join(daemon.base, 'load.rules');
  writeFileSync(rules, 'prefix_rule(["forbidden-tool"], "forbidden", justification = "not here")\n');
  // What a thread keeps is soon full, so that the rest of the time shows whether anything else grows; it holds what
  // the open calls say while their reader is away.
  await daemon.run('--rules', rules, '--retain-kib', String(Math.max(128, 10 * inFlight)));
});
after(async () => {
  await daemon?.end();
});

const random = (below) => Math.floor(Math.random() * below);

/** What the daemon has of memory, descriptors and children. */
function weight() {
  const status = readFileSync(`/proc/${daemon.pid}/status`, 'utf8');
  let children = 0;
  for (const task of readdirSync(`/proc/${daemon.pid}/task`))
    children += readFileSync(`/proc/${daemon.pid}/task/${task}/children`, 'utf8').split(' ').filter(Boolean).length;
  return {
    kib: Number(/VmRSS:\s+(\d+)/.exec(status)[1]),
    descriptors: readdirSync(`/proc/${daemon.pid}/fd`).length,
    children,
  };
}

/** Kinds of calls: how often in 100, what is called, what must come of it. */
const kinds = [
  { often: 53, name: 'declined', argv: (id) => ['rm', '-rf', `no-such-${id}`], status: 'declined', message: /said by a person/ },
  { often: 30, name: 'forbidden', argv: (id) => ['forbidden-tool', id], status: 'rejected' },
  { often: 12, name: 'cancelled', argv: (id) => ['rm', '-rf', `no-such-${id}`], status: 'interrupted' },
  { often: 1, name: 'accepted', argv: (id) => ['rm', '-rf', `no-such-${id}`], status: 'completed', output: () => '' },
  {
    often: 4,
    name: 'runs',
    argv: (id) => ['bash', '-c', `for i in 1 2 3; do echo ${id} $i; done`],
    status: 'completed',
    output: (id) => `${id} 1\n${id} 2\n${id} 3\n`,
  },
];
function anyKind() {
  let at = random(100);
  return kinds.find((kind) => (at -= kind.often) < 0);
}

/** Answers what it is asked after a while, by the name that the command bears. */
function decide(question, over) {
  const [kind] = /declined|cancelled|accepted/.exec(question.argv.at(-1)) ?? [];
  if (kind === 'cancelled') return Promise.resolve(undefined);
  const decision = kind === 'accepted' ? 'accept' : 'decline';
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve({ decision, reason: 'said by a person' }), random(3000));
    over.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve(undefined);
    });
  });
}

class Worker {
  calls = new Map(); // id -> {kind, starts, ends, deltas, result}
  faults = [];
  wrong = 0;
  cuts = 0;

  constructor(number) {
    this.number = number;
  }

  async start() {
    this.proxy = await CuttingProxy.to(daemon.url);
    const transport = daemon.tcp('agent', this.proxy.url);
    this.client = await AgentClient.connect({ clientInfo, transport, reconnect: soon });
    ({ thread: this.thread } = await this.client.startThread({ cwd: daemon.workspace }));
    this.#hear('item/started', (call, event) => {
      call.starts += 1;
      call.startSeq = event.seq;
    });
    this.#hear('item/completed', (call, event) => {
      call.ends += 1;
      if (!(event.seq > call.startSeq)) this.fault(event.item.id, 'ended before it started');
    });
    this.client.on('item/commandExecution/outputDelta', (event) => {
      const call = this.calls.get(event.itemId);
      if (call) call.deltas += event.delta;
    });
    this.client.on('thread/events/missed', ({ afterSeq, beforeSeq }) => this.fault('-', `events ${afterSeq} to ${beforeSeq} were missed`));
    this.client.on('threadLost', () => this.fault('-', 'the thread was lost'));
    this.client.on('connected', ({ renewed }) => renewed && this.fault('-', 'the session was lost'));
    this.client.on('closed', ({ error }) => error && this.fault('-', `closed: ${error.message}`));
  }

  #hear(method, act) {
    this.client.on(method, (event) => {
      const call = this.calls.get(event.item.id);
      if (call) act(call, event);
    });
  }

  fault(id, what) {
    this.wrong += 1;
    if (this.faults.length < 5) this.faults.push(`${this.thread?.id} ${id}: ${what}`);
  }

  async one(serial) {
    const kind = anyKind();
    const id = `${kind.name}-${this.number}-${serial}`;
    const call = { kind, starts: 0, ends: 0, deltas: '' };
    this.calls.set(id, call);
    if (kind.name === 'cancelled')
      setTimeout(() => {
        this.client.cancelCall({ threadId: this.thread.id, callId: id }).catch((e) => this.fault(id, e.message));
      }, 200 + random(2000));
    try {
      const result = await this.client.callTool(shell(this.thread, kind.argv(id), { callId: id }));
      if (result.status !== kind.status) this.fault(id, `${result.status} instead of ${kind.status}: ${result.message}`);
      else if (kind.message && !kind.message.test(result.message)) this.fault(id, result.message);
      if (kind.output && result.output !== kind.output(id)) this.fault(id, `output ${JSON.stringify(result.output)}`);
    } catch (error) {
      this.fault(id, `failed: ${error.message}`);
    }
    // The answer may come before the events that are on another way; they are due soon after.
    call.answered = true;
  }

  async work(until_ms) {
    let serial = 0;
    const lane = async () => {
      while (Date.now() < until_ms) await this.one(++serial);
    };
    await Promise.all(Array.from({ length: inFlight }, lane));
  }

  /** Breaks, or holds up, this connection again and again. */
  async trouble(working) {
    let over = false;
    working.then(() => (over = true));
    for (;;) {
      await Promise.race([working, sleep(500 + random(8000))]);
      if (over) return;
      switch (random(4)) {
        case 0: // gone, and nobody knows for a moment
          this.proxy.freeze();
          await sleep(random(300));
          this.proxy.cut();
          break;
        case 1:
          this.proxy.stall();
          await sleep(random(3000));
          this.proxy.flow();
          continue;
        default:
          this.proxy.cut();
      }
      this.cuts += 1;
    }
  }

  async settle() {
    const open = () => [...this.calls].filter(([, call]) => call.ends !== 1 || call.starts !== 1);
    const end = Date.now() + 30_000;
    while (open().length > 0 && Date.now() < end) await sleep(20);
    for (const [id, call] of open()) this.fault(id, `${call.starts} starts and ${call.ends} ends were heard`);
    for (const [id, call] of this.calls)
      if (call.kind.output && call.deltas !== call.kind.output(id)) this.fault(id, `deltas ${JSON.stringify(call.deltas)}`);
  }

  close() {
    this.client.close();
    this.proxy.close();
  }
}

async function startReviewer() {
  const proxy = await CuttingProxy.to(daemon.url);
  const answered = { count: 0 };
  const client = await ReviewerClient.connect({
    clientInfo,
    transport: daemon.tcp('reviewer', proxy.url),
    reconnect: soon,
    approvals: async (question, over) => {
      const said = await decide(question, over);
      if (said) answered.count += 1;
      return said;
    },
  });
  return { proxy, client, answered };
}

test(`§201 ${connections} connections with ${inFlight} calls each, for ${seconds} s`, limit, async (t) => {
  const desk = await Promise.all(Array.from({ length: reviewers }, startReviewer));
  const workers = Array.from({ length: connections }, (_, n) => new Worker(n));
  t.after(() => {
    for (const { client, proxy } of [...desk, ...workers]) {
      client?.close();
      proxy?.close();
    }
  });
  for (const worker of workers) await worker.start();
  const before = weight();
  const began = Date.now();
  const until_ms = began + seconds * 1000;

  const weights = [];
  const watch = setInterval(() => weights.push({ at: Date.now() - began, ...weight() }), 500);
  const deskTrouble = desk.map(async ({ proxy }) => {
    while (Date.now() < until_ms) {
      await sleep(1000 + random(4000));
      proxy.cut();
    }
  });
  const working = Promise.all(workers.map((w) => w.work(until_ms)));
  // Connections break also while the last calls end.
  const troubles = workers.map((w) => w.trouble(working));
  await working;
  await Promise.all([...troubles, ...deskTrouble]);
  const drained = (Date.now() - began) / 1000;
  await Promise.all(workers.map((w) => w.settle()));
  clearInterval(watch);

  const questions = (await desk[0].client.listApprovals()).length;
  const calls = workers.reduce((sum, w) => sum + w.calls.size, 0);
  const cuts = workers.reduce((sum, w) => sum + w.cuts, 0);
  const wrong = workers.reduce((sum, w) => sum + w.wrong, 0);
  const most = (what) => Math.max(...weights.map((w) => w[what]));
  t.diagnostic(
    `${calls} calls, ${(calls / drained).toFixed(0)}/s, ${cuts} cuts, ${desk.map((d) => d.answered.count)} answers, ` +
      `drained after ${drained.toFixed(1)} s`,
  );
  t.diagnostic(`memory ${before.kib >> 10} MiB at first, ${most('kib') >> 10} MiB at most; ${most('descriptors')} descriptors, ${most('children')} children at most`);
  const quarter = (n) => {
    const part = weights.filter((w) => w.at < seconds * 1000).filter((_, i, all) => Math.floor((4 * i) / all.length) === n);
    return part.reduce((sum, w) => sum + w.kib, 0) / Math.max(part.length, 1);
  };
  t.diagnostic(`memory by quarters: ${[0, 1, 2, 3].map((n) => (quarter(n) / 1024).toFixed(0)).join(', ')} MiB`);
  assert.equal(wrong, 0, workers.flatMap((w) => w.faults).slice(0, 20).join('\n'));
  assert.equal(questions, 0, 'questions still stand');

  // What they had is given back when they are gone.
  await Promise.all(workers.map((w) => w.client.closeThread(w.thread.id)));
  for (const worker of workers) worker.close();
  const spare = 96 << 10; // KiB: what the C library keeps, what the audit has yet to write
  const settled = () => {
    const now = weight();
    return now.descriptors <= before.descriptors && now.children === 0 && (sanitized || now.kib < before.kib + spare);
  };
  const end = Date.now() + 30_000;
  while (!settled() && Date.now() < end) await sleep(100);
  const last = weight();
  t.diagnostic(`at the end ${last.kib >> 10} MiB, ${last.descriptors} descriptors (${before.descriptors} at first), ${last.children} children`);
  assert.ok(settled(), JSON.stringify({ before, last }));
});
