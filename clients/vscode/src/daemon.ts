// The daemon that this window uses: one of its own, or one that runs already.
import { unixSocketTransport, webSocketTransport } from '@gatehouse/client';
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Settings } from './settings.js';

type Transport = ReturnType<typeof webSocketTransport>;

export interface Daemon {
  readonly address: string;
  transport(authority: 'agent' | 'reviewer'): Transport;
  /** Ends a daemon of our own; one that was attached goes on. */
  end(): void;
}

function stateFolder(): string {
  const state = process.env.XDG_STATE_HOME;
  return join(state?.startsWith('/') ? state : join(homedir(), '.local/state'), 'gatehouse');
}

function at(address: string, tokens: string, end: () => void): Daemon {
  return {
    address,
    end,
    transport(authority) {
      const token = async () => (await readFile(join(tokens, `${authority}.token`), 'utf8')).trim();
      return address.startsWith('unix://')
        ? unixSocketTransport(address.slice('unix://'.length), { token })
        : webSocketTransport(address, { token });
    },
  };
}

export function attach(settings: Settings): Daemon {
  if (!/^(ws|unix):\/\//.test(settings.address))
    throw new Error('set gatehouse.address to what `gatehouse serve` prints (ws://127.0.0.1:PORT or unix:///PATH)');
  return at(settings.address, settings.tokens || join(stateFolder(), 'tokens'), () => {});
}

/** Starts `gatehouse serve` for `folder`; `ended` is called when it ends by itself. */
export async function start(settings: Settings, folder: string, ended: (why: string) => void): Promise<Daemon> {
  const args = ['serve', '--listen', 'ws://127.0.0.1:0', '--root', folder, '--cwd', folder];
  if (settings.profile) args.push('--profile', settings.profile);
  if (settings.approvalPolicy) args.push('--ask', settings.approvalPolicy);
  const child = spawn(settings.program, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors = (errors + text).slice(-4000)));
  let stopping = false;
  const address = await new Promise<string>((resolve, reject) => {
    let out = '';
    child.once('error', (why) =>
      reject(new Error(`cannot start ${settings.program}: ${why.message}; install Gatehouse or set gatehouse.program`)),
    );
    child.once('close', (code) => {
      reject(new Error(`gatehouse serve ended (${code}): ${errors.trim()}`));
      if (!stopping) ended(errors.trim());
    });
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text;
      const line = out.indexOf('\n');
      if (line >= 0) resolve(out.slice(0, line));
    });
  });
  return at(address, join(stateFolder(), 'tokens'), () => {
    stopping = true;
    child.kill('SIGTERM');
  });
}
