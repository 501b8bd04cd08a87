import type { Transport, Wire } from './wire.js';

function connect(url: string, protocols: string[]): Promise<Wire> {
  const socket = new WebSocket(url, protocols);
  const early: string[] = [];
  let hear = (text: string): unknown => early.push(text);
  socket.onmessage = (event) => hear(String(event.data));
  return new Promise((resolve, reject) => {
    // A browser does not tell why a WebSocket was refused.
    socket.onerror = () => reject(new Error('the endpoint cannot be reached'));
    socket.onopen = () =>
      resolve({
        send: (text) => socket.send(text),
        close: () => socket.close(),
        onText: (listener) => {
          hear = listener;
          for (const text of early.splice(0)) listener(text);
        },
        onClose: (listener) => {
          socket.onclose = (event) => listener({ code: event.code, reason: event.reason });
        },
      });
  });
}

/** A page's own WebSocket. The credential is the page's cookie, or a token as subprotocol. */
export function browserTransport(url: string, protocols: string[] = ['gatehouse.v1']): Transport {
  return { canReconnect: true, open: () => connect(url, protocols) };
}
