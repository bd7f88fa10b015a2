// Bundles the parts of d3 that the page uses: src/d3.js → dist/d3.js. All other modules are embedded unchanged. The
// versions are those of package-lock.json, so that the same source gives the same bytes on every machine.
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { build } from 'esbuild';

const out = process.argv[2] ?? 'dist';
await mkdir(out, { recursive: true });
const result = await build({
  entryPoints: ['src/d3.js'],
  bundle: true,
  minify: true,
  format: 'esm',
  target: 'es2022',
  charset: 'utf8',
  legalComments: 'none',
  outdir: out,
  metafile: true,
});

// The licences of the packages in the bundle.
const packages = new Set();
for (const input of Object.keys(result.metafile.inputs)) {
  const found = input.match(/^node_modules\/((?:@[^/]+\/)?[^/]+)\//);
  if (found) packages.add(found[1]);
}
let text = 'd3.js holds these packages, under these licences.\n';
for (const name of [...packages].sort()) {
  const dir = path.join('node_modules', name);
  const { version, license } = JSON.parse(await readFile(path.join(dir, 'package.json'), 'utf8'));
  const file = (await readdir(dir)).find((f) => /^licen[cs]e/i.test(f));
  const terms = (await readFile(path.join(dir, file), 'utf8')).trim();
  text += `\n${'='.repeat(72)}\n${name} ${version} (${license})\n\n${terms}\n`;
}
await writeFile(path.join(out, 'licences.txt'), text);
