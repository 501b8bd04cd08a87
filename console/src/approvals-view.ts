import { patchOf, type ApprovalDecision, type ApprovalRequest, type ReviewerClient } from '@gatehouse/client/browser';
import type { Announcer } from './announcer';
import { badge, button, code, el, errorText, facts, foreign } from './dom';
import { boundaryText, ruleText, segmentList, whyView } from './explanation-view';
import { patchView } from './patch-view';
import type { Explanation } from './model';
import { shellJoin } from './shell-words';
import { visibleLine } from './visible-text';

/** A question takes no answer before it has stood for so long: what was pressed for another is none to it. */
const readingMs = 600;

interface Choice {
  key: string;
  label: string;
  style: string;
  decision: ApprovalDecision;
}

function yesLabel(question: ApprovalRequest): string {
  if (question.kind === 'permissions') return 'Yes, for this turn';
  return question.kind === 'network' ? 'Yes, while this command runs' : 'Yes, once';
}

/** The answers on offer, by the letters that the terminal has, too. */
export function choicesOf(question: ApprovalRequest): Choice[] {
  const choices: Choice[] = [];
  for (const offered of question.availableDecisions) {
    if (offered === 'accept') choices.push({ key: 'y', label: yesLabel(question), style: 'yes', decision: offered });
    else if (offered === 'acceptForSession')
      choices.push({ key: 's', label: 'Yes, for this session', style: 'yes', decision: offered });
    else if (offered === 'decline') choices.push({ key: 'n', label: 'No', style: 'no', decision: offered });
    else if (offered === 'cancel') choices.push({ key: 'q', label: 'No, and stop here', style: 'no', decision: offered });
    else if (typeof offered === 'object' && offered !== null && 'acceptWithExecpolicyAmendment' in offered)
      choices.push({ key: 'r', label: 'Yes, and add a rule', style: 'wide', decision: offered as ApprovalDecision });
    else if (typeof offered === 'object' && offered !== null && 'applyNetworkPolicyAmendment' in offered) {
      const decision = offered as Extract<ApprovalDecision, { applyNetworkPolicyAmendment: unknown }>;
      const denies = decision.applyNetworkPolicyAmendment.network_policy_amendment.action === 'deny';
      choices.push(
        denies
          ? { key: 'd', label: 'No, and never this host', style: 'no', decision }
          : { key: 'r', label: 'Yes, and always this host', style: 'wide', decision },
      );
    }
  }
  return choices;
}

class Card {
  readonly element: HTMLElement;
  readonly choices: Choice[];
  #buttons = new Map<string, HTMLButtonElement>();
  #reason = el('input', { type: 'text', maxlength: '500', autocomplete: 'off' });
  #note = el('p', { class: 'problem', role: 'alert' });
  #segments = el('div', {}, el('p', { class: 'quiet' }, 'Reading the command…'));
  #boundary = el('span', {}, '…');
  #rule: HTMLElement;
  #ready = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    readonly question: ApprovalRequest,
    private readonly client: ReviewerClient,
  ) {
    this.choices = choicesOf(question);
    // The widest that it can mean, until the daemon has said what it means.
    const words = { proposed_amendment: question.proposedExecpolicyAmendment ?? [] };
    this.#rule = el('span', {}, ruleText({ requirement: words } as unknown as Explanation));
    const title = `approval-${question.requestId}`;
    const without = question.withoutSandbox;
    const patch = patchOf(question);
    this.element = el(
      'article',
      { class: `card approval${without ? ' unsandboxed' : ''}`, tabindex: '0', 'aria-labelledby': title },
      el(
        'header',
        {},
        el('h2', { id: title }, patch ? foreign(`Patch: ${patch.files}`) : code(question.command, 'command')),
        el(
          'p',
          { class: 'quiet' },
          without && badge('without the sandbox', 'forbidden'),
          question.attempt > 1 && badge('second attempt', 'prompt'),
          'in ',
          code(question.cwd),
        ),
      ),
      facts(
        ['Why', question.reason && foreign(question.reason)],
        [
          'The agent says',
          question.justification && question.justification !== question.reason
            ? foreign(question.justification)
            : undefined,
        ],
        ['It writes', question.writeTargets?.length ? code(shellJoin(question.writeTargets)) : undefined],
        ['Host', question.networkTarget ? code(question.networkTarget) : undefined],
        ['A yes allows', question.willBeAllowed && el('strong', {}, foreign(question.willBeAllowed))],
        ['The rule', question.proposedExecpolicyAmendment?.length ? this.#rule : undefined],
        ['Boundary now', this.#boundary],
        ['After a yes', this.#afterYes()],
        ['Commands', patch ? undefined : this.#segments],
      ),
      patch && patchView(patch.text),
      this.#answers(),
      this.#note,
    );
    if (question.kind === 'permissions') {
      this.#segments.replaceChildren(el('p', { class: 'quiet' }, 'None: this is about later commands.'));
      this.#boundary.textContent = 'the sandbox stays';
    } else void this.#explain();
  }

  /** The boundary that a yes leads to. */
  #afterYes(): HTMLElement {
    const { question } = this;
    if (question.withoutSandbox) return badge('without the sandbox', 'forbidden');
    const more = question.permissions ?? question.additionalPermissions;
    if (more) return el('span', {}, 'the same, and ', ...permissionWords(more));
    if (question.networkTarget) return el('span', {}, 'the same, and ', code(question.networkTarget));
    return el('span', {}, 'the same');
  }

  /** Answers count from a moment after the question has come to the front. */
  setSelected(selected: boolean): void {
    if (selected === this.element.classList.contains('selected')) return;
    this.element.classList.toggle('selected', selected);
    clearTimeout(this.#timer);
    this.#setReady(false);
    if (selected) this.#timer = setTimeout(() => this.#setReady(true), readingMs);
  }

  press(key: string): boolean {
    const choice = this.choices.find((one) => one.key === key);
    if (!choice) return false;
    if (this.#ready) void this.#answer(choice);
    return true;
  }

  #setReady(ready: boolean): void {
    this.#ready = ready;
    for (const one of this.#buttons.values()) one.disabled = !ready;
  }

  #answers(): HTMLElement {
    const row = el('div', { class: 'answers', role: 'group', 'aria-label': 'Answers' });
    for (const choice of this.choices) {
      const one = button(choice.label, () => this.#ready && void this.#answer(choice), {
        class: choice.style,
        disabled: true,
        'aria-keyshortcuts': choice.key,
      });
      one.prepend(el('kbd', { 'aria-hidden': 'true' }, choice.key));
      this.#buttons.set(choice.key, one);
      row.append(one);
    }
    const reason = el('label', { class: 'reason' }, 'Reason, for the agent ', this.#reason);
    return el('div', {}, row, reason);
  }

  async #answer(choice: Choice): Promise<void> {
    this.#setReady(false);
    this.#note.textContent = '';
    try {
      const reason = this.#reason.value.trim();
      await this.client.resolveApproval(this.question, choice.decision, reason === '' ? {} : { reason });
      this.element.classList.add('answered');
    } catch (error) {
      this.#note.replaceChildren(foreign(errorText(error)));
      this.#setReady(true);
    }
  }

  async #explain(): Promise<void> {
    try {
      const { threadId, requestId } = this.question;
      const told = (await this.client.explain({ threadId, requestId })) as Explanation;
      this.#segments.replaceChildren(segmentList(told), whyView(told.why) ?? '');
      this.#boundary.replaceChildren(boundaryText(told));
      if (shellJoin(told.requirement.proposed_amendment ?? []) === shellJoin(this.question.proposedExecpolicyAmendment ?? []))
        this.#rule.replaceChildren(ruleText(told, this.question.withoutSandbox) ?? '');
    } catch (error) {
      this.#segments.replaceChildren(el('p', { class: 'quiet' }, foreign(errorText(error))));
      this.#boundary.textContent = 'not known';
    }
  }
}

/** What permissions open, in words; whole, as JSON, where they hold anything that has none here. */
function permissionWords(more: unknown): (string | HTMLElement)[] {
  const words: (string | HTMLElement)[] = [];
  const say = (what: string, path?: string) => words.push(words.length > 0 ? ', ' : '', what, ...(path === undefined ? [] : [code(path)]));
  for (const [kind, given] of Object.entries(more as Record<string, Record<string, unknown>>))
    for (const [name, value] of Object.entries(given ?? {})) {
      const known = { read: 'reading ', write: 'writing ' }[name];
      if (kind === 'fileSystem' && known && Array.isArray(value) && value.every((one) => typeof one === 'string'))
        for (const path of value) say(known, path);
      else if (kind === 'network' && name === 'enabled' && value === true) say('the network');
      else return [code(JSON.stringify(more))];
    }
  return words.length > 0 ? words : [code(JSON.stringify(more))];
}

/** The questions that stand, oldest first; one is at the front and takes one-key answers. */
export class ApprovalsView {
  readonly element = el('section', { 'aria-label': 'Approvals' });
  #list = el('ol', { class: 'cards' });
  #empty = el(
    'p',
    { class: 'empty' },
    'Nothing waits for an answer. Questions appear here as soon as an agent’s call needs one.',
  );
  #cards = new Map<string, Card>();
  #selected: Card | undefined;

  constructor(
    private readonly announcer: Announcer,
    private readonly counted: (waiting: number) => void,
  ) {
    this.element.append(
      el('h1', {}, 'Approvals'),
      this.#empty,
      this.#list,
      el(
        'p',
        { class: 'quiet keys' },
        'Keys: ',
        ...['y', 's', 'r', 'd', 'n', 'q'].map((key) => el('kbd', {}, key)),
        ' answer the marked question, ',
        el('kbd', {}, 'j'),
        el('kbd', {}, 'k'),
        ' choose another, ',
        el('kbd', {}, '1'),
        '–',
        el('kbd', {}, '6'),
        ' change the page.',
      ),
    );
    this.element.addEventListener('focusin', (event) => {
      for (const card of this.#cards.values()) if (card.element.contains(event.target as Node)) this.#select(card);
    });
  }

  add(question: ApprovalRequest, client: ReviewerClient): void {
    if (this.#cards.has(question.requestId)) return;
    const card = new Card(question, client);
    this.#cards.set(question.requestId, card);
    this.#list.append(el('li', {}, card.element));
    // What is at the front stays there: an answer is never for a question that has just come.
    if (!this.#selected) this.#select(card);
    this.#changed();
    this.announcer.say(
      `Approval needed: ${visibleLine(question.command)}. ${visibleLine(question.reason)}. ${this.#cards.size} waiting.`,
    );
  }

  remove(requestId: string): void {
    const card = this.#cards.get(requestId);
    if (!card) return;
    const order = [...this.#cards.values()];
    const next = order[order.indexOf(card) + 1] ?? order[order.indexOf(card) - 1];
    const focused = card.element.contains(document.activeElement);
    this.#cards.delete(requestId);
    card.element.parentElement?.remove();
    if (this.#selected === card) {
      this.#selected = undefined;
      if (next) this.#select(next);
      if (focused) next?.element.focus({ preventScroll: false });
    }
    this.#changed();
  }

  clear(): void {
    for (const id of [...this.#cards.keys()]) this.remove(id);
  }

  /** True: the key meant something here. */
  press(key: string): boolean {
    if (key === 'j' || key === 'k') {
      const order = [...this.#cards.values()];
      const at = this.#selected ? order.indexOf(this.#selected) : -1;
      const next = order[Math.min(order.length - 1, Math.max(0, at + (key === 'j' ? 1 : -1)))];
      next?.element.focus();
      return true;
    }
    return this.#selected?.press(key) ?? false;
  }

  #select(card: Card): void {
    if (this.#selected === card) return;
    this.#selected?.setSelected(false);
    this.#selected = card;
    card.setSelected(true);
  }

  #changed(): void {
    this.#empty.hidden = this.#cards.size > 0;
    this.counted(this.#cards.size);
  }
}
