import type { ApprovalAnswer, ApprovalRequest } from './protocol.js';

/** What a reviewer can say; `availableDecisions` of the question lists which of these it may. */
export type ApprovalDecision =
  | 'accept'
  | 'acceptForSession'
  | { acceptWithExecpolicyAmendment: { execpolicy_amendment: string[] } }
  | {
      applyNetworkPolicyAmendment: {
        network_policy_amendment: { host: string; protocol: string; port: number; action: 'allow' | 'deny' };
      };
    }
  | 'decline'
  | 'cancel';

/** What goes with a decision. To a question of the kind `permissions`: how much is given, and for how long. */
export type ApprovalDetails = Omit<ApprovalAnswer, 'decision'>;

/**
 * Answers one question. `over` is aborted when it was answered elsewhere or withdrawn. Undefined
 * leaves it to another reviewer. A handler that throws declines.
 */
export type ApprovalHandler = (
  question: ApprovalRequest,
  over: AbortSignal,
) => Promise<({ decision: ApprovalDecision } & ApprovalDetails) | undefined>;

/**
 * Questions that stand, each asked once however often the server sends it: after a reconnect the
 * same question comes again, and an answer that was given meanwhile is sent then.
 */
export class ApprovalDesk {
  #open = new Map<string, { answer: Promise<ApprovalAnswer>; close: () => void }>();

  constructor(private readonly handler: ApprovalHandler) {}

  ask(question: ApprovalRequest): Promise<ApprovalAnswer> {
    const known = this.#open.get(question.requestId);
    if (known) return known.answer;
    const over = new AbortController();
    // The server ignores what is said after the end.
    const tooLate: ApprovalAnswer = { decision: 'decline' };
    const ended = new Promise<ApprovalAnswer>((resolve) =>
      over.signal.addEventListener('abort', () => resolve(tooLate), { once: true }),
    );
    const said = (async (): Promise<ApprovalAnswer> => {
      const answer = await this.handler(question, over.signal);
      return answer ?? ended;
    })();
    const answer = Promise.race([said, ended]);
    answer.catch(() => {}); // told where it is awaited
    this.#open.set(question.requestId, { answer, close: () => over.abort() });
    return answer;
  }

  /** The question is answered or withdrawn. */
  resolved(requestId: string): void {
    const known = this.#open.get(requestId);
    this.#open.delete(requestId);
    known?.close();
  }

  /** Those that stand are withdrawn with their session. */
  clear(): void {
    for (const id of [...this.#open.keys()]) this.resolved(id);
  }
}
