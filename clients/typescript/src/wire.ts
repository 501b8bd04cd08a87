/** One connection that carries whole JSON texts. Callbacks are set once, before anything is sent. */
export interface Wire {
  send(text: string): void;
  close(): void;
  onText(hear: (text: string) => void): void;
  /** Once, as the last; also after `close()`. */
  onClose(hear: (end: WireEnd) => void): void;
}

export interface WireEnd {
  /** WebSocket close code; undefined where there is none. */
  code: number | undefined;
  reason: string;
}

/** Makes connections to one endpoint. */
export interface Transport {
  /** Rejects with `NotAdmittedError` when trying again with the same credential is of no use. */
  open(): Promise<Wire>;
  /** False: what is at the other end dies with the connection, so there is nothing to return to. */
  readonly canReconnect: boolean;
}
