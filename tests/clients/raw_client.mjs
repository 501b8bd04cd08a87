// A connection without manners: it sends whatever a test wants.
import http from 'node:http';
import { WebSocket } from '../../clients/typescript/node_modules/ws/wrapper.mjs';

export class RawClient {
  messages = [];
  closed; // {code}
  #next = 1;
  #heard = new Map();

  static async connect(daemon, authority, { initialize = true, capabilities } = {}) {
    const raw = new RawClient();
    raw.socket = new WebSocket(daemon.url, { headers: { Authorization: `Bearer ${daemon.token(authority)}` } });
    raw.socket.on('error', () => {});
    raw.socket.on('message', (data) => {
      const message = JSON.parse(data);
      raw.messages.push(message);
      raw.#heard.get(message.id)?.(message);
    });
    raw.ended = new Promise((resolve) =>
      raw.socket.once('close', (code) => {
        resolve((raw.closed = { code }));
        for (const hear of raw.#heard.values()) hear({ error: { message: `the connection was closed (${code})`, data: {} } });
      }),
    );
    await new Promise((resolve, reject) => raw.socket.once('open', resolve).once('error', reject));
    if (initialize) {
      const params = { clientInfo: { name: 'raw' }, ...(capabilities && { capabilities }) };
      raw.facts = (await raw.request('initialize', params)).result;
    }
    return raw;
  }

  send(text) {
    this.socket.send(text);
  }

  /** The whole answer: {result} or {error}. */
  request(method, params, id = `r${this.#next++}`) {
    const answer = new Promise((resolve) => this.#heard.set(id, resolve));
    this.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    return answer;
  }

  /** The answer to a message whose id could not be read. */
  answerWithoutId() {
    return new Promise((resolve) => this.#heard.set(null, resolve));
  }

  close() {
    this.socket.terminate();
  }
}

/** The status of one HTTP request to the daemon; 101 for an upgrade that it accepts. */
export function status(daemon, { path = '/', headers = {}, method = 'GET', upgrade = false, socketPath, body } = {}) {
  const { hostname, port } = new URL(daemon.url);
  const all = { ...headers };
  if (upgrade)
    Object.assign(all, {
      Connection: 'Upgrade',
      Upgrade: 'websocket',
      'Sec-WebSocket-Version': '13',
      'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
      ...headers,
    });
  return new Promise((resolve, reject) => {
    const where = socketPath ? { socketPath } : { host: hostname, port };
    const request = http.request({ ...where, path, method, headers: all, agent: false }, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode)).on('error', reject);
    });
    request.on('upgrade', (response, socket) => {
      socket.destroy();
      resolve(response.statusCode);
    });
    request.on('error', reject);
    request.end(body);
  });
}
