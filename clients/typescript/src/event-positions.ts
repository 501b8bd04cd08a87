/**
 * How far the client has heard each thread, so that after a reconnect no event is lost and none
 * comes twice.
 *
 * The server knows what it sent, not what arrived: events that were on their way when the
 * connection broke are gone. So after a reconnect each thread is asked for again from here
 * (`thread/resume` with `afterSeq`), and until the answer to that, its events are skipped: those
 * before the hole come again behind it, in order.
 */
export class EventPositions {
  #threads = new Map<string, { heard: number; restoring: boolean }>();

  /** A thread that is heard from `after` on; a position that is further on stays. */
  follow(threadId: string, after: number): void {
    const known = this.#threads.get(threadId);
    if (known) known.heard = Math.max(known.heard, after);
    else this.#threads.set(threadId, { heard: after, restoring: false });
  }

  forget(threadId: string): void {
    this.#threads.delete(threadId);
  }

  follows(threadId: string): boolean {
    return this.#threads.has(threadId);
  }

  /** All threads that are followed, each with the number of its newest event that was heard. */
  list(): { threadId: string; afterSeq: number }[] {
    return [...this.#threads].map(([threadId, at]) => ({ threadId, afterSeq: at.heard }));
  }

  /** The connection is new: every thread has to be asked for again. */
  startRestoring(): void {
    for (const at of this.#threads.values()) at.restoring = true;
  }

  /** The server has answered: what comes now is in order from the position on. */
  restored(threadId: string): void {
    const at = this.#threads.get(threadId);
    if (at) at.restoring = false;
  }

  /** True: this event is to be told now, once. */
  accept(threadId: string, seq: number): boolean {
    const at = this.#threads.get(threadId);
    if (!at) {
      this.#threads.set(threadId, { heard: seq, restoring: false });
      return true;
    }
    if (at.restoring || seq <= at.heard) return false;
    at.heard = seq;
    return true;
  }
}
