// The checked-in types are those of this program's schema.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { protocolSource } from '../../clients/typescript/scripts/protocol-source.mjs';
import { gatehouse } from './daemon.mjs';

test('clients/typescript/src/protocol.ts is fresh (else: gatehouse serve --schema | npm run generate)', () => {
  const schema = execFileSync(gatehouse, ['serve', '--schema'], { encoding: 'utf8', maxBuffer: 1 << 24 });
  const written = readFileSync(new URL('../../clients/typescript/src/protocol.ts', import.meta.url), 'utf8');
  assert.ok(protocolSource(JSON.parse(schema)) === written, 'it is stale');
});
