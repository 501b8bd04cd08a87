// `gatehouse mcp` driven by the clients that other people wrote, in both eras: the official SDKs and the inspector's
// command line. What stands on the wire: tests/system/mcp_test.py.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Client as ModernClient } from '@modelcontextprotocol/client';
import { StdioClientTransport as ModernTransport } from '@modelcontextprotocol/client/stdio';
import { Client as FirstClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as FirstTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { gatehouse, running, until } from './daemon.mjs';

const limit = { timeout: 90_000 };
const inspector = fileURLToPath(new URL('node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js', import.meta.url));
const tools = ['shell_command', 'exec_command', 'write_stdin', 'apply_patch', 'request_permissions'];

/** A home and a workspace with a program whose test fails. */
function stage() {
  const base = mkdtempSync('/var/tmp/gatehouse-test-');
  const workspace = join(base, 'ws');
  mkdirSync(workspace);
  mkdirSync(join(base, 'home'));
  writeFileSync(join(workspace, 'double.sh'), 'echo $(($1 + 2))\n');
  writeFileSync(join(workspace, 'check.sh'), 'got=$(sh double.sh 5)\necho "got $got"\ntest "$got" = 10\n');
  const home = join(base, 'home');
  const env = { HOME: home, XDG_STATE_HOME: join(home, 'state'), PATH: process.env.PATH, LANG: 'C.UTF-8', SHELL: '/bin/bash' };
  return { base, workspace, env, end: () => rmSync(base, { recursive: true, force: true }) };
}

const server = ({ workspace, env }) => ({ command: gatehouse, args: ['mcp', '--profile', 'workspace-write'], cwd: workspace, env, stderr: 'inherit' });
const about = { name: 'test', version: '1' };

/** Each: a connected client whose user answers what `user` says. */
const clients = {
  'sdk 1, handshake': async (place, user) => {
    const client = new FirstClient(about, { capabilities: { elicitation: {} } });
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => user(params));
    await client.connect(new FirstTransport(server(place)));
    return { client, call: (params, options) => client.callTool(params, undefined, options) };
  },
  'sdk 2, stateless': async (place, user) => {
    const client = new ModernClient(about, { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: 'auto' } });
    client.setRequestHandler('elicitation/create', ({ params }) => user(params));
    await client.connect(new ModernTransport(server(place)));
    assert.equal(client.getNegotiatedProtocolVersion(), '2026-07-28');
    return { client, call: (params, options) => client.callTool(params, options) };
  },
};

for (const [name, connect] of Object.entries(clients))
  test(`§201 ${name}: a whole task: list, edit by patch, failing and passing test, denied network, approval`, limit, async () => {
    const place = stage();
    const questions = [];
    let decision = 'accept';
    const { client, call } = await connect(place, (params) => {
      questions.push(params.message);
      return { action: 'accept', content: { decision } };
    });
    const run = async (tool, args, options) => {
      const { isError, structuredContent } = await call({ name: tool, arguments: args }, options);
      return { isError: isError ?? false, ...structuredContent };
    };
    try {
      assert.deepEqual((await client.listTools()).tools.map((tool) => tool.name), tools);
      const steps = [];
      const listed = await run('shell_command', { command: 'ls' }, { onprogress: (step) => steps.push(step.message) });
      assert.equal(listed.output, 'check.sh\ndouble.sh\n');
      assert.deepEqual(steps, ['running']);

      const failing = await run('shell_command', { command: 'sh check.sh' });
      assert.deepEqual([failing.isError, failing.exitCode, failing.output], [false, 1, 'got 7\n']);
      const patch = '*** Begin Patch\n*** Update File: double.sh\n@@\n-echo $(($1 + 2))\n+echo $(($1 * 2))\n*** End Patch\n';
      assert.equal((await run('apply_patch', { patch })).isError, false);
      assert.equal(readFileSync(join(place.workspace, 'double.sh'), 'utf8'), 'echo $(($1 * 2))\n');
      const passing = await run('shell_command', { command: 'sh check.sh' });
      assert.deepEqual([passing.exitCode, passing.output], [0, 'got 10\n']);
      assert.deepEqual(questions, []); // none of this needed anybody

      const network = await run('shell_command', { command: 'curl -sS -m 3 http://192.0.2.1/' });
      assert.deepEqual([network.isError, network.sandboxDenied], [false, true]);
      assert.match(network.message, /refused connecting to 192\.0\.2\.1.*\n.*boundary/);

      const remove = { command: 'touch f && rm -rf f && echo gone' };
      assert.equal((await run('shell_command', remove)).output, 'gone\n');
      assert.match(questions[0], /rm -rf f/);
      assert.ok(questions[0].includes(place.workspace), questions[0]);
      decision = 'decline';
      const refused = await run('shell_command', remove);
      assert.deepEqual([refused.isError, refused.status, questions.length], [true, 'declined', 2]);

      const out = join(place.base, 'out');
      mkdirSync(out);
      decision = 'accept';
      const given = await run('request_permissions', { permissions: { file_system: { write: [out] } }, reason: 'to put the result there' });
      assert.equal(given.isError, false, JSON.stringify(given));
      assert.equal((await run('shell_command', { command: `echo done > ${out}/result` })).exitCode, 0);

      const begun = await run('exec_command', { cmd: 'read line; echo "heard $line"', tty: true, yield_time_ms: 250 });
      assert.equal(typeof begun.sessionId, 'number');
      const ended = await run('write_stdin', { session_id: begun.sessionId, chars: 'you\n', yield_time_ms: 5000 });
      assert.match(ended.output, /heard you/);
      assert.equal(ended.exitCode, 0);

      const marker = `86398.${process.pid}`;
      const stop = new AbortController();
      const cancelled = run('shell_command', { command: `sleep ${marker}` }, { signal: stop.signal });
      await until(() => running(marker) > 0);
      stop.abort('enough');
      await assert.rejects(cancelled);
      await until(() => running(marker) === 0);
      assert.equal((await run('shell_command', { command: 'echo on' })).output, 'on\n');
    } finally {
      await client.close();
      place.end();
    }
  });

test('§201 the inspector lists the tools and calls one; what would need an approval is refused at once', limit, async () => {
  const place = stage();
  const inspect = (...args) =>
    new Promise((resolve) => {
      const all = [inspector, '--cli', gatehouse, 'mcp', '--profile', 'workspace-write', '--cwd', place.workspace, ...args];
      execFile(process.execPath, all, { env: place.env, cwd: place.workspace }, (why, out, errors) => {
        try {
          resolve(JSON.parse(out));
        } catch {
          resolve({ failed: String(why), out, errors });
        }
      });
    });
  const call = (command) => inspect('--method', 'tools/call', '--tool-name', 'shell_command', '--tool-arg', `command=${command}`);
  try {
    const [list, done, refused] = await Promise.all([inspect('--method', 'tools/list'), call('sh check.sh'), call('rm -rf double.sh')]);
    assert.deepEqual(list.tools?.map((tool) => tool.name), tools, JSON.stringify(list));
    assert.deepEqual([done.isError, done.structuredContent?.exitCode], [false, 1], JSON.stringify(done));
    assert.equal(refused.isError, true);
    assert.match(refused.structuredContent.message, /cannot ask its user/);
    readFileSync(join(place.workspace, 'double.sh'));
  } finally {
    place.end();
  }
});
