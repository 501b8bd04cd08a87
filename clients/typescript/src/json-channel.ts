import type { DataCallback, Disposable, Message, MessageReader, MessageWriter } from 'vscode-jsonrpc';
import { AbstractMessageReader, AbstractMessageWriter } from 'vscode-jsonrpc';
import type { Wire, WireEnd } from './wire.js';

/** The notification by which a reader tells its connection that nothing more comes. */
export const wireEnded = '$/gatehouse/wireEnded';

/** Reads JSON-RPC messages from a wire, for vscode-jsonrpc. */
export class WireReader extends AbstractMessageReader implements MessageReader {
  #hear: DataCallback | undefined;
  #early: Message[] = [];
  #end: (() => void) | undefined;

  constructor(wire: Wire, ended: (end: WireEnd) => void) {
    super();
    wire.onText((text) => {
      let message: Message;
      try {
        message = JSON.parse(text) as Message;
      } catch (error) {
        this.fireError(error);
        wire.close();
        return;
      }
      this.#deliver(message);
    });
    wire.onClose((end) => {
      this.#end = () => {
        ended(end);
        this.fireClose();
      };
      // A connection takes what it hears one by one, later: the end has its turn behind all of that.
      this.#deliver({ jsonrpc: '2.0', method: wireEnded } as Message);
    });
  }

  /** The connection has come to `wireEnded`; a peer that says so itself ends nothing. */
  finish(): void {
    this.#end?.();
  }

  #deliver(message: Message): void {
    if (this.#hear) this.#hear(message);
    else this.#early.push(message);
  }

  override listen(hear: DataCallback): Disposable {
    this.#hear = hear;
    for (const message of this.#early.splice(0)) hear(message);
    return { dispose: () => (this.#hear = undefined) };
  }
}

/** Writes JSON-RPC messages to a wire, for vscode-jsonrpc. */
export class WireWriter extends AbstractMessageWriter implements MessageWriter {
  constructor(private readonly wire: Wire) {
    super();
  }

  write(message: Message): Promise<void> {
    try {
      this.wire.send(JSON.stringify(message));
      return Promise.resolve();
    } catch (error) {
      this.fireError(error, message);
      return Promise.reject(error as Error);
    }
  }

  end(): void {
    this.wire.close();
  }
}
