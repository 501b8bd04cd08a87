// Each thread of an agent is a terminal: its commands, their output, and how each ended.
import type { ReviewerClient } from '@gatehouse/client';
import * as vscode from 'vscode';
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

class SessionTerminal implements vscode.Pseudoterminal {
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
  #byThread = new Map<string, SessionTerminal>();
  #ends: (() => void)[];

  constructor(client: ReviewerClient) {
    const dim = (text: string) => `\x1b[2m${lines(visible(text))}\x1b[0m\r\n`;
    this.#ends = [
      client.on('item/started', ({ threadId, item }) => this.#of(threadId).say(`\x1b[1m$ ${lines(visible(item.command))}\x1b[0m\r\n`)),
      client.on('item/attempt/started', ({ threadId, attempt, sandboxType, network }) =>
        this.#of(threadId).say(dim(`attempt ${attempt}: sandbox ${sandboxType}, network ${network}`)),
      ),
      client.on('item/commandExecution/outputDelta', ({ threadId, delta }) => this.#of(threadId).say(harmless(delta))),
      client.on('item/attempt/denied', ({ threadId, path, host, entry, remedy }) =>
        this.#of(threadId).say(dim(`denied: ${path || host} by ${entry}. ${remedy}`)),
      ),
      client.on('serverRequest/resolved', ({ threadId, decision, reviewer, reason }) =>
        this.#of(threadId).say(dim(`${decision} by ${reviewer}${reason ? `: ${reason}` : ''}`)),
      ),
      client.on('item/completed', ({ threadId, item }) =>
        this.#of(threadId).say(dim(`${item.status}${item.exitCode == null ? '' : `, exit ${item.exitCode}`}${item.message ? `: ${item.message}` : ''}`)),
      ),
    ];
  }

  #of(threadId: string): SessionTerminal {
    let session = this.#byThread.get(threadId);
    if (!session) {
      session = new SessionTerminal(`Gatehouse ${threadId.slice(-6)}`);
      this.#byThread.set(threadId, session);
    }
    return session;
  }

  show(): void {
    const last = [...this.#byThread.values()].at(-1);
    if (last) last.terminal.show(true);
    else void vscode.window.showInformationMessage('Gatehouse: no agent has done anything yet.');
  }

  dispose(): void {
    for (const end of this.#ends) end();
    for (const session of this.#byThread.values()) session.terminal.dispose();
    this.#byThread.clear();
  }
}
