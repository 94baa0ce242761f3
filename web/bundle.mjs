// SPDX-License-Identifier: Apache-2.0
// Bundles src/main.js with everything it imports and writes script, style and their hashes as C++.
//
//   node bundle.mjs PACKAGES OUTPUT    PACKAGES: the folder that holds node_modules
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const [packages, output] = process.argv.slice(2);
const modules = join(packages, 'node_modules');
/** @type {import('esbuild')} */
const esbuild = createRequire(join(modules, 'index.js'))('esbuild');

const result = await esbuild.build({
  entryPoints: [fileURLToPath(new URL('src/main.js', import.meta.url))],
  outdir: dirname(output),
  nodePaths: [modules],
  bundle: true,
  write: false,
  minify: true,
  charset: 'ascii',
  format: 'iife',
  target: 'es2020',
  // Fields are declared for their types; browsers of that year have them, though the language got them later.
  supported: { 'class-field': true },
  tsconfigRaw: {}, // tsconfig.json is for tsc alone
  banner: { js: `/*! uPlot:\n${readFileSync(join(modules, 'uplot', 'LICENSE'), 'utf8').trim()}\n*/` },
  legalComments: 'inline',
});

/** @type {(suffix: string) => string} */
function text(suffix) {
  const file = result.outputFiles.find(({ path }) => path.endsWith(suffix));
  if (!file) throw new Error(`${suffix}: expected such a file of esbuild`);
  const content = file.text.trim();
  if (/[^\x09-\x7e]/.test(content)) throw new Error(`${suffix}: expected plain ASCII`);
  if (/<\/(script|style)|<!--|<script/i.test(content)) throw new Error(`${suffix}: ends its element`);
  return content;
}

/** @param {string} content */
const hash = (content) => `sha256-${createHash('sha256').update(content).digest('base64')}`;

// Numbers, since compilers limit the length of a literal.
/** @type {(name: string, content: string) => string} */
const array = (name, content) =>
  `constexpr char ${name}[] = {${Array.from(Buffer.from(content)).join(',')}};\n`;

const script = text('.js');
const style = text('.css');
mkdirSync(dirname(output), { recursive: true });
writeFileSync(output, `// Generated from web/.
#include "page/assets.h"

namespace ebb::page {
namespace {

${array('kScript', script)}${array('kStyle', style)}
}  // namespace

Assets assets() {
  return {{kScript, sizeof kScript}, "${hash(script)}", {kStyle, sizeof kStyle}, "${hash(style)}"};
}

}  // namespace ebb::page
`);
