import type { OutputDelta, ReviewerClient, TerminalInfo } from '@gatehouse/client/browser';
import { shortThread } from './activity-view';
import type { Announcer } from './announcer';
import { badge, button, code, el, errorText, facts, foreign } from './dom';
import type { TerminalFrame } from './terminal-frame';

type Client = () => ReviewerClient | undefined;
interface Place {
  threadId: string;
  info: TerminalInfo;
}

/** Output is asked for this long after the page hears of some, and now and then without that. */
const soonMs = 25;
const seldomMs = 1000;

const aloudKey = 'gatehouse.readAloud';

const keyOf = ({ threadId, info }: Place) => `${threadId}\n${info.sessionId}`;
const ageText = (ms: number) => (ms < 60_000 ? `${Math.round(ms / 1000)} s` : `${Math.round(ms / 60_000)} min`);

/** One session that is open in the page: reads on from where it is, types one piece after the other. */
class OpenSession {
  readonly element: HTMLElement;
  #frame: TerminalFrame | undefined;
  #at = 0;
  #reading = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #typing = false;
  #typed = '';
  #over = false;
  #note = el('p', { class: 'problem', role: 'alert' });
  #state = el('p', { class: 'quiet', role: 'status' });
  #fitted = button('Fit to this page', () => void this.#resize(), { title: 'Sets the size of the session’s terminal' });
  #aloud = el('input', { type: 'checkbox', checked: localStorage.getItem(aloudKey) === 'yes' });
  #place: HTMLElement = el('div', { class: 'terminal-place' }, el('p', { class: 'quiet' }, 'Opening…'));

  constructor(
    readonly where: Place,
    private readonly client: Client,
  ) {
    const { info, threadId } = where;
    const interrupt = button('Interrupt (Ctrl-C)', () => void this.#act((c) => c.signalTerminal({ ...this.#name(), signal: 2 })));
    const end = button('End it', () => void this.#act((c) => c.endTerminal(this.#name())), { class: 'no' });
    this.element = el(
      'article',
      { class: `card session${info.sandboxed ? '' : ' unsandboxed'}`, 'aria-label': `Session ${info.sessionId}` },
      el('h2', {}, code(info.command, 'command')),
      facts(
        [
          'Boundary',
          info.sandboxed
            ? badge('in the sandbox', 'allow')
            : el('span', {}, badge('without the sandbox', 'forbidden'), ' what you type acts on this machine as you'),
        ],
        ['Folder', code(info.cwd)],
        ['Thread', shortThread(threadId)],
      ),
      this.#place,
      el('div', { class: 'answers' }, info.tty ? this.#fitted : '', interrupt, end, el('label', {}, this.#aloud, ' For a screen reader')),
      el(
        'p',
        { class: 'quiet' },
        info.tty
          ? 'Click into the terminal and type; F6 leaves it. What you type is yours: nobody is asked about it, and the agent reads what the terminal shows.'
          : 'This session has no terminal: it cannot be typed into.',
      ),
      this.#state,
      this.#note,
    );
    this.#aloud.addEventListener('change', () => {
      localStorage.setItem(aloudKey, this.#aloud.checked ? 'yes' : 'no');
      if (this.#frame) this.#frame.readAloud = this.#aloud.checked;
    });
    this.#open().catch((error: unknown) => this.ended(errorText(error)));
  }

  async #open(): Promise<void> {
    // Only who opens a session needs the terminal's program.
    const { TerminalFrame } = await import('./terminal-frame');
    if (this.#over) return;
    const frame = new TerminalFrame(this.where.info.tty, this.#aloud.checked, (text) => this.#type(text), () => this.#fitted.focus());
    this.#frame = frame;
    this.#place.replaceChildren(frame.element);
    frame.open();
    if (this.where.info.tty) frame.focus();
    this.look();
  }

  #name(): { threadId: string; sessionId: number } {
    return { threadId: this.where.threadId, sessionId: this.where.info.sessionId };
  }

  hears(event: OutputDelta): boolean {
    return event.threadId === this.where.threadId && event.itemId === this.where.info.itemId;
  }

  look(inMs = soonMs): void {
    if (this.#over) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#read(), inMs);
  }

  async #read(): Promise<void> {
    const client = this.client();
    if (this.#reading || !this.#frame || this.#over) return;
    if (!client?.connected) return this.look(seldomMs);
    this.#reading = true;
    try {
      const got = await client.readTerminal({ ...this.#name(), afterByte: this.#at });
      if (got.fromByte !== this.#at) this.#frame.reset(); // what was between is no longer kept
      this.#frame.write(got.output);
      this.#at = got.nextByte ?? this.#at;
      this.look(got.output === '' ? seldomMs : soonMs);
    } catch (error) {
      this.ended(errorText(error));
    } finally {
      this.#reading = false;
    }
  }

  #type(text: string): void {
    this.#typed += text.replaceAll('\0', '');
    if (!this.#typing) void this.#send();
  }

  async #send(): Promise<void> {
    this.#typing = true;
    try {
      while (this.#typed !== '' && !this.#over) {
        const text = this.#typed.slice(0, 16_384);
        this.#typed = this.#typed.slice(text.length);
        const client = this.client();
        // What is typed while the connection is away is not kept for later: the person sees no echo.
        if (!client?.connected) throw new Error('not connected: what you typed was not sent');
        await client.writeTerminal({ ...this.#name(), text });
        this.#note.textContent = '';
        this.look();
      }
    } catch (error) {
      this.#typed = '';
      this.#note.replaceChildren(foreign(errorText(error)));
    } finally {
      this.#typing = false;
    }
  }

  async #act(what: (client: ReviewerClient) => Promise<boolean>): Promise<void> {
    const client = this.client();
    if (!client) return;
    try {
      if (!(await what(client))) this.#note.textContent = 'The session is gone already.';
      this.look();
    } catch (error) {
      this.#note.replaceChildren(foreign(errorText(error)));
    }
  }

  async #resize(): Promise<void> {
    const size = this.#frame?.fit();
    if (size) await this.#act((client) => client.resizeTerminal({ ...this.#name(), ...size }));
    this.#frame?.focus();
  }

  ended(why: string): void {
    if (this.#over) return;
    this.#state.replaceChildren('This session is over: ', foreign(why));
    this.#stop();
  }

  #stop(): void {
    this.#over = true;
    clearTimeout(this.#timer);
    for (const one of this.element.querySelectorAll('button')) one.disabled = true;
  }

  close(): void {
    this.#stop();
    this.#frame?.close();
    this.element.remove();
  }
}

/** The terminal sessions of all threads; one of them open, to be watched and typed into. */
export class SessionsPage {
  readonly element = el('section', { 'aria-label': 'Sessions', hidden: true });
  #list = el('ul', { class: 'sessions' });
  #empty = el('p', { class: 'empty' }, 'No session runs. One appears here when an agent starts a command that outlives its call.');
  #open: OpenSession | undefined;
  #place = el('div', {});
  #again: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly client: Client,
    private readonly announcer: Announcer,
  ) {
    this.element.append(el('h1', {}, 'Sessions'), this.#empty, this.#list, this.#place);
  }

  listen(client: ReviewerClient): void {
    client.on('item/commandExecution/outputDelta', (event) => {
      if (this.#open?.hears(event)) this.#open.look();
    });
    for (const event of ['item/completed', 'item/commandExecution/terminalEnded', 'thread/closed'] as const)
      client.on(event, () => this.#refreshSoon());
    client.on('item/commandExecution/terminalEnded', (event) => {
      const open = this.#open?.where;
      if (!open || open.threadId !== event.threadId || open.info.sessionId !== event.sessionId) return;
      const how = event.timedOut ? 'its time was over' : event.exitCode === undefined ? 'it ended' : `exit ${event.exitCode}`;
      this.announcer.say(`The session has ended: ${how}`);
    });
    client.on('connected', ({ renewed }) => {
      if (renewed) this.#open?.ended('the daemon was started anew');
      else this.#open?.look();
    });
  }

  #refreshSoon(): void {
    if (this.element.hidden) return;
    clearTimeout(this.#again);
    this.#again = setTimeout(() => void this.refresh(), 100);
  }

  async refresh(): Promise<void> {
    const client = this.client();
    if (!client?.connected) return;
    try {
      const threads = await client.listThreads();
      const found = await Promise.all(
        threads.map(async ({ id }) => (await client.listTerminals(id).catch(() => [])).map((info) => ({ threadId: id, info }))),
      );
      const places = found.flat().sort((a, b) => a.info.ageMs - b.info.ageMs);
      this.#empty.hidden = places.length > 0;
      const focused = this.#list.contains(document.activeElement) ? document.activeElement?.getAttribute('data-key') : undefined;
      this.#list.replaceChildren(...places.map((place) => this.#row(place)));
      if (focused) for (const one of this.#list.querySelectorAll('button')) if (one.dataset.key === focused) one.focus();
    } catch (error) {
      this.#list.replaceChildren(el('li', { class: 'problem' }, foreign(errorText(error))));
    }
  }

  #row(place: Place): HTMLElement {
    const { info } = place;
    const current = this.#open !== undefined && keyOf(this.#open.where) === keyOf(place);
    const open = button('', () => this.#show(place), { 'aria-current': current ? 'true' : undefined, 'data-key': keyOf(place) });
    open.append(
      badge(info.running ? 'running' : 'ended', info.running ? 'allow' : ''),
      info.sandboxed ? '' : badge('without the sandbox', 'forbidden'),
      code(info.command, 'command'),
      el('span', { class: 'quiet' }, ` ${info.tty ? 'terminal' : 'no terminal'}, ${ageText(info.ageMs)}, thread ${shortThread(place.threadId)}`),
    );
    return el('li', {}, open);
  }

  #show(place: Place): void {
    this.#open?.close();
    this.#open = new OpenSession(place, this.client);
    this.#place.replaceChildren(this.#open.element);
    this.#open.element.scrollIntoView({ block: 'nearest' });
    void this.refresh();
  }
}
