import { visiblePieces } from './visible-text';

type Child = Node | string | undefined | false;
type Attributes = Record<string, string | boolean | undefined>;

/**
 * An element. Strings become text, never markup, and nothing in this program sets markup any other
 * way.
 */
export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    node.setAttribute(name, value === true ? '' : value);
  }
  for (const child of children) if (child !== undefined && child !== false) node.append(child);
  return node;
}

/** Text from outside: characters that do not show as they are appear by name, marked. */
export function foreign(text: string): DocumentFragment {
  const fragment = document.createDocumentFragment();
  for (const piece of visiblePieces(text)) {
    if (piece.hidden) fragment.append(el('span', { class: 'hidden-character' }, piece.text));
    else fragment.append(piece.text);
  }
  return fragment;
}

/** `<code>` of text from outside. */
export function code(text: string, className = ''): HTMLElement {
  return el('code', className ? { class: className, dir: 'ltr' } : { dir: 'ltr' }, foreign(text));
}

export function badge(text: string, kind: string): HTMLElement {
  return el('span', { class: `badge ${kind}` }, text);
}

export function button(text: string, act: () => void, attributes: Attributes = {}): HTMLButtonElement {
  const node = el('button', { type: 'button', ...attributes }, text);
  node.addEventListener('click', act);
  return node;
}

/** Rows of a term and what is said about it; those without are left out. */
export function facts(...rows: [string, Node | string | undefined][]): HTMLElement {
  const list = el('dl', { class: 'facts' });
  for (const [term, value] of rows)
    if (value !== undefined && value !== '') list.append(el('dt', {}, term), el('dd', {}, value));
  return list;
}

export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
