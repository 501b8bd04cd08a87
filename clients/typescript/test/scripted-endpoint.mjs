// A peer for tests of the client alone: it keeps the events of one thread and can lose the
// connection with messages under way, as the real one does. Everything else is tested against the
// real daemon (tests/clients).
import { WebSocketServer } from 'ws';

export class ScriptedEndpoint {
  #server;
  #socket;
  #log = [];
  #subscribed = false;
  #results = new Map(); // callId → result
  #waiting = new Map(); // callId → ids of requests
  authority = 'agent';
  session = 'session-1';
  requests = []; // every request that arrived: {method, params}
  responses = []; // every answer of the client
  question; // stands

  static async listen() {
    const endpoint = new ScriptedEndpoint();
    endpoint.#server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
    endpoint.#server.on('connection', (socket) => {
      endpoint.#socket = socket;
      endpoint.#subscribed = false;
      socket.on('message', (data) => endpoint.#receive(socket, JSON.parse(data)));
    });
    await new Promise((resolve) => endpoint.#server.once('listening', resolve));
    return endpoint;
  }

  get url() {
    return `ws://127.0.0.1:${this.#server.address().port}`;
  }

  /** The next event; `lost`: it was sent, but never arrives. */
  emit(lost = false) {
    const seq = this.#log.length + 1;
    const event = { method: 'warning', params: { threadId: 't', seq, message: `event ${seq}` } };
    this.#log.push(event);
    if (!lost) this.#send(event);
  }

  /** Sends something that is no event of the thread. */
  send(message) {
    this.#send(message);
  }

  finish(callId, output) {
    const result = { callId, status: 'completed', output };
    this.#results.set(callId, result);
    for (const id of this.#waiting.get(callId) ?? []) this.#send({ id, result });
  }

  cut() {
    this.#socket.terminate();
  }

  close() {
    for (const one of this.#server.clients) one.terminate();
    this.#server.close();
  }

  #send(message) {
    if (this.#socket?.readyState === 1) this.#socket.send(JSON.stringify({ jsonrpc: '2.0', ...message }));
  }

  #receive(socket, message) {
    if (!message.method) {
      this.responses.push(message);
      return;
    }
    if (message.id === undefined) return;
    const { method, params, id } = message;
    this.requests.push({ method, params });
    const answer = (result) => this.#send({ id, result });
    const fail = (kind) => this.#send({ id, error: { code: -32600, message: kind, data: { kind } } });
    const thread = { id: 't', lastSeq: this.#log.length };
    switch (method) {
      case 'initialize': {
        const resumed = params.resumeSessionId === this.session;
        if (params.resumeSessionId && !resumed) return fail('unknownSession');
        answer({ sessionId: this.session, resumed, gatehouse: { authority: this.authority } });
        // What came after the newest event that was *sent*; the client has to ask for the rest.
        if (resumed) {
          this.emit();
          if (this.question) this.#send({ id: this.question.requestId, method: 'item/commandExecution/requestApproval', params: this.question });
        }
        return undefined;
      }
      case 'thread/start':
        return answer({ thread });
      case 'thread/loaded/list':
        return answer({ data: [thread] });
      case 'thread/resume':
        if (params.threadId !== 't') return fail('unknownThread');
        answer({ thread });
        for (const event of this.#log.slice(params.afterSeq ?? this.#log.length)) this.#send(event);
        if (this.question) this.#send({ id: this.question.requestId, method: 'item/commandExecution/requestApproval', params: this.question });
        return undefined;
      case 'tool/call': {
        const known = this.#results.get(params.callId);
        if (known) return answer(known);
        return this.#waiting.set(params.callId, [...(this.#waiting.get(params.callId) ?? []), id]);
      }
      case 'turn/start':
        return undefined; // never answered
      default:
        return answer({});
    }
  }
}

export const soon = { firstDelayMs: 1, maxDelayMs: 5 };

/** Resolves when `holds()` does; the test's own limit ends it otherwise. */
export async function until(holds) {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 2));
}
