import type { GrantKind, ReviewerClient, ThreadInfo } from '@gatehouse/client/browser';
import { shortThread } from './activity-view';
import type { Announcer } from './announcer';
import { badge, button, code, el, errorText, facts, foreign } from './dom';

type Client = () => ReviewerClient | undefined;

/** The threads, what was granted or approved in each, and how to take it back. */
export class GrantsPage {
  readonly element = el('section', { 'aria-label': 'Grants', hidden: true });
  #list = el('div', { class: 'cards' });
  #empty = el('p', { class: 'empty' }, 'No thread is open.');

  constructor(
    private readonly client: Client,
    private readonly announcer: Announcer,
  ) {
    this.element.append(
      el('h1', {}, 'Grants'),
      el('p', {}, 'What stands in each thread. Taking something back does not touch what runs already.'),
      this.#empty,
      this.#list,
    );
  }

  async refresh(): Promise<void> {
    const client = this.client();
    if (!client) return;
    try {
      const threads = await client.listThreads();
      const cards = await Promise.all(threads.map((thread) => this.#card(client, thread)));
      this.#empty.hidden = cards.length > 0;
      this.#list.replaceChildren(...cards);
    } catch (error) {
      this.#list.replaceChildren(el('p', { class: 'problem' }, foreign(errorText(error))));
    }
  }

  async #card(client: ReviewerClient, thread: ThreadInfo): Promise<HTMLElement> {
    const { grants, approvals, hosts, running } = await client.readThread(thread.id);
    const rows = el('ul', { class: 'grants' });
    const add = (kind: GrantKind, id: number, what: HTMLElement, label: string) => {
      const take = button(
        'Take back',
        () => {
          take.disabled = true;
          void client
            .revoke({ threadId: thread.id, kind, id })
            .then((found) => this.announcer.say(found ? `Taken back: ${label}` : 'It was gone already'))
            .then(() => this.refresh());
        },
        { class: 'no', 'aria-label': `Take back ${label}` },
      );
      rows.append(el('li', {}, what, take));
    };
    for (const grant of grants) {
      const text = JSON.stringify(grant.permissions);
      add('grant', grant.id, el('span', {}, badge(`for the ${grant.scope}`, 'prompt'), ' ', code(text)), text);
    }
    for (const one of approvals)
      add('approval', one.id, el('span', {}, badge('for the session', 'prompt'), ' ', code(one.action)), one.action);
    for (const one of hosts) {
      const label = `${one.allowed ? 'allow' : 'deny'} ${one.host}`;
      add('host', one.id, el('span', {}, badge('for the session', 'prompt'), ' ', one.allowed ? 'allow ' : 'deny ', code(one.host)), label);
    }
    if (rows.children.length === 0) rows.append(el('li', { class: 'quiet' }, 'nothing was granted'));
    return el(
      'article',
      { class: 'card' },
      el('h2', {}, code(thread.cwd), ' ', el('span', { class: 'quiet' }, shortThread(thread.id))),
      facts(
        ['Profile', thread.sandbox],
        ['Asks', typeof thread.approvalPolicy === 'string' ? thread.approvalPolicy : JSON.stringify(thread.approvalPolicy)],
        ['Running', running.length > 0 ? `${running.length} ${running.length === 1 ? 'call' : 'calls'}` : 'nothing'],
      ),
      rows,
    );
  }
}
