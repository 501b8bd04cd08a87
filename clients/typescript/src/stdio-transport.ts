import { spawn } from 'node:child_process';
import type { Transport, Wire, WireEnd } from './wire.js';

export interface StdioOptions {
  program: string;
  args: string[];
  env?: NodeJS.ProcessEnv;
  cwd?: string;
  /** What the program writes to its standard error. */
  onErrorText?: (text: string) => void;
}

/** Splits a stream of UTF-8 into lines; a last line without its end is dropped. */
export class LineSplitter {
  #parts: Buffer[] = [];

  push(chunk: Buffer): string[] {
    const lines: string[] = [];
    let from = 0;
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
      lines.push(Buffer.concat([...this.#parts, chunk.subarray(from, at)]).toString('utf8'));
      this.#parts = [];
      from = at + 1;
    }
    if (from < chunk.length) this.#parts.push(chunk.subarray(from));
    return lines;
  }
}

function start(options: StdioOptions): Promise<Wire> {
  return new Promise((resolve, reject) => {
    const child = spawn(options.program, options.args, {
      stdio: ['pipe', 'pipe', 'pipe'],
      ...(options.env && { env: options.env }),
      ...(options.cwd !== undefined && { cwd: options.cwd }),
    });
    child.once('error', reject);
    child.stderr.setEncoding('utf8').on('data', (text: string) => options.onErrorText?.(text));
    child.stdin.on('error', () => {}); // its exit says it
    const lines = new LineSplitter();
    const early: string[] = [];
    let hear = (text: string): unknown => early.push(text);
    let end: WireEnd | undefined;
    let tellEnd: (end: WireEnd) => void = () => {};
    child.stdout.on('data', (chunk: Buffer) => {
      for (const line of lines.push(chunk)) if (line !== '') hear(line);
    });
    child.once('close', (code, signal) => {
      end = { code: undefined, reason: `${options.program} ended (${signal ?? code})` };
      tellEnd(end);
    });
    child.once('spawn', () =>
      resolve({
        send: (text) => void child.stdin.write(`${text}\n`),
        close: () => child.stdin.end(),
        onText: (listener) => {
          hear = listener;
          for (const text of early.splice(0)) listener(text);
        },
        onClose: (listener) => {
          tellEnd = listener;
          if (end) listener(end);
        },
      }),
    );
  });
}

/** A program that speaks JSON lines on its standard input and output: `gatehouse serve --listen stdio://`. */
export function stdioTransport(options: StdioOptions): Transport {
  return { canReconnect: false, open: () => start(options) };
}
