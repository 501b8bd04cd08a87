import { fromBase64, toBase64 } from './base64.js';
import type { InitializeResult, Notifications, Requests } from './protocol.js';
import { Session, type SessionEvents, type SessionOptions } from './session.js';

type Params<M extends keyof Requests> = Requests[M]['params'];
type InThread<M extends keyof Requests> = Params<M> & { threadId: string };
type Result<M extends keyof Requests> = Promise<Requests[M]['result']>;

/** What both authorities may do. `AgentClient` and `ReviewerClient` add their own. */
export abstract class EndpointClient {
  protected constructor(protected readonly session: Session) {}

  /** Opens a session and makes sure that the credential is the one this client is for. */
  protected static async openAs(authority: 'agent' | 'reviewer', options: SessionOptions): Promise<Session> {
    const session = await Session.open(options);
    const actual = session.facts.gatehouse.authority;
    if (actual === authority) return session;
    session.close();
    throw new Error(`this needs the credential of an ${authority}; the one that was used is of an ${actual}`);
  }

  /** What the endpoint said about itself and this session. */
  get facts(): InitializeResult {
    return this.session.facts;
  }

  get connected(): boolean {
    return this.session.connected;
  }

  /** Hears notifications and what happens to the connection; the function that is given back ends it. */
  on<E extends keyof (SessionEvents & Notifications)>(
    event: E,
    hear: (params: (SessionEvents & Notifications)[E]) => void,
  ): () => void {
    return this.session.on(event, hear);
  }

  close(): void {
    this.session.close();
  }

  /** Opens a thread and follows its events. */
  async startThread(params: Params<'thread/start'>): Result<'thread/start'> {
    const result = await this.session.request('thread/start', params);
    this.session.follow(result.thread.id, 0);
    return result;
  }

  /** Follows a thread; with `afterSeq` the events after that one come first. */
  async resumeThread(params: Params<'thread/resume'>): Result<'thread/resume'> {
    const result = await this.session.request('thread/resume', params);
    this.session.follow(params.threadId, params.afterSeq ?? result.thread.lastSeq);
    return result;
  }

  async unsubscribe(threadId: string): Promise<void> {
    this.session.unfollow(threadId);
    await this.session.request('thread/unsubscribe', { threadId });
  }

  readThread(threadId: string): Result<'thread/read'> {
    return this.session.request('thread/read', { threadId });
  }

  async listThreads(): Promise<Requests['thread/loaded/list']['result']['data']> {
    return (await this.session.request('thread/loaded/list', {})).data;
  }

  async closeThread(threadId: string): Promise<void> {
    await this.session.request('thread/close', { threadId });
    this.session.unfollow(threadId);
  }

  startTurn(params: Params<'turn/start'>): Result<'turn/start'> {
    return this.session.request('turn/start', params);
  }

  async completeTurn(params: Params<'turn/complete'>): Promise<void> {
    await this.session.request('turn/complete', params);
  }

  async interruptTurn(params: Params<'turn/interrupt'>): Promise<void> {
    await this.session.request('turn/interrupt', params);
  }

  async cancelCall(params: Params<'tool/cancel'>): Promise<void> {
    await this.session.request('tool/cancel', params);
  }

  /** The terminal sessions of a thread: those that run, and those whose end no `write_stdin` has seen. */
  async listTerminals(threadId: string): Promise<Requests['thread/backgroundTerminals/list']['result']['data']> {
    return (await this.session.request('thread/backgroundTerminals/list', { threadId })).data;
  }

  /** What is kept of all the output of a session, or with `afterByte` what came since. It takes nothing from `write_stdin`. */
  readTerminal(params: Params<'thread/backgroundTerminals/read'>): Result<'thread/backgroundTerminals/read'> {
    return this.session.request('thread/backgroundTerminals/read', params);
  }

  /** False: there is no such session. */
  async signalTerminal(params: Params<'thread/backgroundTerminals/signal'>): Promise<boolean> {
    return (await this.session.request('thread/backgroundTerminals/signal', params)).found;
  }

  async resizeTerminal(params: Params<'thread/backgroundTerminals/resize'>): Promise<boolean> {
    return (await this.session.request('thread/backgroundTerminals/resize', params)).found;
  }

  /** Resolves when nothing is left of the session. */
  async endTerminal(params: Params<'thread/backgroundTerminals/terminate'>): Promise<boolean> {
    return (await this.session.request('thread/backgroundTerminals/terminate', params)).found;
  }

  /** Ends every session that has outlived its call; resolves to their number. */
  async endAllTerminals(threadId: string): Promise<number> {
    return (await this.session.request('thread/backgroundTerminals/clean', { threadId })).ended;
  }

  /** The document of `gatehouse policy explain --json`. */
  explain(params: Params<'policy/explain'>): Result<'policy/explain'> {
    return this.session.request('policy/explain', params);
  }

  /** The bytes of a file, as the profile of the thread lets it be read. */
  async readFile(params: InThread<'fs/readFile'>): Promise<Uint8Array> {
    return fromBase64((await this.session.request('fs/readFile', params)).dataBase64);
  }

  /** Rejects where a reviewer would have to be asked: nobody is asked here. */
  async writeFile(
    { data, ...where }: Omit<InThread<'fs/writeFile'>, 'dataBase64'> & { data: string | Uint8Array },
  ): Promise<void> {
    await this.session.request('fs/writeFile', { ...where, dataBase64: toBase64(data) });
  }

  async createDirectory(params: InThread<'fs/createDirectory'>): Promise<void> {
    await this.session.request('fs/createDirectory', params);
  }

  getMetadata(params: InThread<'fs/getMetadata'>): Result<'fs/getMetadata'> {
    return this.session.request('fs/getMetadata', params);
  }

  async readDirectory(params: InThread<'fs/readDirectory'>): Promise<Requests['fs/readDirectory']['result']['entries']> {
    return (await this.session.request('fs/readDirectory', params)).entries;
  }

  async removePath(params: InThread<'fs/remove'>): Promise<void> {
    await this.session.request('fs/remove', params);
  }

  async copyPath(params: InThread<'fs/copy'>): Promise<void> {
    await this.session.request('fs/copy', params);
  }

  async listProfiles(): Promise<Requests['permissionProfile/list']['result']['data']> {
    return (await this.session.request('permissionProfile/list', {})).data;
  }
}
