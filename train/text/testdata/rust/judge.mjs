// Reads {file, texts, special, decode} as JSON from standard input and writes what Hugging Face's tokenizers in Rust makes
// of them: {ids, texts}, where texts are those of decode's lists of ids.
import { readFileSync } from 'node:fs'
import tokenizers from 'tokenizers'

const { file, texts, decode } = JSON.parse(readFileSync(0, 'utf8'))
const tokenizer = tokenizers.Tokenizer.fromFile(file)
const ids = []
for (const text of texts ?? []) {
  ids.push((await tokenizer.encode(text, null, { addSpecialTokens: false })).getIds())
}
const back = []
for (const list of decode ?? ids) back.push(await tokenizer.decode(list, false))
process.stdout.write(JSON.stringify({ ids, texts: back }))
