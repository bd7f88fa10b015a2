// Bundles the page: src → dist. The versions are those of package-lock.json, so that the same source gives the same
// bytes on every machine.
import { build } from 'esbuild';
import { copyFile, mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';

const out = process.argv[2] ?? 'dist';
await mkdir(out, { recursive: true });
const result = await build({
  entryPoints: { app: 'src/main.js' },
  bundle: true, minify: true, format: 'iife', target: 'es2022', charset: 'utf8', legalComments: 'none',
  outdir: out, metafile: true,
});
await build({ entryPoints: { app: 'src/app.css' }, minify: true, outdir: out });
for (const name of ['index.html', 'icon.svg']) await copyFile(path.join('src', name), path.join(out, name));

// The licences of the packages in the bundle.
const packages = new Set();
for (const input of Object.keys(result.metafile.inputs)) {
  const found = input.match(/^node_modules\/((?:@[^/]+\/)?[^/]+)\//);
  if (found) packages.add(found[1]);
}
let text = 'app.js holds these packages, under these licences.\n';
for (const name of [...packages].sort()) {
  const dir = path.join('node_modules', name);
  const { version, license } = JSON.parse(await readFile(path.join(dir, 'package.json'), 'utf8'));
  const file = (await readdir(dir)).find((f) => /^licen[cs]e/i.test(f));
  text += `\n${'='.repeat(72)}\n${name} ${version} (${license})\n\n${(await readFile(path.join(dir, file), 'utf8')).trim()}\n`;
}
await writeFile(path.join(out, 'licences.txt'), text);
