/** An error that the endpoint answered. `kind` is the stable discriminator. */
export class EndpointError extends Error {
  override readonly name = 'EndpointError';
  readonly kind: string;

  constructor(
    readonly code: number,
    message: string,
    readonly data: { kind?: string; [field: string]: unknown },
  ) {
    super(message);
    this.kind = data.kind ?? '';
  }
}

/** The endpoint refused the connection itself: wrong token, Host or Origin. */
export class NotAdmittedError extends Error {
  override readonly name = 'NotAdmittedError';
  constructor(
    readonly status: number,
    why: string,
  ) {
    super(`the endpoint refused the connection (${status}): ${why.trim()}`);
  }
}

/**
 * The connection broke before the answer came, and the request is not one that can be sent again
 * without harm. Whether it was carried out is not known.
 */
export class ConnectionLostError extends Error {
  override readonly name = 'ConnectionLostError';
}

/** The session ended (the daemon restarted, or the client was away for too long). */
export class SessionLostError extends Error {
  override readonly name = 'SessionLostError';
}
