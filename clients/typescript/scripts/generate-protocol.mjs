// Writes src/protocol.ts from the JSON schema of the endpoint.
//   gatehouse serve --schema | node scripts/generate-protocol.mjs           write it
//   gatehouse serve --schema | node scripts/generate-protocol.mjs --check   exit 1 when it is stale
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { protocolSource } from './protocol-source.mjs';

const target = fileURLToPath(new URL('../src/protocol.ts', import.meta.url));
const source = protocolSource(JSON.parse(readFileSync(0, 'utf8')));
if (process.argv.includes('--check')) {
  if (readFileSync(target, 'utf8') !== source) {
    console.error('src/protocol.ts is stale. Next: gatehouse serve --schema | npm run generate');
    process.exit(1);
  }
} else {
  writeFileSync(target, source);
}
