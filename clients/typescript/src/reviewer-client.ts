import type { ApprovalDecision, ApprovalDetails } from './approval-desk.js';
import { EndpointClient } from './endpoint-client.js';
import type { ApprovalRequest, Requests, RevokeParams } from './protocol.js';
import { Session, type SessionOptions } from './session.js';

/** Answers questions and takes back grants. It cannot propose calls. */
export class ReviewerClient extends EndpointClient {
  /** With `approvals` the client is asked about every thread; else it hears those it resumes. */
  static async connect(options: SessionOptions): Promise<ReviewerClient> {
    return new ReviewerClient(await EndpointClient.openAs('reviewer', options));
  }

  private constructor(session: Session) {
    super(session);
  }

  /** The questions that stand, oldest first. */
  async listApprovals(threadId?: string): Promise<ApprovalRequest[]> {
    return (await this.session.request('approval/list', threadId === undefined ? {} : { threadId })).data;
  }

  /** Answers the question exactly as it was shown: the digest goes with the answer. */
  async resolveApproval(
    question: ApprovalRequest,
    decision: ApprovalDecision,
    details: ApprovalDetails = {},
  ): Promise<void> {
    const { threadId, requestId, actionDigest } = question;
    await this.session.request('approval/resolve', { ...details, threadId, requestId, actionDigest, decision });
  }

  /** A person's own input for a terminal session: nobody is asked about it. */
  async writeTerminal(params: Requests['thread/backgroundTerminals/write']['params']): Promise<void> {
    await this.session.request('thread/backgroundTerminals/write', params);
  }

  /** Other settings for the calls of a thread that are still to come; what is left out stays. */
  updateSettings(
    params: Requests['thread/settings/update']['params'],
  ): Promise<Requests['thread/settings/update']['result']> {
    return this.session.request('thread/settings/update', params);
  }

  /** Lets exactly this action pass once, which the automatic reviewer has just refused. */
  async allowRefused(threadId: string, actionDigest: string): Promise<void> {
    await this.session.request('approval/allowRefused', { threadId, actionDigest });
  }

  /** False: there was no such grant. */
  async revoke(params: RevokeParams): Promise<boolean> {
    return (await this.session.request('grant/revoke', params)).found;
  }
}
