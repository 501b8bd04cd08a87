import { EndpointClient } from './endpoint-client.js';
import type { ToolCallParams, ToolCallResult } from './protocol.js';
import { Session, type SessionOptions } from './session.js';

/** A call id that was never used before. */
export function newCallId(): string {
  return `call-${crypto.randomUUID()}`;
}

/** Proposes work and reads its results. It cannot answer questions: nothing here could. */
export class AgentClient extends EndpointClient {
  static async connect(options: Omit<SessionOptions, 'approvals'>): Promise<AgentClient> {
    return new AgentClient(await EndpointClient.openAs('agent', options));
  }

  private constructor(session: Session) {
    super(session);
  }

  /**
   * Runs a call and waits for its end; refusals are results, too. The call id makes it one call
   * however often the connection breaks. Give one to tell its events (`itemId`) from others.
   */
  callTool(params: Omit<ToolCallParams, 'callId'> & { callId?: string }): Promise<ToolCallResult> {
    return this.session.request('tool/call', { ...params, callId: params.callId ?? newCallId() });
  }
}
