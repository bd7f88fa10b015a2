// How fast llama.cpp is with a file, for BenchmarkLlamaCpp.
//
//   node speed.mjs MODEL.gguf CACHE FUSED
//
// CACHE is the type of the cache's numbers, F32 or F16; FUSED is whether attention is ("flash attention"). Each line of the input is a number of ids to read; then
// optionally a number of tokens to write. The answer is a line: milliseconds until the first token, then those of each
// next one.
import {createInterface} from "node:readline";
import {getLlama} from "node-llama-cpp";

const [path, cache, fused] = process.argv.slice(2);
const llama = await getLlama({gpu: false, build: "never", maxThreads: 2, logLevel: "error"});
const model = await llama.loadModel({modelPath: path, gpuLayers: 0});
const context = await model.createContext({contextSize: 1088, batchSize: 1088, threads: 2,
    flashAttention: fused === "true", experimentalKvCacheKeyType: cache, experimentalKvCacheValueType: cache});
const sequence = context.getSequence();

for await (const line of createInterface({input: process.stdin})) {
    const [read, write = 0] = line.split(" ").map(Number);
    await sequence.clearHistory();
    const ids = Array.from({length: read}, (_, i) => 100 + 13 * i);
    const times = [];
    let begin = performance.now();
    for await (const _ of sequence.evaluate(ids, {temperature: 0, yieldEogToken: true})) {
        const now = performance.now();
        times.push(now - begin);
        if (times.length > write)
            break;
        begin = now;
    }
    console.log(times.join(" "));
}
process.exit(0); // without waiting for the threads of the pool
