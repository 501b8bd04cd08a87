// A terminal session of an agent as a terminal of the editor: watched, typed into, of the editor's size.
import type { ReviewerClient, Requests } from '@gatehouse/client';
import * as vscode from 'vscode';
import { visible } from './questions.js';
import { ScreenFilter } from './screen-filter.js';

export type TerminalInfo = Requests['thread/backgroundTerminals/list']['result']['data'][number];

/** Output is asked for this long after some was announced, and now and then without that. */
const soonMs = 25;
const seldomMs = 1000;
const longestPiece = 16_384;
const mostCells = 1000; // in a line or column, as the daemon has it

export class LiveTerminal implements vscode.Pseudoterminal {
  readonly #write = new vscode.EventEmitter<string>();
  readonly onDidWrite = this.#write.event;
  #terminal: vscode.Terminal | undefined;
  #screen = new ScreenFilter();
  #at = 0;
  #view = 0; // how often it was opened: a read for an earlier view tells this one nothing
  #timer: ReturnType<typeof setTimeout> | undefined;
  #reading = false;
  #again = false;
  #typed = '';
  #typing = false;
  #open = false;
  #over = false;

  constructor(
    private readonly client: ReviewerClient,
    private readonly threadId: string,
    private readonly info: TerminalInfo,
  ) {}

  get over(): boolean {
    return this.#over;
  }

  show(focus: boolean): void {
    if (!this.#terminal) {
      const { sessionId, sandboxed } = this.info;
      const name = `Gatehouse session ${sessionId}${sandboxed ? '' : ' WITHOUT the sandbox'}`;
      this.#terminal = vscode.window.createTerminal({ name, pty: this, iconPath: new vscode.ThemeIcon(sandboxed ? 'shield' : 'warning') });
    }
    if (focus) this.#terminal.show(true);
  }

  open(size: vscode.TerminalDimensions | undefined): void {
    this.#open = true;
    this.#view += 1;
    this.#at = 0;
    this.#screen = new ScreenFilter();
    const { command, cwd, sandboxed } = this.info;
    this.#note(
      `${visible(command)} in ${visible(cwd)}, ${sandboxed ? 'in the sandbox' : 'WITHOUT the sandbox: what you type acts on this machine as you'}. ` +
        'What you type is yours: nobody is asked about it, and the agent reads what the terminal shows.',
    );
    if (size) this.setDimensions(size);
    this.look();
  }

  /** The view only: the session goes on, and is shown again by "Show the sessions". */
  close(): void {
    this.#open = false;
    clearTimeout(this.#timer);
    this.#terminal = undefined;
  }

  handleInput(text: string): void {
    if (this.#over) return;
    this.#typed += text.replaceAll('\0', '');
    if (!this.#typing) void this.#send();
  }

  setDimensions({ rows, columns }: vscode.TerminalDimensions): void {
    if (this.#over || rows < 1 || columns < 1) return;
    const size = { rows: Math.min(rows, mostCells), columns: Math.min(columns, mostCells) };
    this.client.resizeTerminal({ ...this.#name, ...size }).catch((why: unknown) => this.#problem(why));
  }

  /** There may be more to read. */
  look(inMs = soonMs): void {
    if (this.#over || !this.#open) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#read(), inMs);
  }

  dispose(): void {
    this.#over = true;
    clearTimeout(this.#timer);
    this.#terminal?.dispose();
  }

  get #name(): { threadId: string; sessionId: number } {
    return { threadId: this.threadId, sessionId: this.info.sessionId };
  }

  #note(text: string): void {
    this.#write.fire(`\x1b[0;2m${text}\x1b[0m\r\n`);
  }

  #problem(why: unknown): void {
    this.#write.fire('\r\n');
    this.#note(`Gatehouse: ${visible(why instanceof Error ? why.message : String(why))}`);
  }

  async #read(): Promise<void> {
    if (this.#reading) {
      this.#again = true;
      return;
    }
    if (!this.client.connected) return this.look(seldomMs);
    this.#reading = true;
    const view = this.#view;
    try {
      const got = await this.client.readTerminal({ ...this.#name, afterByte: this.#at });
      if (view !== this.#view) return this.look();
      if (!this.#open) return;
      if (got.fromByte !== this.#at) {
        this.#screen = new ScreenFilter();
        this.#write.fire('\x1bc'); // what was between is no longer kept
      }
      const shown = this.#screen.pass(got.output);
      if (shown !== '') this.#write.fire(shown);
      this.#at = got.nextByte ?? this.#at;
      this.look(got.output !== '' || this.#again ? soonMs : seldomMs);
    } catch (why) {
      if (!this.client.connected) return this.look(seldomMs);
      this.#over = true;
      this.#problem(why);
      this.#note('This session is over.');
    } finally {
      this.#reading = this.#again = false;
    }
  }

  async #send(): Promise<void> {
    this.#typing = true;
    try {
      while (this.#typed !== '' && !this.#over) {
        const text = this.#typed.slice(0, longestPiece);
        this.#typed = this.#typed.slice(text.length);
        // What is typed while the connection is away is not kept for later: the person sees no echo.
        if (!this.client.connected) throw new Error('not connected: what you typed was not sent');
        await this.client.writeTerminal({ ...this.#name, text });
        this.look();
      }
    } catch (why) {
      this.#typed = '';
      this.#problem(why);
    } finally {
      this.#typing = false;
    }
  }
}
