import { toBase64 } from './base64.js';
import { EndpointClient } from './endpoint-client.js';
import type { Requests, ToolCallParams, ToolCallResult } from './protocol.js';
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

  /**
   * Runs a command of the client's own in a thread; refusals are results, too. Unless it is
   * `detachable` it ends with the connection. Its output: `command/exec/outputDelta`.
   */
  runCommand(
    params: Requests['command/exec']['params'] & { threadId: string },
  ): Promise<Requests['command/exec']['result']> {
    return this.session.request('command/exec', params);
  }

  /** Types into the terminal of a command. */
  writeToCommand(processId: string, text: string | Uint8Array): Promise<Requests['command/exec/write']['result']> {
    return this.session.request('command/exec/write', { processId, deltaBase64: toBase64(text) });
  }

  async resizeCommand(params: Requests['command/exec/resize']['params']): Promise<void> {
    await this.session.request('command/exec/resize', params);
  }

  /** Ends a command; its result still comes. */
  async endCommand(processId: string): Promise<void> {
    await this.session.request('command/exec/terminate', { processId });
  }
}
