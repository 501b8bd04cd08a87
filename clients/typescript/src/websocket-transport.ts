import { WebSocket } from 'ws';
import { NotAdmittedError } from './errors.js';
import type { Transport, Wire } from './wire.js';

export interface WebSocketOptions {
  /** The credential, or where to read it each time (a restarted daemon may have new ones). */
  token?: string | (() => string | Promise<string>);
  /** Limit of one handshake. */
  handshakeMs?: number;
  /** Largest message that is taken. */
  maxBytes?: number;
}

async function connect(url: string, options: WebSocketOptions): Promise<Wire> {
  const token = typeof options.token === 'function' ? await options.token() : options.token;
  const socket = new WebSocket(url, {
    headers: token === undefined ? {} : { Authorization: `Bearer ${token}` },
    handshakeTimeout: options.handshakeMs ?? 10_000,
    maxPayload: options.maxBytes ?? 64 << 20,
    perMessageDeflate: false,
    followRedirects: false,
  });
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', reject);
    socket.once('unexpected-response', (_request, response) => {
      let body = '';
      response.on('data', (part: Buffer) => (body = (body + part.toString()).slice(0, 2000)));
      response.on('end', () => {
        const status = response.statusCode ?? 0;
        // A server that is full or starting is worth another attempt.
        reject(status >= 500 ? new Error(`the endpoint answered ${status}`) : new NotAdmittedError(status, body));
      });
    });
  });
  socket.on('error', () => {}); // `close` follows
  // Until somebody listens, what comes is kept.
  const early: string[] = [];
  let hear = (text: string): unknown => early.push(text);
  socket.on('message', (data: Buffer) => hear(data.toString('utf8')));
  return {
    send: (text) => socket.send(text, () => {}),
    close: () => socket.close(),
    onText: (listener) => {
      hear = listener;
      for (const text of early.splice(0)) listener(text);
    },
    onClose: (listener) =>
      void socket.once('close', (code: number, reason: Buffer) => listener({ code, reason: reason.toString('utf8') })),
  };
}

/** A WebSocket over TCP: `ws://127.0.0.1:PORT`. */
export function webSocketTransport(url: string, options: WebSocketOptions = {}): Transport {
  return { canReconnect: true, open: () => connect(url, options) };
}

/** A WebSocket over the Unix socket at `path`. */
export function unixSocketTransport(path: string, options: WebSocketOptions = {}): Transport {
  return { canReconnect: true, open: () => connect(`ws+unix:${path}:/`, options) };
}
