import { badge, code, el, facts, foreign } from './dom';
import type { Explanation, Segment } from './model';
import { shellJoin } from './shell-words';

const judges: Record<string, string> = {
  rule: 'a rule',
  safe: 'known to be safe',
  danger: 'dangerous',
  unmatched: 'no rule, not on a list',
};

function segmentRow(segment: Segment): HTMLElement {
  const { rule } = segment;
  const where = rule ? `${rule.file}:${rule.line}` : undefined;
  const why = [segment.why, rule?.justification, where].filter((part) => part !== undefined && part !== '');
  return el(
    'li',
    { class: 'segment' },
    badge(segment.decision, segment.decision),
    code(shellJoin(segment.argv)),
    el('span', { class: 'quiet' }, [judges[segment.judge] ?? segment.judge, ...why].join(' – ')),
  );
}

/** The commands that were found in a call, each with its judgement. */
export function segmentList(explanation: Explanation): HTMLElement {
  const list = el('ol', { class: 'segments' }, ...explanation.segments.map(segmentRow));
  if (!explanation.complex) return list;
  return el('div', {}, list, el('p', { class: 'quiet' }, 'Not all of it could be read as plain commands.'));
}

export function boundaryText({ sandbox }: Explanation): string {
  const where = sandbox.first_attempt === 'sandboxed' ? `inside the ${sandbox.backend} sandbox` : sandbox.first_attempt;
  return `${where}, network ${sandbox.network}`;
}

/** What a rule that is added would let pass. */
export function ruleText({ requirement }: Explanation, withoutSandbox = false): HTMLElement | undefined {
  const words = requirement.proposed_amendment;
  if (!words?.length) return undefined;
  const leaves = withoutSandbox || requirement.amendment_sandbox !== 'keep';
  const where = leaves ? 'and by default without the sandbox, ' : 'but inside the sandbox, ';
  const what = requirement.amendment_exact ? 'exactly: ' : 'all that begins with: ';
  return el('span', {}, 'from now on, without a question ', where, what, code(shellJoin(words)));
}

const requirements: Record<string, [string, string]> = {
  skip: ['runs without a question', 'allow'],
  needs_approval: ['needs an approval', 'prompt'],
  forbidden: ['is refused', 'forbidden'],
};

/** All of it in the words that the terminal and the audit have, too. */
export function whyView(text: string | undefined): HTMLElement | undefined {
  if (!text) return undefined;
  return el('details', { class: 'why' }, el('summary', {}, 'Why? In words'), el('pre', { dir: 'ltr', tabindex: '0' }, foreign(text)));
}

/** The whole decision about a call. */
export function explanationView(explanation: Explanation, why?: string): HTMLElement {
  const { requirement } = explanation;
  const [text, kind] = requirements[requirement.kind] ?? [requirement.kind, 'prompt'];
  return el(
    'div',
    { class: 'explanation' },
    el('p', { class: 'verdict' }, badge(text, kind)),
    facts(
      ['Reason', requirement.reason && code(requirement.reason, 'prose')],
      ['Refused by', requirement.refused_by],
      ['A reviewer may add the rule', ruleText(explanation)],
      ['Boundary', boundaryText(explanation)],
      ['Sandbox', requirement.bypass_sandbox ? 'a rule lets it run without' : undefined],
    ),
    el('h2', { class: 'small' }, 'Commands'),
    segmentList(explanation),
    whyView(why ?? explanation.why),
  );
}
