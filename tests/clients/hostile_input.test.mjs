// §201 Whatever a client sends: a clear refusal, and the daemon goes on as before.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import net from 'node:net';
import { after, before, test } from 'node:test';
import { AgentClient } from '../../clients/typescript/dist/index.js';
import { clientInfo, Daemon, gatehouse, sanitized, shell, soon } from './daemon.mjs';
import { RawClient } from './raw_client.mjs';

const limit = { timeout: 120_000 };
const schema = JSON.parse(execFileSync(gatehouse, ['serve', '--schema'], { encoding: 'utf8', maxBuffer: 1 << 24 }));
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

/** The daemon and what it has going are as they were. */
async function untouched() {
  assert.equal((await agent.callTool(shell(thread, 'echo fine'))).output, 'fine\n');
}

const resolve = (type) => (type.$ref ? schema.$defs[type.$ref.replace('#/$defs/', '')] : type);
const samples = {
  string: 'x',
  boolean: true,
  integer: 1,
  'real number': 1.5,
  'huge number': 1e300,
  list: [],
  'list of numbers': [1],
  object: {},
  'strange object': { 'x y': [] },
  'text with NUL': 'a\u0000b',
  null: null,
};

/** Which samples a type takes. */
function takes(type, name) {
  const of = resolve(type);
  if (of.anyOf) return of.anyOf.some((one) => (one.type === 'null' ? name === 'null' : takes(one, name)));
  if (of.enum) return false;
  switch (of.type) {
    case undefined:
      return true; // any value, judged behind the schema
    case 'string':
      return name === 'string';
    case 'boolean':
      return name === 'boolean';
    case 'integer':
      return name === 'integer';
    case 'array':
      return name === 'list' || name === 'null' || (name === 'list of numbers' && takes(of.items, 'integer'));
    default:
      return (
        (name === 'object' && of.required.length === 0) ||
        (name === 'strange object' && of.required.length === 0 && of.additionalProperties !== false)
      );
  }
}

/** Parameters that the schema takes and that name nothing that exists. */
function example(type) {
  const of = resolve(type);
  if (of.anyOf) return null;
  if (of.enum) return of.enum[0];
  if (of.type === 'object')
    return Object.fromEntries(of.required.map((name) => [name, example(of.properties[name])]));
  return { string: 'x', boolean: true, integer: 1, array: [], undefined: {} }[of.type];
}

for (const [method, { params, caller }] of Object.entries(schema.methods))
  test(`${method}: wrong types for every field are invalid params, by name`, limit, async () => {
    const raw = await RawClient.connect(daemon, caller === 'reviewer' ? 'reviewer' : 'agent', {
      initialize: method !== 'initialize',
    });
    const type = resolve(params);
    const good = example(params);
    let wrong = 0;
    for (const [field, of] of Object.entries(type.properties))
      for (const [name, value] of Object.entries(samples)) {
        if (takes(of, name)) continue;
        const told = await raw.request(method, { ...good, [field]: value });
        assert.equal(told.error?.code, -32602, `${field}: ${name}: ${JSON.stringify(told)}`);
        assert.match(told.error.message, new RegExp(field), `${field}: ${name}`);
        wrong += 1;
      }
    for (const field of type.required) {
      const { [field]: _, ...rest } = good;
      const told = await raw.request(method, rest);
      assert.equal(told.error?.code, -32602, `without ${field}: ${JSON.stringify(told)}`);
    }
    if (type.additionalProperties === false)
      assert.equal((await raw.request(method, { ...good, 'no such field': 1 })).error?.code, -32602);
    for (const value of [1, 'x', [], true])
      assert.equal((await raw.request(method, value)).error?.code, -32602, `params ${JSON.stringify(value)}`);
    assert.ok(wrong > 0 || Object.keys(type.properties).length === 0);
    raw.close();
    await untouched();
  });

test('unknown ids, and numbers of events that never were, are named as such', limit, async () => {
  const a = await RawClient.connect(daemon, 'agent');
  const r = await RawClient.connect(daemon, 'reviewer');
  const none = { threadId: 'thread-none' };
  for (const method of ['thread/resume', 'thread/read', 'thread/close', 'turn/start', 'turn/complete', 'turn/interrupt'])
    assert.equal((await a.request(method, none)).error?.data.kind, 'unknownThread', method);
  assert.equal((await a.request('tool/call', { ...none, callId: 'c', tool: 'shell_command', arguments: {} })).error?.data.kind, 'unknownThread');
  assert.equal((await a.request('tool/cancel', { ...none, callId: 'c' })).error?.data.kind, 'unknownThread');
  for (const method of ['thread/unsubscribe', 'policy/explain'])
    assert.equal((await a.request(method, { ...none, ...(method === 'policy/explain' && { arguments: { argv: ['ls'] } }) })).error?.data.kind, 'unknownThread', method);
  assert.equal((await r.request('approval/list', none)).error?.data.kind, 'unknownThread');
  const here = { threadId: thread.id };
  assert.equal((await a.request('tool/cancel', { ...here, callId: 'none' })).error?.data.kind, 'unknownCall');
  for (const [who, method] of [[a, 'turn/interrupt'], [a, 'turn/complete'], [r, 'turn/interrupt']])
    assert.equal((await who.request(method, { ...here, turnId: 'none' })).error?.data.kind, 'unknownTurn', method);
  const elsewhere = { ...here, turnId: 'none', callId: 'in-no-turn', tool: 'shell_command', arguments: { command: 'true' } };
  assert.equal((await a.request('tool/call', elsewhere)).error?.data.kind, 'unknownTurn');
  const future = await a.request('thread/resume', { ...here, afterSeq: 1_000_000 });
  assert.deepEqual([future.error?.code, future.error?.data.kind], [-32602, 'unknownSeq']);
  const answer = { threadId: thread.id, requestId: 'review-none', decision: 'accept', actionDigest: 'x' };
  assert.equal((await r.request('approval/resolve', answer)).error?.data.kind, 'notTaken');
  assert.deepEqual((await r.request('grant/revoke', { threadId: thread.id, kind: 'grant', id: -1 })).result, { found: false });
  assert.equal((await a.request('no/such/method', {})).error?.code, -32601);
  const fresh = await RawClient.connect(daemon, 'agent', { initialize: false });
  assert.equal((await fresh.request('thread/loaded/list', {})).error?.data.kind, 'notInitialized');
  assert.equal((await fresh.request('initialize', { clientInfo: { name: 'x' }, resumeSessionId: 'session-none' })).error?.data.kind, 'unknownSession');
  for (const one of [a, r, fresh]) one.close();
  await untouched();
});

test('arguments that no tool takes are refused before anything runs', limit, async () => {
  const raw = await RawClient.connect(daemon, 'agent');
  let n = 0;
  const call = (tool, args) => raw.request('tool/call', { threadId: thread.id, callId: `bad-${n++}`, tool, arguments: args });
  for (const [tool, args] of [
    ['rm', {}],
    ['', {}],
    ['shell_command', {}],
    ['shell_command', { command: '' }],
    ['shell_command', { command: ['ls'] }],
    ['shell_command', { argv: [] }],
    ['shell_command', { argv: 'ls' }],
    ['shell_command', { argv: ['ls', 1] }],
    ['shell_command', { argv: ['l\u0000s'] }],
    ['shell_command', { command: 'ls', argv: ['ls'] }],
    ['shell_command', { command: 'ls', timeout_ms: 0 }],
    ['shell_command', { command: 'ls', timeout_ms: 1e300 }],
    ['shell_command', { command: 'ls', sandbox_permissions: 'none' }],
    ['shell_command', { command: 'ls', sandbox: false }],
    ['shell_command', 'ls'],
    ['shell_command', null],
    ['exec_command', {}],
    ['exec_command', { cmd: 'ls', command: 'ls' }],
    ['exec_command', { cmd: 'ls', tty: 'yes' }],
    ['exec_command', { cmd: 'l\u0000s' }],
    ['write_stdin', {}],
    ['write_stdin', { session_id: 1e300 }],
    ['write_stdin', { session_id: '1' }],
    ['request_permissions', { permissions: { file_system: 1 } }],
  ])
    assert.equal((await call(tool, args)).error?.code, -32602, JSON.stringify([tool, args]));
  for (const callId of ['', 'x'.repeat(257), 'x'.repeat(1 << 20)]) {
    const told = await raw.request('tool/call', { threadId: thread.id, callId, tool: 'shell_command', arguments: { command: 'true' } });
    assert.ok(told.error, `call id of ${callId.length} characters`);
  }
  raw.close();
  await untouched();
});

test('texts that are no message are refused one by one; the connection stands', limit, async () => {
  const raw = await RawClient.connect(daemon, 'agent');
  const cases = [
    ['', -32700],
    ['{', -32700],
    ['nul', -32700],
    ['{"jsonrpc":"2.0","id":1,"method":"thread/loaded/list"} x', -32700],
    ['[]', -32600],
    ['[{"jsonrpc":"2.0","id":1,"method":"thread/loaded/list"}]', -32600],
    ['1', -32600],
    ['{}', -32600],
    ['{"jsonrpc":"1.0","id":null,"method":"thread/loaded/list"}', -32600],
    ['{"id":null,"method":"thread/loaded/list"}', -32600],
    ['{"id":1.5,"method":"thread/loaded/list"}', -32600],
    ['{"id":{},"method":"thread/loaded/list"}', -32600],
    ['{"method":1}', -32600],
    ['{"result":{}}', -32600],
    [`${'['.repeat(100_000)}${']'.repeat(100_000)}`, -32700],
    [`{"jsonrpc":"2.0","method":"x","params":${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}}`, -32700],
  ];
  for (const [text, code] of cases) {
    const answer = raw.answerWithoutId();
    raw.send(text);
    assert.equal((await answer).error.code, code, text.slice(0, 80));
  }
  // The same member twice: which one counts must not be a matter of taste.
  const twice = raw.answerWithoutId();
  raw.send('{"jsonrpc":"2.0","method":"thread/loaded/list","method":"thread/close","id":{}}');
  assert.ok((await twice).error);
  assert.ok((await raw.request('thread/loaded/list', {})).result);
  raw.close();
  await untouched();
});

test('a frame above the limit ends its connection (1009), a binary one, too (1003)', limit, async () => {
  const large = await RawClient.connect(daemon, 'agent');
  large.send('x'.repeat(17 << 20));
  assert.equal((await large.ended).code, 1009);
  const binary = await RawClient.connect(daemon, 'agent');
  binary.socket.send(Buffer.from([1, 2, 3]));
  assert.equal((await binary.ended).code, 1003);
  const long = await RawClient.connect(daemon, 'agent');
  const told = await long.request('tool/call', { threadId: thread.id, callId: 'long', tool: 'shell_command', arguments: { argv: ['true', 'x'.repeat(1 << 20)] } });
  assert.ok(told.error || told.result.status !== 'completed'); // the kernel takes no such argument
  long.close();
  await untouched();
});

test('BR-197 replies stay below the announced limit, and what is too large or too deep ends nothing else', limit, async () => {
  const raw = await RawClient.connect(daemon, 'agent');
  const { frameBytes } = raw.facts.gatehouse.limits;
  let largest = 0;
  raw.socket.on('message', (data) => (largest = Math.max(largest, data.length)));
  const ask = { threadId: thread.id, callId: 'eight-million', tool: 'shell_command' };
  const told = await raw.request('tool/call', { ...ask, arguments: { command: "head -c 8000000 /dev/zero | tr '\\0' x" } });
  assert.ok(told.result.outputOmittedBytes > 6_000_000 && told.result.output.length > 500_000);
  assert.ok(largest < frameBytes, `${largest} of ${frameBytes}`);
  const wide = await raw.request('tool/call', { ...ask, callId: 'wide', arguments: { nothing: 'x'.repeat(10 << 20) } });
  assert.equal(wide.error.code, -32602);
  const deep = raw.answerWithoutId();
  raw.send('['.repeat(100_000));
  assert.equal((await deep).error.code, -32700);
  for (let i = 0; i < 10_000; i += 1) raw.send('{"method":"initialized"}');
  assert.ok((await raw.request('thread/loaded/list', {})).result);
  raw.close();
  await untouched();
});

/** What comes back from the port until it hangs up. A part is sent when something came for the one before. */
function bytes(parts) {
  const { hostname, port } = new URL(daemon.url);
  return new Promise((done) => {
    let got = '';
    const left = [...parts];
    const next = () => left.length > 0 && socket.write(left.shift());
    const socket = net.connect(Number(port), hostname, next);
    socket.on('data', (data) => {
      got += data.toString('latin1');
      next();
    });
    socket.on('error', () => {});
    socket.on('close', () => done(got));
  });
}

test('bytes that are no HTTP, and frames that break the rules, end their connection only', limit, async () => {
  assert.match(await bytes(['\u0000\u0001\u0002\r\n\r\n']), /^HTTP\/1\.1 400/);
  assert.match(await bytes([`GET / HTTP/1.1\r\nHost: x\r\nX: ${'a'.repeat(1 << 16)}\r\n\r\n`]), /^HTTP\/1\.1 4(31|00)/);
  const port = new URL(daemon.url).port;
  const upgrade = [
    'GET / HTTP/1.1',
    `Host: 127.0.0.1:${port}`,
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    `Authorization: Bearer ${daemon.token('agent')}`,
    '\r\n',
  ].join('\r\n');
  const frames = {
    'a frame without a mask': [0x81, 0x01, 0x78],
    'reserved bits': [0xf1, 0x81, 0, 0, 0, 0, 0x78],
    'an unknown opcode': [0x83, 0x81, 0, 0, 0, 0, 0x78],
    'a fragmented ping': [0x09, 0x80, 0, 0, 0, 0],
    'a ping that is too long': [0x89, 0xfe, 0, 126, 0, 0, 0, 0, ...Array(126).fill(0)],
    'a continuation of nothing': [0x80, 0x81, 0, 0, 0, 0, 0x78],
    'text that is no UTF-8': [0x81, 0x82, 0, 0, 0, 0, 0xc3, 0x28],
    'a length with its highest bit set': [0x81, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0],
    'a length of 2^62': [0x81, 0xff, 0x40, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
  };
  // A frame that does not wait for the handshake.
  assert.match(await bytes([Buffer.concat([Buffer.from(upgrade), Buffer.from([0x81, 0x81, 0, 0, 0, 0, 0x78])])]), /^HTTP\/1\.1 400/);
  // All at once: each waits a while for its client to hang up first, as a WebSocket's end has it.
  await Promise.all(
    Object.entries(frames).map(async ([what, frame]) => {
      assert.match(await bytes([upgrade, Buffer.from(frame)]), /^HTTP\/1\.1 101/, what); // and then the end
    }),
  );
  await untouched();
});

test('the daemon has not grown by what it refused', { ...limit, skip: sanitized }, async () => {
  const resident = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${daemon.pid}/status`, 'utf8'))[1]);
  const before = resident();
  for (let i = 0; i < 300; i += 1) {
    const raw = await RawClient.connect(daemon, 'agent');
    raw.send('{"jsonrpc":"2.0","method":"x","params":{');
    raw.close();
  }
  await untouched();
  assert.ok(resident() - before < 30_000, `${before} KiB, then ${resident()} KiB`);
});
