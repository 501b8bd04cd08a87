// A question of the gate as a native prompt. What an agent wrote is only ever shown as text.
import { patchOf, type ApprovalDecision } from '@gatehouse/client';

/** The fields of a question that a prompt shows. */
export interface Question {
  requestId: string;
  command: string;
  cwd: string;
  reason: string;
  justification: string;
  willBeAllowed: string;
  withoutSandbox: boolean;
  attempt: number;
  argv: string[];
  availableDecisions: unknown[];
}

export interface Choice {
  title: string;
  decision: ApprovalDecision;
}

export interface Prompt {
  message: string;
  detail: string;
  choices: Choice[];
}

/** What would not show as what it is becomes visible, as at a terminal. */
export function visible(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cn}\u2028\u2029]/gu, (c) =>
    c === '\n' || c === '\t' ? c : `\\u{${c.codePointAt(0)!.toString(16)}}`,
  );
}

const quoted = (words: unknown): string => (Array.isArray(words) ? words.map(String).join(' ') : '');

/** The choice that a decision is; undefined for one that this version does not know. */
function choiceOf(decision: unknown): Choice | undefined {
  const known = decision as ApprovalDecision;
  if (decision === 'accept') return { title: 'Yes, once', decision: known };
  if (decision === 'acceptForSession') return { title: 'Yes, for this session', decision: known };
  if (decision === 'decline') return { title: 'No', decision: known };
  if (decision === 'cancel') return { title: 'No, and stop', decision: known };
  if (typeof decision !== 'object' || decision === null) return undefined;
  const rule = (decision as Record<string, Record<string, unknown>>).acceptWithExecpolicyAmendment;
  if (rule) return { title: `Yes, always: ${visible(quoted(rule.execpolicy_amendment))}`, decision: known };
  const network = (decision as Record<string, Record<string, unknown>>).applyNetworkPolicyAmendment;
  const host = network?.network_policy_amendment as { action?: string; host?: string } | undefined;
  if (host) return { title: `${host.action === 'deny' ? 'Never' : 'Always'} ${visible(String(host.host))}`, decision: known };
  return undefined;
}

export function promptOf(question: Question): Prompt {
  const patch = patchOf(question);
  const what = patch ? `a patch: ${patch.files}` : question.command;
  const lines = [
    `Folder: ${question.cwd}`,
    `Why: ${question.reason || 'the approval policy asks about this command'}`,
    ...(question.justification && question.justification !== question.reason ? [`It says: ${question.justification}`] : []),
    `A yes allows: ${question.willBeAllowed}`,
  ];
  return {
    message: `${question.attempt > 1 ? 'Second attempt' : 'Approval needed'}${question.withoutSandbox ? ' WITHOUT the sandbox' : ''}: ${visible(what)}`,
    detail: lines.map(visible).join('\n\n'),
    choices: question.availableDecisions.map(choiceOf).filter((choice) => choice !== undefined),
  };
}
