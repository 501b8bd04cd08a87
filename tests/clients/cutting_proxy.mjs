// A way to the daemon that can be cut: what is under way is lost on both sides.
import net from 'node:net';

export class CuttingProxy {
  #server;
  #pairs = new Set();
  accepted = 0;

  static async to(url) {
    const proxy = new CuttingProxy();
    const port = Number(new URL(url).port);
    proxy.#server = net.createServer((client) => {
      proxy.accepted += 1;
      const server = net.connect(port, '127.0.0.1');
      const pair = { client, server };
      proxy.#pairs.add(pair);
      const drop = () => {
        proxy.#pairs.delete(pair);
        client.destroy();
        server.destroy();
      };
      for (const socket of [client, server]) socket.on('error', drop).on('close', drop);
      // The daemon takes only its own address as Host.
      client.once('data', (first) => {
        server.write(Buffer.from(first.toString('latin1').replace(/^host: .*$/im, `Host: 127.0.0.1:${port}`), 'latin1'));
        client.pipe(server);
      });
      server.pipe(client);
    });
    await new Promise((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get url() {
    return `ws://127.0.0.1:${this.#server.address().port}`;
  }

  /** Nothing more is passed on to the client, as if the network had gone; the daemon does not know. */
  freeze() {
    for (const { client, server } of this.#pairs) {
      server.unpipe(client);
      server.resume();
      client.unpipe(server);
    }
  }

  /** The client reads nothing for a while; what was sent waits, and in the end the daemon waits. */
  stall() {
    for (const { client, server } of this.#pairs) server.unpipe(client);
  }

  flow() {
    for (const { client, server } of this.#pairs) server.pipe(client);
  }

  cut() {
    for (const { client, server } of [...this.#pairs]) {
      client.destroy();
      server.destroy();
    }
  }

  close() {
    this.cut();
    this.#server.close();
  }
}
