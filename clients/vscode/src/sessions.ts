// Each thread of an agent is a terminal that tells: its commands, their output, and how each ended. A terminal session in
// it is a terminal of its own, which is typed into.
import type { ReviewerClient } from '@gatehouse/client';
import * as vscode from 'vscode';
import { LiveTerminal } from './live-terminal.js';
import { visible } from './questions.js';

const lines = (text: string): string => text.replace(/\r?\n/g, '\r\n');

/** Output that a terminal shows; what moves the cursor, sets titles or asks the terminal is made visible. */
export function harmless(output: string): string {
  // Colours stay; every other control sequence is shown as text.
  return output
    .split(/(\x1b\[[0-9;]*m)/)
    .map((part, at) => (at % 2 === 1 ? part : lines(visible(part.replace(/\r\n?/g, '\n')))))
    .join('');
}

class ThreadTerminal implements vscode.Pseudoterminal {
  readonly #write = new vscode.EventEmitter<string>();
  readonly onDidWrite = this.#write.event;
  #early: string[] | undefined = [];
  readonly terminal: vscode.Terminal;

  constructor(name: string) {
    this.terminal = vscode.window.createTerminal({ name, pty: this, iconPath: new vscode.ThemeIcon('shield') });
  }
  open(): void {
    const early = this.#early ?? [];
    this.#early = undefined;
    for (const text of early) this.#write.fire(text);
  }
  close(): void {
    this.#early = [];
  }
  say(text: string): void {
    if (this.#early) this.#early.push(text);
    else this.#write.fire(text);
  }
}

export class Sessions implements vscode.Disposable {
  #byThread = new Map<string, ThreadTerminal>();
  /** By the call that started it. */
  #live = new Map<string, LiveTerminal>();
  /** What calls said that may be terminal sessions, until that is known. */
  #held = new Map<string, string[]>();
  #ends: (() => void)[];

  constructor(private readonly client: ReviewerClient) {
    const dim = (text: string) => `\x1b[2m${lines(visible(text))}\x1b[0m\r\n`;
    this.#ends = [
      client.on('connected', () => void this.#findAll()),
      client.on('item/started', ({ threadId, item }) => {
        if (item.tool === 'exec_command') this.#held.set(item.id, []);
        this.#of(threadId).say(`\x1b[1m$ ${lines(visible(item.command))}\x1b[0m\r\n`);
      }),
      client.on('item/attempt/started', ({ threadId, itemId, attempt, sandboxType, network }) => {
        this.#of(threadId).say(dim(`attempt ${attempt}: sandbox ${sandboxType}, network ${network}`));
        if (this.#held.has(itemId)) void this.#find(threadId);
      }),
      client.on('item/commandExecution/outputDelta', ({ threadId, itemId, delta }) => {
        const live = this.#live.get(itemId);
        const held = this.#held.get(itemId);
        if (live) return live.look();
        if (!held) return this.#of(threadId).say(harmless(delta));
        held.push(harmless(delta));
        void this.#find(threadId);
      }),
      client.on('item/commandExecution/terminalEnded', ({ itemId }) => this.#live.get(itemId)?.look()),
      client.on('item/attempt/denied', ({ threadId, path, host, entry, remedy }) =>
        this.#of(threadId).say(dim(`denied: ${path || host} by ${entry}. ${remedy}`)),
      ),
      client.on('serverRequest/resolved', ({ threadId, decision, reviewer, reason }) =>
        this.#of(threadId).say(dim(`${decision} by ${reviewer}${reason ? `: ${reason}` : ''}`)),
      ),
      client.on('item/completed', ({ threadId, item }) => {
        if (item.status === 'inProgress') void this.#find(threadId).then(() => this.#let(threadId, item.id));
        else this.#let(threadId, item.id);
        this.#of(threadId).say(dim(`${item.status}${item.exitCode == null ? '' : `, exit ${item.exitCode}`}${item.message ? `: ${item.message}` : ''}`));
      }),
    ];
    void this.#findAll();
  }

  /** What a call said is shown: it is no terminal session, or ended before it was found. */
  #let(threadId: string, itemId: string): void {
    const held = this.#held.get(itemId);
    this.#held.delete(itemId);
    if (!this.#live.has(itemId)) for (const text of held ?? []) this.#of(threadId).say(text);
  }

  /** Opens the terminal sessions of a thread that run and are not open yet. */
  async #find(threadId: string): Promise<void> {
    const all = await this.client.listTerminals(threadId).catch(() => []);
    for (const info of all) {
      if (!info.tty) {
        this.#let(threadId, info.itemId);
      } else if (info.running && !this.#live.has(info.itemId)) {
        const live = new LiveTerminal(this.client, threadId, info);
        this.#live.set(info.itemId, live);
        this.#held.delete(info.itemId);
        live.show(false);
      }
    }
  }

  async #findAll(): Promise<void> {
    const threads = await this.client.listThreads().catch(() => []);
    await Promise.all(threads.map(({ id }) => this.#find(id)));
  }

  #of(threadId: string): ThreadTerminal {
    let session = this.#byThread.get(threadId);
    if (!session) {
      session = new ThreadTerminal(`Gatehouse ${threadId.slice(-6)}`);
      this.#byThread.set(threadId, session);
    }
    return session;
  }

  show(): void {
    for (const live of this.#live.values()) if (!live.over) live.show(false);
    const last = [...this.#live.values()].filter((live) => !live.over).at(-1);
    const thread = [...this.#byThread.values()].at(-1);
    if (last) last.show(true);
    else if (thread) thread.terminal.show(true);
    else void vscode.window.showInformationMessage('Gatehouse: no agent has done anything yet.');
  }

  dispose(): void {
    for (const end of this.#ends) end();
    for (const session of this.#byThread.values()) session.terminal.dispose();
    for (const live of this.#live.values()) live.dispose();
    this.#byThread.clear();
    this.#live.clear();
  }
}
