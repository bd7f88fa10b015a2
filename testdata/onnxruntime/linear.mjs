// Runs the models of linear.py and compares their outputs:
//
//     node linear.mjs FOLDER
//
// An output that is further than 1e-5 away, of itself or at all, is an error.
import fs from "node:fs";
import path from "node:path";
import ort from "onnxruntime-node";

const folder = process.argv[2];
const cases = JSON.parse(fs.readFileSync(path.join(folder, "cases.json"), "utf8"));
for (const [name, { inputs, out }] of Object.entries(cases)) {
  const session = await ort.InferenceSession.create(path.join(folder, name + ".onnx"));
  const feeds = {};
  for (const [input, { shape, data }] of Object.entries(inputs)) {
    feeds[input] = new ort.Tensor("float32", Float32Array.from(data), shape);
  }
  const got = (await session.run(feeds)).out.data;
  const far = out.reduce((far, want, i) => Math.max(far, Math.abs(got[i] - want) / Math.max(1, Math.abs(want))), 0);
  console.log(`${name}: ${far.toExponential(1)}`);
  if (!(far <= 1e-5) || got.length !== out.length) process.exitCode = 1;
}
