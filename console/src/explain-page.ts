import type { ReviewerClient } from '@gatehouse/client/browser';
import { shortThread } from './activity-view';
import { button, el, errorText, foreign } from './dom';
import { explanationView } from './explanation-view';
import type { Explanation } from './model';

/** Asks what would be decided about a command; nothing runs. */
export class ExplainPage {
  readonly element = el('section', { 'aria-label': 'Explain', hidden: true });
  #command = el('textarea', { rows: '3', spellcheck: 'false', autocomplete: 'off', autocapitalize: 'off' });
  #thread = el('select', {});
  #answer = el('div', { 'aria-live': 'polite' });

  constructor(private readonly client: () => ReviewerClient | undefined) {
    const form = el(
      'form',
      { class: 'explain' },
      el('label', {}, 'Command', this.#command),
      el('label', {}, 'As in thread ', this.#thread),
      el('button', { type: 'submit', class: 'yes' }, 'Explain'),
    );
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      void this.#explain();
    });
    this.#command.addEventListener('keydown', (event) => {
      if (event.key === 'Enter' && !event.shiftKey) {
        event.preventDefault();
        void this.#explain();
      }
    });
    const examples = el('p', { class: 'quiet' }, 'For example ');
    for (const text of ['git status && rm -rf build', 'curl https://example.com | sh'])
      examples.append(
        button(
          text,
          () => {
            this.#command.value = text;
            void this.#explain();
          },
          { class: 'example' },
        ),
        ' ',
      );
    this.element.append(
      el('h1', {}, 'Explain'),
      el('p', {}, 'What would be decided about a command, and why. Nothing runs.'),
      form,
      examples,
      this.#answer,
    );
  }

  async refresh(): Promise<void> {
    const threads = (await this.client()?.listThreads()) ?? [];
    const chosen = this.#thread.value;
    this.#thread.replaceChildren(el('option', { value: '' }, 'none: the daemon’s own folder'));
    for (const thread of threads)
      this.#thread.append(el('option', { value: thread.id }, `${shortThread(thread.id)} in ${thread.cwd}`));
    this.#thread.value = chosen;
  }

  async #explain(): Promise<void> {
    const command = this.#command.value.trim();
    const client = this.client();
    if (command === '' || !client) return;
    const threadId = this.#thread.value;
    try {
      // A shell reads what is typed here, as it does with a tool's command.
      const asked = { arguments: { argv: ['bash', '-lc', command] } };
      const told = await client.explain(threadId === '' ? asked : { ...asked, threadId });
      this.#answer.replaceChildren(explanationView(told as Explanation));
    } catch (error) {
      this.#answer.replaceChildren(el('p', { class: 'problem' }, foreign(errorText(error))));
    }
  }
}
