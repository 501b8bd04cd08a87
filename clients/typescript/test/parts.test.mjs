import assert from 'node:assert/strict';
import { test } from 'node:test';
import { protocolSource } from '../scripts/protocol-source.mjs';
import { delayBefore } from '../dist/backoff.js';
import { EventPositions } from '../dist/event-positions.js';
import { LineSplitter } from '../dist/stdio-transport.js';

test('lines come whole whatever the chunks, also within a character', () => {
  const lines = new LineSplitter();
  const bytes = Buffer.from('{"a":"ü"}\n\nlast');
  const got = [...bytes].flatMap((byte) => lines.push(Buffer.from([byte])));
  assert.deepEqual(got, ['{"a":"ü"}', '']);
  assert.deepEqual(lines.push(Buffer.from('\nx\ny\n')), ['last', 'x', 'y']);
});

test('the pauses double up to their limit and are spread over a half', () => {
  const policy = { firstDelayMs: 100, maxDelayMs: 1000 };
  assert.deepEqual([1, 2, 3, 4, 5].map((n) => delayBefore(n, policy, () => 1)), [100, 200, 400, 800, 1000]);
  assert.equal(delayBefore(1, policy, () => 0), 50);
});

test('positions: doubled events are dropped, and events before the answer to a restoration', () => {
  const at = new EventPositions();
  assert.equal(at.accept('t', 3), true);
  assert.equal(at.accept('t', 3), false);
  at.startRestoring();
  assert.equal(at.accept('t', 6), false);
  assert.deepEqual(at.list(), [{ threadId: 't', afterSeq: 3 }]);
  at.restored('t');
  assert.deepEqual([4, 5, 6, 6].map((seq) => at.accept('t', seq)), [true, true, true, false]);
  at.follow('t', 2);
  assert.deepEqual(at.list(), [{ threadId: 't', afterSeq: 6 }]);
});

test('the generator refuses a schema that it does not understand', () => {
  const schema = { $defs: { A: { type: 'tuple' } }, methods: {}, serverRequests: {}, notifications: {} };
  assert.throws(() => protocolSource(schema), /does not know: tuple/);
});
