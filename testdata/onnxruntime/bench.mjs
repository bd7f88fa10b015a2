// Times onnxruntime at a forward work of `attention bench`, with a model of model.py:
//
//	node bench.mjs '{"model": FILE, "batch": 2, "tokens": 1024, "width": 768, "heads": 12, "threads": 2, "runs": 0}'
//
// It prints a line of JSON with the fields of `attention bench --json` and
//
//	start_rss_bytes  memory in use when onnxruntime was loaded, before the work
//
// runs 0 means as many as two seconds hold, from 5 to 1000. Needs `npm ci --ignore-scripts` in this
// folder.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import * as ort from "onnxruntime-node";

const a = JSON.parse(process.argv[2]);
const shape = [a.batch, a.tokens, a.width];
const size = a.batch * a.tokens * a.width;

/** memory returns a field of the process's status, in bytes. */
function memory(field) {
  const line = readFileSync("/proc/self/status", "utf8").split("\n").find((l) => l.startsWith(field + ":"));
  return 1024 * Number(line.split(/\s+/)[1]);
}

/** normal returns standard normal numbers (Box–Muller) of a fixed stream. */
function normal(n) {
  let state = 1;
  const uniform = () => (state = (48271 * state) % 2147483647) / 2147483647;
  return Float32Array.from({ length: n }, () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform()));
}

/** checkCausal throws unless the last token changes its own output and no other. */
async function checkCausal(run, x, out) {
  await run();
  const before = out.slice();
  x[(a.tokens - 1) * a.width] += 1; // of the first sequence
  await run();
  x[(a.tokens - 1) * a.width] -= 1;
  const changed = out.findIndex((v, i) => v !== before[i]);
  if (a.tokens > 1 && Math.floor(changed / a.width) !== a.tokens - 1) {
    throw new Error(`bench.mjs: the last token: got a change at element ${changed}, want it in row ${a.tokens - 1}`);
  }
}

/** timed returns the seconds of each run after the warm-up. */
async function timed(run) {
  await run();
  const took = [];
  const begin = performance.now();
  for (;;) {
    const n = took.length;
    const enough = n >= 5 && (n === 1000 || performance.now() - begin > 2000);
    if (a.runs > 0 ? n === a.runs : enough) return took;
    const start = performance.now();
    await run();
    took.push((performance.now() - start) / 1000);
  }
}

const start = memory("VmRSS");
const session = await ort.InferenceSession.create(a.model, {
  executionProviders: ["cpu"], intraOpNumThreads: a.threads, interOpNumThreads: 1, graphOptimizationLevel: "all",
});
const x = normal(size), out = new Float32Array(size);
const feeds = { x: new ort.Tensor("float32", x, shape) };
const fetches = { out: new ort.Tensor("float32", out, shape) }; // no allocation in a run
const run = () => session.run(feeds, fetches);
await checkCausal(run, x, out);
const took = (await timed(run)).sort((s, t) => s - t);
const middle = (took[(took.length - 1) >> 1] + took[took.length >> 1]) / 2;
const version = createRequire(import.meta.url)("onnxruntime-node/package.json").version;
console.log(JSON.stringify({
  name: `B${a.batch} T${a.tokens} E${a.width} H${a.heads} forward`,
  batch: a.batch, tokens: a.tokens, embed_dim: a.width, num_heads: a.heads, mode: "forward",
  threads: a.threads, onnxruntime: version, runs: took.length, seconds: middle, seconds_min: took[0],
  start_rss_bytes: start, peak_rss_bytes: memory("VmHWM"),
}));
