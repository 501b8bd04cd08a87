import type {
  AttemptEvent,
  CommandItem,
  DenialEvent,
  ItemEvent,
  OutputDelta,
  RequestResolved,
  ReviewerClient,
  TurnEvent,
  WarningEvent,
} from '@gatehouse/client/browser';
import { badge, code, el, foreign } from './dom';
import { explanationView } from './explanation-view';
import type { Explanation } from './model';
import { visibleLine } from './visible-text';

const mostRows = 1000;
const mostOutput = 64 * 1024;

type Kind = 'call' | 'answer' | 'denial' | 'turn' | 'warning';
const kinds: [Kind, string][] = [
  ['call', 'Calls'],
  ['answer', 'Answers'],
  ['denial', 'Denials'],
  ['turn', 'Turns'],
  ['warning', 'Warnings'],
];

const statusKinds: Record<string, string> = {
  inProgress: 'prompt',
  completed: 'allow',
  failed: 'forbidden',
  declined: 'forbidden',
};
const statusWords: Record<string, string> = {
  inProgress: 'running',
  completed: 'completed',
  failed: 'failed',
  declined: 'refused',
};

const answerWords: Record<string, string> = {
  accept: 'yes',
  acceptForSession: 'yes, for the session',
  decline: 'no',
  cancel: 'no, and stop',
};

/** What a call is about, in a line: of a patch its files. */
function titleOf(item: CommandItem): string {
  const files = item.changes?.map(({ kind, path }) => `${kind.type} ${path}`);
  return files?.length ? `patch: ${files.join(', ')}` : item.command;
}

export function shortThread(id: string): string {
  return id.replace(/^thread-/, '').slice(0, 6);
}

interface Row {
  element: HTMLElement;
  kind: Kind;
  threadId: string;
  /** What the text filter looks into. */
  text: string;
}

/** A call with its output and its decision; it grows while the call runs. */
class CallRow {
  readonly row: Row;
  #status = el('span', {});
  #facts = el('span', { class: 'quiet' });
  #output = el('pre', { class: 'output', tabindex: '0', 'aria-label': 'Output' });
  #decision = el('div', {});
  #bytes = 0;

  constructor(event: ItemEvent) {
    const { item } = event;
    const summary = el('summary', {}, this.#status, ' ', code(titleOf(item), 'command'), ' ', this.#facts);
    const element = line(event.threadId, el('details', {}, summary, this.#decision, this.#output));
    this.row = { element, kind: 'call', threadId: event.threadId, text: titleOf(item) };
    this.#output.hidden = true;
    this.update(item);
  }

  output(text: string): void {
    if (this.#bytes >= mostOutput) return;
    this.#bytes += text.length;
    this.#output.hidden = false;
    this.#output.append(foreign(text.slice(0, mostOutput)));
    if (this.#bytes >= mostOutput) this.#output.append('\n… the rest is not shown here');
  }

  attempt(event: AttemptEvent): void {
    const where = event.sandboxType === 'none' ? 'WITHOUT the sandbox' : `sandbox ${event.sandboxType}`;
    this.#facts.textContent = `attempt ${event.attempt}, ${where}, network ${event.network}`;
  }

  update(item: CommandItem): void {
    const failed = item.status === 'completed' && item.exitCode !== undefined && item.exitCode !== 0;
    const word = failed ? `exit ${item.exitCode}` : (statusWords[item.status] ?? item.status);
    this.#status.replaceChildren(badge(word, failed ? 'prompt' : (statusKinds[item.status] ?? '')));
    if (item.status === 'inProgress') return;
    const parts = [];
    if (item.durationMs !== undefined) parts.push(`${item.durationMs} ms`);
    this.#facts.textContent = parts.join(', ');
    if (this.#bytes === 0 && item.aggregatedOutput) this.output(item.aggregatedOutput);
    const { decision, why } = (item.report ?? {}) as { decision?: Explanation; why?: string };
    const said = item.message ? el('p', { class: 'told' }, 'The agent was told: ', foreign(item.message)) : '';
    this.#decision.replaceChildren(said, decision?.segments ? explanationView(decision, why) : '');
  }
}

function line(threadId: string, ...content: (Node | string)[]): HTMLElement {
  const now = new Date();
  const time = el('time', { datetime: now.toISOString() }, now.toTimeString().slice(0, 8));
  return el('li', { class: 'event' }, time, el('span', { class: 'thread', title: threadId }, shortThread(threadId)), el('div', {}, ...content));
}

/** What happens in all threads, newest last, with filters. */
export class ActivityView {
  readonly element = el('section', { 'aria-label': 'Activity', hidden: true });
  #rows: Row[] = [];
  #calls = new Map<string, CallRow>();
  #list = el('ol', { class: 'events' });
  #empty = el('p', { class: 'empty' }, 'Nothing has happened since this page was opened.');
  #shown = new Set<Kind>(kinds.map(([kind]) => kind));
  #threads = el('select', {}, el('option', { value: '' }, 'all threads'));
  #search = el('input', { type: 'search', placeholder: 'Text', 'aria-label': 'Only events with this text' });

  constructor() {
    const filters = el('form', { class: 'filters', role: 'search', 'aria-label': 'Filters' });
    for (const [kind, label] of kinds) {
      const box = el('input', { type: 'checkbox', checked: true });
      box.addEventListener('change', () => {
        if (box.checked) this.#shown.add(kind);
        else this.#shown.delete(kind);
        this.#filter();
      });
      filters.append(el('label', {}, box, ` ${label}`));
    }
    filters.append(el('label', {}, 'Thread ', this.#threads), this.#search);
    filters.addEventListener('submit', (event) => event.preventDefault());
    this.#threads.addEventListener('change', () => this.#filter());
    this.#search.addEventListener('input', () => this.#filter());
    this.element.append(el('h1', {}, 'Activity'), filters, this.#empty, this.#list);
  }

  listen(client: ReviewerClient): void {
    client.on('item/started', (event) => {
      const call = new CallRow(event);
      this.#calls.set(callKey(event.threadId, event.item.id), call);
      this.#add(call.row);
    });
    client.on('item/completed', (event) => {
      const key = callKey(event.threadId, event.item.id);
      let call = this.#calls.get(key);
      if (!call) {
        call = new CallRow(event); // it was started before this page
        this.#add(call.row);
      }
      call.update(event.item);
      this.#calls.delete(key);
    });
    client.on('item/attempt/started', (event) => this.#calls.get(callKey(event.threadId, event.itemId))?.attempt(event));
    client.on('item/commandExecution/outputDelta', (event: OutputDelta) =>
      this.#calls.get(callKey(event.threadId, event.itemId))?.output(event.delta),
    );
    client.on('item/attempt/denied', (event) => this.#denied(event));
    client.on('serverRequest/resolved', (event) => this.#answered(event));
    client.on('turn/started', (event) => this.#turn(event, 'turn started'));
    client.on('turn/completed', (event) => this.#turn(event, `turn ${event.turn.status}`));
    client.on('warning', (event: WarningEvent) =>
      this.#add({
        element: line(event.threadId, badge('warning', 'prompt'), ' ', foreign(event.message)),
        kind: 'warning',
        threadId: event.threadId,
        text: event.message,
      }),
    );
  }

  #denied(event: DenialEvent): void {
    const what = event.path || event.host || event.kind;
    const content = [badge('denied', 'forbidden'), ' ', code(what), el('span', { class: 'quiet' }, ` ${event.kind}`)];
    if (event.entry) content.push(el('span', { class: 'quiet' }, ', decided by ', foreign(event.entry)));
    if (event.remedy) content.push(el('p', { class: 'quiet' }, foreign(event.remedy)));
    this.#add({
      element: line(event.threadId, ...content),
      kind: 'denial',
      threadId: event.threadId,
      text: `${what} ${event.kind} ${event.entry} ${event.remedy}`,
    });
  }

  #answered(event: RequestResolved): void {
    const yes = /^(accept|applyNetwork)/.test(event.decision);
    const content: Node[] = [badge(answerWords[event.decision] ?? event.decision, yes ? 'allow' : 'forbidden')];
    const call = this.#calls.get(callKey(event.threadId, event.itemId));
    if (call) content.push(code(call.row.text));
    content.push(el('span', { class: 'quiet' }, event.reviewer === 'none' ? ' answered by nobody' : ` answered by ${event.reviewer}`));
    if (event.reason) content.push(el('span', {}, ': ', foreign(event.reason)));
    this.#add({
      element: line(event.threadId, ...content),
      kind: 'answer',
      threadId: event.threadId,
      text: `${event.decision} ${event.reviewer} ${event.reason}`,
    });
  }

  #turn(event: TurnEvent, text: string): void {
    const reason = event.reason ? `: ${visibleLine(event.reason)}` : '';
    this.#add({
      element: line(event.threadId, el('span', { class: 'quiet' }, text + reason)),
      kind: 'turn',
      threadId: event.threadId,
      text: text + reason,
    });
  }

  #add(row: Row): void {
    this.#empty.hidden = true;
    if (![...this.#threads.options].some((option) => option.value === row.threadId))
      this.#threads.append(el('option', { value: row.threadId }, shortThread(row.threadId)));
    this.#rows.push(row);
    row.element.hidden = !this.#matches(row);
    // The newest stays in sight unless the reader has gone up.
    const atEnd = window.innerHeight + window.scrollY >= document.body.scrollHeight - 40;
    this.#list.append(row.element);
    if (this.#rows.length > mostRows) this.#rows.shift()?.element.remove();
    if (atEnd && !this.element.hidden) window.scrollTo({ top: document.body.scrollHeight });
  }

  #matches(row: Row): boolean {
    const words = this.#search.value.toLowerCase();
    return (
      this.#shown.has(row.kind) &&
      (this.#threads.value === '' || this.#threads.value === row.threadId) &&
      (words === '' || row.text.toLowerCase().includes(words))
    );
  }

  #filter(): void {
    for (const row of this.#rows) row.element.hidden = !this.#matches(row);
  }
}

function callKey(threadId: string, itemId: string): string {
  return `${threadId}\n${itemId}`;
}
