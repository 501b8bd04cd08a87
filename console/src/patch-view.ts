import { el, foreign } from './dom';

/** What a line of a patch does, by how it begins. */
function kindOf(line: string): 'file' | 'place' | 'added' | 'removed' | 'kept' {
  if (line.startsWith('***')) return 'file';
  if (line.startsWith('@@')) return 'place';
  if (line.startsWith('+')) return 'added';
  if (line.startsWith('-')) return 'removed';
  return 'kept';
}

const spoken = { file: '', place: '', added: 'added: ', removed: 'removed: ', kept: '' };

/** More than this is not laid out as lines; a person would not read it here either. */
const mostLines = 4000;

/** A patch as a diff: the sign and a word for screen readers say what colours say. */
export function patchView(text: string): HTMLElement {
  const lines = text.replace(/\n$/, '').split('\n');
  const added = lines.filter((line) => kindOf(line) === 'added').length;
  const removed = lines.filter((line) => kindOf(line) === 'removed').length;
  const body = el('pre', { class: 'diff', tabindex: '0', role: 'region', 'aria-label': 'The patch', dir: 'ltr' });
  for (const line of lines.slice(0, mostLines)) {
    const kind = kindOf(line);
    body.append(el('span', { class: `line ${kind}` }, el('span', { class: 'visually-hidden' }, spoken[kind]), foreign(line), '\n'));
  }
  if (lines.length > mostLines)
    body.append(el('span', { class: 'line place' }, `… ${lines.length - mostLines} more lines: say no and read the patch as a file first`));
  return el('details', { class: 'patch', open: true }, el('summary', {}, `${added} ${added === 1 ? 'line' : 'lines'} added, ${removed} removed`), body);
}
