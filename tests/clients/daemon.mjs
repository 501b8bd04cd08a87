// The real daemon, with a home, state and workspace of its own below a temporary folder.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AgentClient, ReviewerClient, unixSocketTransport, webSocketTransport } from '../../clients/typescript/dist/index.js';

export const gatehouse = join(process.env.GATEHOUSE_BUILD_DIR, 'gatehouse');
/** Built with a sanitizer: then memory is also the sanitizer's. */
export const sanitized = Boolean(process.env.GATEHOUSE_SANITIZER);
/** A command that is asked about, and harmless: what it names does not exist. */
export const dangerous = ['rm', '-rf', 'no-such-thing'];
export const soon = { firstDelayMs: 5, maxDelayMs: 100 };
export const clientInfo = { name: 'test' };

// What a test leaves behind when it fails ends with its file, however that ends: the runner exits once all tests are
// over (--test-force-exit), whatever still keeps its event loop alive.
const leftovers = new Set();
process.on('exit', () => {
  for (const end of [...leftovers].reverse())
    try {
      end();
    } catch {
      // the others are to be ended all the same
    }
});
/** `end` is called at the end of the process, unless what this returns was called before; it cannot wait. */
export function endsWithUs(end) {
  leftovers.add(end);
  return () => leftovers.delete(end);
}
/** As spawn; the program ends with us at the latest. */
export function start(program, args, options) {
  const child = spawn(program, args, options);
  child.once('exit', endsWithUs(() => child.kill('SIGKILL')));
  return child;
}

export class Daemon {
  base = mkdtempSync('/var/tmp/gatehouse-test-');
  workspace = join(this.base, 'ws');
  socket = join(this.base, 'gh.sock');
  errors = '';
  #kept = endsWithUs(() => this.#remove());
  #child;
  #stopping = false;

  constructor() {
    mkdirSync(this.workspace);
    mkdirSync(join(this.base, 'home'));
  }

  static async start(...args) {
    const daemon = new Daemon();
    await daemon.run(...args);
    return daemon;
  }

  get env() {
    const home = join(this.base, 'home');
    return {
      HOME: home,
      XDG_STATE_HOME: join(home, 'state'),
      PATH: '/usr/local/bin:/usr/bin:/bin',
      LANG: 'C.UTF-8',
      SHELL: '/bin/bash',
    };
  }

  /** Writes the user's config.toml, before it runs or for it to find. */
  configure(text) {
    const home = join(this.base, 'home/.gatehouse');
    mkdirSync(home, { recursive: true });
    writeFileSync(join(home, 'config.toml'), text);
  }

  /** Also again, after `stop`. */
  async run(...args) {
    const port = this.url ? new URL(this.url).port : '0';
    const all = ['serve', '--listen', `ws://127.0.0.1:${port}`, '--listen', `unix://${this.socket}`];
    all.push('--root', this.workspace, '--cwd', this.workspace, ...args);
    if (!args.includes('--profile')) all.push('--profile', 'workspace-write');
    this.errors = '';
    const child = start(gatehouse, all, { env: this.env, cwd: this.workspace, stdio: ['ignore', 'pipe', 'pipe'] });
    this.#child = child;
    this.#stopping = false;
    child.stderr.setEncoding('utf8').on('data', (text) => (this.errors += text));
    child.once('exit', (code, signal) => {
      if (!this.#stopping) console.error(`the daemon ended by itself (${signal ?? code}): ${this.errors}`);
    });
    let out = '';
    await new Promise((resolve, reject) => {
      const tooLong = () => reject(new Error(`the daemon has not said where it listens: ${out}${this.errors}`));
      setTimeout(tooLong, 60_000).unref();
      child.stdout.setEncoding('utf8').on('data', (text) => {
        out += text;
        if (out.split('\n').length > 2) resolve();
      });
      child.once('exit', (code) => reject(new Error(`the daemon ended (${code}): ${this.errors}`)));
    });
    this.url = out.split('\n')[0];
  }

  get pid() {
    return this.#child.pid;
  }

  /** The exit status of the daemon after the signal. */
  async stop(signal = 'SIGTERM') {
    const child = this.#child;
    this.#stopping = true;
    if (!child) return undefined; // only its folders were used
    if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
    const ended = new Promise((resolve) => child.once('close', resolve));
    child.kill(signal);
    return await ended;
  }

  async end() {
    await this.stop('SIGKILL');
    this.#kept();
    this.#remove();
  }

  #remove() {
    rmSync(this.base, { recursive: true, force: true });
  }

  token(authority) {
    return readFileSync(join(this.env.XDG_STATE_HOME, `gatehouse/tokens/${authority}.token`), 'utf8').trim();
  }

  tcp(authority, url = this.url) {
    return webSocketTransport(url, { token: () => this.token(authority) });
  }

  unix(authority) {
    return unixSocketTransport(this.socket, { token: this.token(authority) });
  }
}

/**
 * What most tests begin with: a daemon and an agent over its Unix socket.
 * prepare(daemon): makes files before it runs; args: of `serve`; reviewer: true, or what answers its questions.
 */
export class Stage {
  static async start({ prepare, args = [], reviewer } = {}) {
    const stage = new Stage();
    stage.daemon = new Daemon();
    try {
      await prepare?.(stage.daemon);
      await stage.daemon.run(...args);
      stage.agent = await AgentClient.connect({ clientInfo, transport: stage.daemon.unix('agent'), reconnect: soon });
      if (reviewer) {
        const approvals = typeof reviewer === 'function' ? { approvals: reviewer } : {};
        stage.reviewer = await ReviewerClient.connect({
          clientInfo,
          transport: stage.daemon.tcp('reviewer'),
          reconnect: soon,
          ...approvals,
        });
      }
    } catch (error) {
      await stage.end();
      throw error;
    }
    return stage;
  }

  async end() {
    this.agent?.close();
    this.reviewer?.close();
    await this.daemon.end();
  }
}

/** Resolves when `holds()` does; the test's own limit ends it otherwise. */
export async function until(holds) {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 5));
}

/** The processes below this one, whatever group they are in. */
export function descendants(pid) {
  const below = [];
  try {
    for (const task of readdirSync(`/proc/${pid}/task`))
      below.push(...readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' ').filter(Boolean).map(Number));
  } catch {
    return []; // it has ended
  }
  return below.flatMap((child) => [child, ...descendants(child)]);
}

/** How many processes have `marker` in their command line. */
export function running(marker) {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(marker);
      } catch {
        return false;
      }
    }).length;
}

export const shell = (thread, command, more = {}) => ({
  threadId: thread.id,
  tool: 'shell_command',
  arguments: typeof command === 'string' ? { command } : { argv: command },
  ...more,
});
