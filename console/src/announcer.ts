import { el } from './dom';

/** Says things to a screen reader. */
export class Announcer {
  readonly element = el('div', { class: 'visually-hidden', role: 'status', 'aria-live': 'assertive', 'aria-atomic': 'true' });

  say(text: string): void {
    this.element.textContent = text;
  }
}
