// What llama.cpp makes of files. The tests run it where node and the packages are:
// npm i --ignore-scripts --omit=optional --no-save (npm ci wants packages of other systems in the lock file).
//
//   node judge.mjs JOBS.json ANSWERS.json
//
// A job: {"model": path, "lora": path of an adapter for it, "ids": [ids], "greedy": number of tokens, "texts": [texts], "special": whether texts may name
// special tokens, "letters": whether the tokens are too few for any text}. Its answer, one of a list:
// {"warnings": what llama.cpp says of the file, "logProbs": a row of the vocabulary after each id, "greedy": ids,
// "tokens": ids of each text, "error": why there is nothing else}.
import {readFileSync, writeFileSync} from "node:fs";
import {getLlama, LlamaLogLevel} from "node-llama-cpp";

let warnings; // of the file that is loaded; null afterwards
const llama = await getLlama({
    gpu: false, build: "never", maxThreads: 1, logLevel: LlamaLogLevel.warn, logger: (level, message) => warnings?.push(message.trim())
});

async function answer(job) {
    const to = {warnings: warnings = [], logProbs: [], greedy: [], tokens: []};
    const model = await llama.loadModel({modelPath: job.model, gpuLayers: 0});
    warnings = null;
    if (job.letters)
        to.warnings = to.warnings.filter((w) => !w.includes("to tokenize text and then detokenize it"));
    if (job.ids?.length) {
        const context = await model.createContext({contextSize: 256, flashAttention: false,
            lora: job.lora && {adapters: [{filePath: job.lora, scale: 1}]},
            experimentalKvCacheKeyType: "F32", experimentalKvCacheValueType: "F32"});
        const sequence = context.getSequence();
        const ids = job.ids.map((id) => [id, {generateNext: {probabilities: true}}]);
        for (const {next} of await sequence.controlledEvaluate(ids)) {
            const row = [];
            for (const [id, p] of next.probabilities)
                row[id] = Math.log(p);
            to.logProbs.push(row);
        }
        await sequence.clearHistory();
        if (job.greedy)
            for await (const id of sequence.evaluate(job.ids, {temperature: 0, yieldEogToken: true})) {
                to.greedy.push(id);
                if (to.greedy.length >= job.greedy)
                    break;
            }
        await context.dispose();
    }
    for (const text of job.texts ?? [])
        to.tokens.push(Array.from(model.tokenize(text, job.special)));
    await model.dispose();
    return to;
}

const answers = [];
for (const job of JSON.parse(readFileSync(process.argv[2], "utf8")))
    answers.push(await answer(job).catch((error) => ({error: [...(warnings ?? []), String(error)].join("; ")})));
writeFileSync(process.argv[3], JSON.stringify(answers));
process.exit(0); // without waiting for the threads of the pool
