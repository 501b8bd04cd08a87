// node embed.mjs DIST OUTPUT.cpp: builds the page into DIST and writes it as C++.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { extname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const [dist, output] = process.argv.slice(2);
const root = fileURLToPath(new URL('..', import.meta.url));
for (const folder of [root, join(root, '../clients/typescript')])
  if (!existsSync(join(folder, 'node_modules'))) {
    console.error(`${folder}: its packages are missing. Next: scripts/setup`);
    process.exit(1);
  }
const { build } = await import('vite');
await build({ root, configFile: join(root, 'vite.config.ts'), logLevel: 'warn', build: { outDir: dist } });

const types = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** The bytes as C++ string literals, a line each. */
function literal(bytes) {
  const lines = [];
  for (let from = 0; from < bytes.length; from += 100) {
    let line = '';
    for (const byte of bytes.subarray(from, from + 100)) {
      const plain = byte >= 0x20 && byte < 0x7f && !'"\\?'.includes(String.fromCharCode(byte));
      line += plain ? String.fromCharCode(byte) : `\\${byte.toString(8).padStart(3, '0')}`;
    }
    lines.push(`"${line}"`);
  }
  return lines.join('\n') || '""';
}

const files = readdirSync(dist, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
  .sort();
const entries = files.map((file) => {
  const type = types[extname(file)];
  if (!type) throw new Error(`${file}: no content type is known for this file`);
  const name = relative(dist, file).replaceAll('\\', '/');
  const bytes = readFileSync(file);
  const path = name === 'index.html' ? '' : name;
  return `{${JSON.stringify(path)}, ${JSON.stringify(type)}, std::string_view{\n${literal(bytes)}, ${bytes.length}}}`;
});
writeFileSync(
  output,
  `// Generated from console/ by console/scripts/embed.mjs.
#include "console/console_assets.hpp"

#include <array>

namespace gatehouse::console {
namespace {
constexpr std::array<actors::console_asset, ${entries.length}> files{{
${entries.join(',\n')}}};
} // namespace

std::span<const actors::console_asset> assets() { return files; }

} // namespace gatehouse::console
`,
);
