import { createMessageConnection, ResponseError, type MessageConnection } from 'vscode-jsonrpc';
import { ApprovalDesk, type ApprovalHandler } from './approval-desk.js';
import { defaultReconnect, delayBefore, type ReconnectPolicy } from './backoff.js';
import { ConnectionLostError, EndpointError, NotAdmittedError, SessionLostError } from './errors.js';
import { EventPositions } from './event-positions.js';
import { wireEnded, WireReader, WireWriter } from './json-channel.js';
import {
  notificationMethods,
  serverRequestMethods,
  type ApprovalRequest,
  type ClientInfo,
  type InitializeResult,
  type Notifications,
  type RequestResolved,
  type Requests,
  type ThreadParams,
} from './protocol.js';
import { isRepeatable } from './repeatable.js';
import type { Transport, Wire, WireEnd } from './wire.js';

export interface SessionOptions {
  transport: Transport;
  clientInfo: ClientInfo;
  /** Answers questions; with it the connection is asked about every thread (reviewers). */
  approvals?: ApprovalHandler;
  /** False: a lost connection ends the client. */
  reconnect?: ReconnectPolicy | false;
}

export interface SessionEvents {
  /**
   * The connection stands. `renewed`: in a new session, so what the old one had is gone; `lost`
   * then says what that is, and what is not.
   */
  connected: { renewed: boolean; lost: string | undefined; facts: InitializeResult };
  /** The connection broke; the client tries to return. */
  disconnected: { reason: string };
  /** A thread that was followed is no longer there. */
  threadLost: { threadId: string };
  /** The client has ended. `error`: not by `close()`. */
  closed: { error: Error | undefined };
}

interface PendingRequest {
  method: keyof Requests;
  params: unknown;
  /** It was handed to a connection; it may have been carried out. */
  sent: boolean;
  resolve: (result: never) => void;
  reject: (why: Error) => void;
}

type AnyEvents = SessionEvents & Notifications;

/** Close code of a connection whose session another connection took over. */
const policyViolation = 1008;

function asEndpointError(why: unknown): Error {
  if (why instanceof ResponseError) {
    const data = typeof why.data === 'object' && why.data !== null ? why.data : {};
    return new EndpointError(why.code, why.message, data as { kind?: string });
  }
  return why instanceof Error ? why : new Error(String(why));
}

/**
 * One session with the endpoint over as many connections as it takes: it returns to its session
 * after a lost connection, asks for the events that it missed, and sends again what may be sent
 * again.
 */
export class Session {
  #facts: InitializeResult | undefined;
  #connection: MessageConnection | undefined;
  #wire: Wire | undefined;
  #ready = false;
  #ended: { error: Error | undefined } | undefined;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #pending = new Set<PendingRequest>();
  #positions = new EventPositions();
  #desk: ApprovalDesk | undefined;
  #listeners = new Map<string, Set<(params: never) => void>>();

  private constructor(private readonly options: SessionOptions) {
    if (options.approvals) this.#desk = new ApprovalDesk(options.approvals);
  }

  /** Rejects when the first connection fails. */
  static async open(options: SessionOptions): Promise<Session> {
    const session = new Session(options);
    try {
      await session.#connect();
    } catch (error) {
      session.#end(error as Error);
      throw error;
    }
    return session;
  }

  /** Of the present session. */
  get facts(): InitializeResult {
    if (!this.#facts) throw new Error('the session was never opened');
    return this.#facts;
  }

  get connected(): boolean {
    return this.#ready;
  }

  /** What a listener throws comes up as an uncaught exception, and changes nothing here. */
  on<E extends keyof AnyEvents>(event: E, hear: (params: AnyEvents[E]) => void): () => void {
    const all = this.#listeners.get(event) ?? new Set();
    this.#listeners.set(event, all);
    all.add(hear as (params: never) => void);
    return () => all.delete(hear as (params: never) => void);
  }

  /** While the connection is away the request waits for it. */
  request<M extends keyof Requests>(
    method: M,
    params: Requests[M]['params'],
  ): Promise<Requests[M]['result']> {
    if (this.#ended) return Promise.reject(new ConnectionLostError('the client is closed'));
    return new Promise((resolve, reject) => {
      const one: PendingRequest = { method, params, sent: false, resolve, reject };
      this.#pending.add(one);
      if (this.#ready) this.#send(one);
    });
  }

  /** From now on the thread's events after `seq` are followed across reconnects. */
  follow(threadId: string, seq: number): void {
    this.#positions.follow(threadId, seq);
  }

  unfollow(threadId: string): void {
    this.#positions.forget(threadId);
  }

  /** Ends the connection for good. What the endpoint has under way goes on for its grace time. */
  close(): void {
    this.#end(undefined);
  }

  async #connect(): Promise<void> {
    const wire = await this.options.transport.open();
    if (this.#ended) {
      wire.close();
      throw new ConnectionLostError('the client is closed');
    }
    let connection: MessageConnection | undefined;
    const lost = new Promise<never>((_, reject) => {
      const reader = new WireReader(wire, (end) => {
        reject(new ConnectionLostError(`the connection ended: ${end.reason || end.code || 'lost'}`));
        if (connection) this.#lost(connection, end);
      });
      connection = createMessageConnection(reader, new WireWriter(wire));
      connection.onNotification(wireEnded, () => reader.finish());
    });
    lost.catch(() => {}); // told below, while somebody waits
    const made = connection!;
    this.#wire = wire;
    this.#connection = made;
    this.#listen(made);
    made.listen();
    try {
      await Promise.race([this.#initialize(made), lost]);
    } catch (error) {
      if (this.#connection === made) this.#connection = undefined;
      made.dispose();
      wire.close();
      throw asEndpointError(error);
    }
  }

  #listen(connection: MessageConnection): void {
    for (const method of notificationMethods)
      connection.onNotification(method, (params: Notifications[typeof method]) => {
        if (connection === this.#connection) this.#hear(method, params);
      });
    for (const method of serverRequestMethods)
      connection.onRequest(method, (question: ApprovalRequest) => {
        if (!this.#desk) return new Promise(() => {}); // not asked for; others answer
        return this.#desk.ask(question);
      });
    connection.onError(() => {}); // the wire's end says it
  }

  #hear<N extends keyof Notifications>(method: N, params: Notifications[N]): void {
    // That of command/exec/outputDelta counts the output of one command.
    if ('seq' in params && 'threadId' in params && !this.#positions.accept(params.threadId, params.seq)) return;
    if (method === 'thread/closed') this.#positions.forget((params as ThreadParams).threadId);
    if (method === 'serverRequest/resolved') this.#desk?.resolved((params as RequestResolved).requestId);
    this.#tell(method, params as AnyEvents[N]);
  }

  async #initialize(connection: MessageConnection): Promise<void> {
    const first = {
      clientInfo: this.options.clientInfo,
      // `false` would say that nobody is here; whoever has no handler may still answer by request.
      ...(this.#desk && { capabilities: { gatehouse: { approvals: true } } }),
    };
    const before = this.#facts;
    this.#positions.startRestoring();
    let facts: InitializeResult | undefined;
    let lost: string | undefined;
    if (before) {
      try {
        // The server may not have noticed yet that the old connection is gone.
        const resume = { resumeSessionId: before.sessionId, takeover: true };
        facts = await connection.sendRequest('initialize', { ...first, ...resume });
      } catch (error) {
        const why = asEndpointError(error) as EndpointError;
        if (why.kind !== 'unknownSession') throw error;
        lost = why.message;
      }
    }
    facts ??= await connection.sendRequest<InitializeResult>('initialize', first);
    void connection.sendNotification('initialized', {});
    const renewed = before !== undefined && !facts.resumed;
    if (renewed) this.#dropWhatNeededTheSession();
    this.#facts = facts;
    await this.#restoreThreads(connection, before !== undefined);
    this.#ready = true;
    this.#tell('connected', { renewed, lost, facts });
    for (const one of [...this.#pending]) this.#send(one);
  }

  async #restoreThreads(connection: MessageConnection, again: boolean): Promise<void> {
    const wanted = this.#positions.list();
    if (this.#desk) {
      // Questions come from every thread, so every thread is followed: those that stand now from
      // here on, those that were started while the connection was away from their first event.
      const { data } = await connection.sendRequest<Requests['thread/loaded/list']['result']>(
        'thread/loaded/list',
        {},
      );
      for (const thread of data) {
        if (this.#positions.follows(thread.id)) continue;
        const afterSeq = again ? 0 : thread.lastSeq;
        this.#positions.follow(thread.id, afterSeq);
        wanted.push({ threadId: thread.id, afterSeq });
      }
    }
    await Promise.all(
      wanted.map(async (one) => {
        try {
          await connection.sendRequest('thread/resume', one);
          this.#positions.restored(one.threadId);
        } catch (error) {
          if ((asEndpointError(error) as EndpointError).kind !== 'unknownThread') throw error;
          this.#positions.forget(one.threadId);
          this.#tell('threadLost', { threadId: one.threadId });
        }
      }),
    );
  }

  /** A call id means something in its session only, and the session is gone. */
  #dropWhatNeededTheSession(): void {
    this.#desk?.clear();
    for (const one of [...this.#pending])
      if (one.sent && one.method === 'tool/call')
        this.#settle(one, () =>
          one.reject(new SessionLostError('the session ended; the outcome of the call is not known')),
        );
  }

  #send(one: PendingRequest): void {
    const connection = this.#connection;
    if (!connection) return;
    one.sent = true;
    connection.sendRequest(one.method, one.params).then(
      (result) => this.#settle(one, () => one.resolve(result as never)),
      (error: unknown) => {
        // Anything else than an answer is the connection's end; `#lost` decides about that.
        if (error instanceof ResponseError && connection === this.#connection)
          this.#settle(one, () => one.reject(asEndpointError(error)));
      },
    );
  }

  #settle(one: PendingRequest, act: () => void): void {
    if (this.#pending.delete(one)) act();
  }

  #lost(connection: MessageConnection, end: WireEnd): void {
    if (connection !== this.#connection) return;
    this.#connection = undefined;
    this.#wire = undefined;
    const stood = this.#ready;
    this.#ready = false;
    connection.dispose();
    if (!stood) return; // #connect tells
    const why = end.reason || 'the connection was lost';
    if (end.code === policyViolation || this.options.reconnect === false || !this.options.transport.canReconnect) {
      this.#end(new ConnectionLostError(why));
      return;
    }
    for (const one of [...this.#pending])
      if (one.sent && !isRepeatable(one.method))
        this.#settle(one, () =>
          one.reject(new ConnectionLostError(`${why}; whether ${one.method} was carried out is not known`)),
        );
    this.#tell('disconnected', { reason: why });
    this.#tryAgain(1);
  }

  #tryAgain(attempt: number): void {
    const policy = this.options.reconnect || defaultReconnect;
    if (this.#ended) return;
    if (policy.maxAttempts !== undefined && attempt > policy.maxAttempts) {
      this.#end(new ConnectionLostError(`the endpoint did not come back in ${policy.maxAttempts} attempts`));
      return;
    }
    this.#retry = setTimeout(() => {
      this.#connect().catch((error: unknown) => {
        if (error instanceof NotAdmittedError) this.#end(error);
        else this.#tryAgain(attempt + 1);
      });
    }, delayBefore(attempt, policy, Math.random));
  }

  #end(error: Error | undefined): void {
    if (this.#ended) return;
    this.#ended = { error };
    clearTimeout(this.#retry);
    this.#ready = false;
    this.#connection?.dispose();
    this.#connection = undefined;
    this.#wire?.close();
    this.#desk?.clear();
    for (const one of [...this.#pending])
      this.#settle(one, () => one.reject(error ?? new ConnectionLostError('the client was closed')));
    this.#tell('closed', { error });
  }

  #tell<E extends keyof AnyEvents>(event: E, params: AnyEvents[E]): void {
    for (const hear of [...(this.#listeners.get(event) ?? [])])
      try {
        (hear as (p: AnyEvents[E]) => void)(params);
      } catch (error) {
        // A listener's fault is its program's to hear of; here, things go on.
        queueMicrotask(() => {
          throw error;
        });
      }
  }
}
