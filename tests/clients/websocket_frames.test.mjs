// §201 Frames by the book of RFC 6455, and every way to break it, in the order in which the Autobahn suite lists them:
// what is right is answered, what is wrong ends its own connection with the right code.
import assert from 'node:assert/strict';
import net from 'node:net';
import { after, before, test } from 'node:test';
import { AgentClient } from '../../clients/typescript/dist/index.js';
import { clientInfo, Daemon, shell, soon } from './daemon.mjs';

const limit = { timeout: 120_000 };
let daemon;
let agent;
let thread;

before(async () => {
  daemon = await Daemon.start();
  agent = await AgentClient.connect({ clientInfo, transport: daemon.unix('agent'), reconnect: soon });
  ({ thread } = await agent.startThread({ cwd: daemon.workspace }));
});
after(async () => {
  agent?.close();
  await daemon?.end();
});

const [text, binary, close, ping, pong] = [1, 2, 8, 9, 10];

/** One frame as a client sends it. `first` overrides the byte with FIN, RSV and opcode. */
function frame(opcode, payload = '', { fin = true, rsv = 0, masked = true } = {}) {
  const data = Buffer.isBuffer(payload) ? payload : Buffer.from(payload);
  const head = [(fin ? 0x80 : 0) | (rsv << 4) | opcode];
  const mask = masked ? 0x80 : 0;
  if (data.length < 126) head.push(mask | data.length);
  else if (data.length < 65536) head.push(mask | 126, data.length >> 8, data.length & 255);
  else head.push(mask | 127, 0, 0, 0, 0, ...[24, 16, 8, 0].map((by) => (data.length >>> by) & 255));
  if (!masked) return Buffer.concat([Buffer.from(head), data]);
  const key = Buffer.from([0x37, 0xfa, 0x21, 0x3d]);
  const hidden = Buffer.from(data);
  for (let i = 0; i < hidden.length; i += 1) hidden[i] ^= key[i & 3];
  return Buffer.concat([Buffer.from(head), key, hidden]);
}

const closing = (code, reason = '') => frame(close, Buffer.concat([Buffer.from([code >> 8, code & 255]), Buffer.from(reason)]));
/** A message that is answered under its id, whatever else is in it. */
const message = (id) => JSON.stringify({ id, method: 'x' });

/** A connection that has shaken hands: sends bytes as they are, gives the frames that come back. */
class Peer {
  frames = [];
  #rest = Buffer.alloc(0);
  #heard = () => {};

  static async connect() {
    const peer = new Peer();
    const { hostname, port } = new URL(daemon.url);
    // Half open, as a client is that has more to say.
    peer.socket = net.connect({ port: Number(port), host: hostname, allowHalfOpen: true });
    peer.socket.setNoDelay(true);
    peer.socket.on('error', () => {});
    peer.ended = new Promise((resolve) => peer.socket.once('close', resolve));
    const shaken = new Promise((resolve, reject) => {
      let head = '';
      peer.socket.on('data', function first(data) {
        head += data.toString('latin1');
        const end = head.indexOf('\r\n\r\n');
        if (end < 0) return;
        peer.socket.off('data', first);
        peer.socket.on('data', (more) => peer.#take(more));
        if (!head.startsWith('HTTP/1.1 101')) reject(new Error(head));
        peer.#take(Buffer.from(head.slice(end + 4), 'latin1'));
        resolve();
      });
    });
    peer.socket.write(
      [
        'GET / HTTP/1.1',
        `Host: 127.0.0.1:${port}`,
        'Connection: Upgrade',
        'Upgrade: websocket',
        'Sec-WebSocket-Version: 13',
        'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
        `Authorization: Bearer ${daemon.token('agent')}`,
        '\r\n',
      ].join('\r\n'),
    );
    await shaken;
    return peer;
  }

  #take(data) {
    this.#rest = Buffer.concat([this.#rest, data]);
    for (;;) {
      if (this.#rest.length < 2) return;
      let size = this.#rest[1] & 127;
      let at = 2;
      if (size === 126) [size, at] = [this.#rest.readUInt16BE(2), 4];
      else if (size === 127) [size, at] = [Number(this.#rest.readBigUInt64BE(2)), 10];
      if (this.#rest.length < at + size) return;
      this.frames.push({ opcode: this.#rest[0] & 15, data: this.#rest.subarray(at, at + size) });
      this.#rest = this.#rest.subarray(at + size);
      this.#heard();
    }
  }

  send(...parts) {
    for (const part of parts) this.socket.write(part);
  }

  /** The next frame of this kind. */
  async next(opcode) {
    for (;;) {
      const at = this.frames.findIndex((one) => one.opcode === opcode);
      if (at >= 0) return this.frames.splice(at, 1)[0].data;
      await new Promise((resolve) => (this.#heard = resolve));
    }
  }

  /** The code with which the daemon ends the connection; none without a close frame. */
  async end() {
    const said = this.next(close);
    const data = await Promise.race([said, this.ended.then(() => undefined)]);
    if (data === undefined) return 'no close frame';
    this.socket.end();
    await this.ended;
    return data.length >= 2 ? data.readUInt16BE(0) : 'none';
  }

  async answers(id) {
    const told = JSON.parse((await this.next(text)).toString('utf8'));
    assert.equal(told.id, id);
  }
}

async function untouched() {
  assert.equal((await agent.callTool(shell(thread, 'echo fine'))).output, 'fine\n');
}

/** Every row on a connection of its own, all at once: [name, frames, code]. */
async function allEndWith(rows) {
  await Promise.all(
    rows.map(async ([name, frames, code]) => {
      const peer = await Peer.connect();
      peer.send(...frames);
      assert.equal(await peer.end(), code, name);
    }),
  );
  await untouched();
}

/** Every row is answered under its id, and the connection stands: [name, frames, id]. */
async function allAnswered(rows) {
  await Promise.all(
    rows.map(async ([name, frames, id]) => {
      const peer = await Peer.connect();
      peer.send(...frames);
      await peer.answers(id);
      peer.send(closing(1000));
      assert.equal(await peer.end(), 1000, name);
    }),
  );
  await untouched();
}

const cut = (whole, size) =>
  Array.from({ length: Math.ceil(whole.length / size) }, (_, i) => whole.subarray(i * size, (i + 1) * size));

test('1 texts of every form of length, whole and a byte at a time', limit, async () => {
  const rows = [];
  for (const size of [30, 125, 126, 127, 128, 65535, 65536, 1 << 20]) {
    const id = 'x'.repeat(Math.min(200, Math.max(1, size - 24)));
    const padded = Buffer.from(message(id).padEnd(size, ' '));
    rows.push([`${size} bytes`, [frame(text, padded)], id]);
    if (size < 200) rows.push([`${size} bytes, one at a time`, cut(frame(text, padded), 1), id]);
    else rows.push([`${size} bytes in pieces`, cut(frame(text, padded), 997), id]);
  }
  await allAnswered(rows);
});

test('1 a binary message is not taken (1003)', limit, () =>
  allEndWith([
    ['binary', [frame(binary, 'x')], 1003],
    ['empty binary', [frame(binary)], 1003],
  ]));

test('2 pings are answered with what they bear; pongs that nobody asked for are not', limit, async () => {
  const peer = await Peer.connect();
  for (const data of [Buffer.alloc(0), Buffer.from('hello'), Buffer.from([0, 0xff, 0xfe]), Buffer.alloc(125, 7)]) {
    peer.send(frame(ping, data));
    assert.deepEqual(Buffer.from(await peer.next(pong)), data);
  }
  peer.send(frame(pong), frame(pong, 'unasked'), frame(text, message('a')));
  await peer.answers('a');
  peer.send(...Array.from({ length: 10 }, (_, i) => frame(ping, `${i}`)));
  for (let i = 0, last = -1; last < 9; i += 1) {
    const number = Number((await peer.next(pong)).toString());
    assert.ok(number > last && i < 10); // of pings that came at once, the newest is enough (RFC 6455 5.5.3)
    last = number;
  }
  await allEndWith([['a ping that is too long', [frame(ping, Buffer.alloc(126))], 1002]]);
  peer.socket.destroy();
});

test('3 reserved bits end the connection (1002)', limit, () =>
  allEndWith([
    ...[1, 2, 3, 4, 5, 6, 7].map((rsv) => [`text with bits ${rsv}`, [frame(text, message('a'), { rsv })], 1002]),
    ['ping with a bit', [frame(ping, 'x', { rsv: 4 })], 1002],
    ['close with a bit', [frame(close, '', { rsv: 4 })], 1002],
  ]));

test('4 opcodes that mean nothing end the connection (1002)', limit, () =>
  allEndWith([3, 4, 5, 6, 7, 11, 12, 13, 14, 15].map((opcode) => [`opcode ${opcode}`, [frame(opcode, 'x')], 1002])));

test('5 a message in fragments is one, also with pings between; fragments out of place end it (1002)', limit, async () => {
  const whole = Buffer.from(message('parts'));
  const parts = cut(whole, 4);
  const fragments = parts.map((part, i) => frame(i === 0 ? text : 0, part, { fin: i === parts.length - 1 }));
  const withPings = fragments.flatMap((part, i) => (i === 0 ? [part] : [frame(ping, `${i}`), part]));
  await allAnswered([
    ['fragments', fragments, 'parts'],
    ['fragments in one packet', [Buffer.concat(fragments)], 'parts'],
    ['fragments a byte at a time', cut(Buffer.concat(fragments), 1), 'parts'],
    ['pings between', withPings, 'parts'],
    ['empty fragments', [frame(text, '', { fin: false }), frame(0, '', { fin: false }), frame(0, whole)], 'parts'],
  ]);
  await allEndWith([
    ['a ping in fragments', [frame(ping, 'x', { fin: false }), frame(0, 'y')], 1002],
    ['a close in fragments', [frame(close, '', { fin: false })], 1002],
    ['a continuation of nothing', [frame(0, 'x')], 1002],
    ['an unfinished continuation of nothing', [frame(0, 'x', { fin: false })], 1002],
    ['a text inside a message', [frame(text, 'x', { fin: false }), frame(text, 'y')], 1002],
    ['a binary inside a message', [frame(text, 'x', { fin: false }), frame(binary, 'y')], 1002],
    ['a continuation after the end', [frame(text, message('a')), frame(0, 'x')], 1002],
  ]);
});

test('6 text that is no UTF-8 ends the connection (1007), also when a fragment hides it', limit, async () => {
  const bad = {
    'a byte that begins nothing': [0xff],
    'a continuation byte': [0x80],
    'a sequence that is broken': [0xc3, 0x28],
    'a sequence that is cut': [0xe2, 0x82],
    'a surrogate': [0xed, 0xa0, 0x80],
    'a pair of surrogates': [0xed, 0xa1, 0x80, 0xed, 0xb0, 0x80],
    'an overlong slash': [0xc0, 0xaf],
    'an overlong NUL': [0xe0, 0x80, 0x80],
    'beyond Unicode': [0xf4, 0x90, 0x80, 0x80],
    'five bytes': [0xf8, 0x88, 0x80, 0x80, 0x80],
  };
  const rows = [];
  for (const [name, bytes] of Object.entries(bad)) {
    const data = Buffer.concat([Buffer.from('{"id":"'), Buffer.from(bytes)]);
    const end = Buffer.from('","method":"x"}');
    rows.push([name, [frame(text, Buffer.concat([data, end]))], 1007]);
    rows.push([`${name}, in fragments`, [frame(text, data, { fin: false }), frame(0, end)], 1007]);
  }
  await allEndWith(rows);
  const euro = Buffer.from(message('€𝄞\u{10ffff}'));
  const at = euro.indexOf(0xe2) + 1;
  await allAnswered([
    ['a character in two fragments', [frame(text, euro.subarray(0, at), { fin: false }), frame(0, euro.subarray(at))], '€𝄞\u{10ffff}'],
    ['characters a byte at a time', cut(frame(text, euro), 1), '€𝄞\u{10ffff}'],
  ]);
});

test('7 a close is answered; a wrong one with the code of its fault', limit, async () => {
  const good = [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 3999, 4000, 4999];
  const wrong = [0, 999, 1004, 1005, 1006, 1016, 1100, 2000, 2999]; // from 5000 on the book says nothing
  await allEndWith([
    ['an empty close', [frame(close)], 1000],
    ['a close of one byte', [frame(close, 'x')], 1002],
    ['a reason that is no UTF-8', [closing(1000, Buffer.from([0xff]))], 1002], // 1007 would do as well
    ['a close that is too long', [closing(1000, 'x'.repeat(124))], 1002],
    ['a longest reason', [closing(1000, 'x'.repeat(123))], 1000],
    ['a text behind the close', [closing(1000), frame(text, message('late'))], 1000],
    ['a ping behind the close', [closing(1000), frame(ping)], 1000],
    ['a second close', [closing(1000), closing(1001)], 1000],
    ['in the middle of a message', [frame(text, 'x', { fin: false }), closing(1001)], 1001],
    ...good.map((code) => [`code ${code}`, [closing(code, 'why')], code]),
    ...wrong.map((code) => [`code ${code}`, [closing(code)], 1002]),
  ]);
});

test('5.1 a frame without a mask ends the connection (1002)', limit, () =>
  allEndWith([
    ['text', [frame(text, message('a'), { masked: false })], 1002],
    ['ping', [frame(ping, '', { masked: false })], 1002],
  ]));

test('9 messages over the limit end the connection (1009), whole, in fragments, or only announced', limit, async () => {
  const piece = Buffer.alloc(1 << 20, 0x20);
  const fragments = Array.from({ length: 18 }, (_, i) => frame(i === 0 ? text : 0, piece, { fin: i === 17 }));
  await allEndWith([
    ['17 MiB', [frame(text, Buffer.alloc(17 << 20, 0x20))], 1009],
    ['18 MiB in fragments', fragments, 1009],
    ['announced 2^62', [Buffer.from([0x81, 0xff, 0x40, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4])], 1009],
    ['a length with its highest bit', [Buffer.from([0x81, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4])], 1009],
  ]);
});

test('9 a client that is still sending 100 MB reads why it is not heard (1009)', limit, async () => {
  const peer = await Peer.connect();
  const head = Buffer.from([0x81, 0xff, 0, 0, 0, 0, 0x06, 0, 0, 0, 1, 2, 3, 4]);
  peer.send(head);
  const piece = Buffer.alloc(1 << 20, 0x20);
  for (let i = 0; i < 96; i += 1) {
    if (!peer.socket.write(piece)) await new Promise((resolve) => peer.socket.once('drain', resolve).once('close', resolve));
  }
  assert.equal(await peer.end(), 1009);
  await untouched();
});

test('9 10,000 small messages, and one of 15 MiB in 1 KiB fragments', limit, async () => {
  const peer = await Peer.connect();
  for (let i = 0; i < 10_000; i += 100)
    peer.send(Buffer.concat(Array.from({ length: 100 }, (_, k) => frame(text, message(`${i + k}`)))));
  for (let i = 0; i < 10_000; i += 1) await peer.answers(`${i}`);
  const whole = Buffer.from(message('large').padEnd(15 << 20, ' '));
  const parts = cut(whole, 1024);
  peer.send(Buffer.concat(parts.map((part, i) => frame(i === 0 ? text : 0, part, { fin: i === parts.length - 1 }))));
  await peer.answers('large');
  peer.socket.destroy();
  await untouched();
});

test('10 a message of 65536 bytes in fragments of 1300, as clients cut it by themselves, is one', limit, () => {
  const parts = cut(Buffer.from(message('auto').padEnd(65536, ' ')), 1300);
  const fragments = parts.map((part, i) => frame(i === 0 ? text : 0, part, { fin: i === parts.length - 1 }));
  return allAnswered([['in fragments', fragments, 'auto']]);
});
