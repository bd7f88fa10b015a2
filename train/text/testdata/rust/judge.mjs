// Reads {file, texts, decode} as JSON from standard input and writes what Hugging Face's tokenizers in Rust makes of them:
// {ids, texts, seconds}, where texts are those of decode's lists of ids, or else of ids, and seconds are those of the
// processor for each text.
import { readFileSync } from 'node:fs'
import tokenizers from 'tokenizers'

const { file, texts, decode } = JSON.parse(readFileSync(0, 'utf8'))
const tokenizer = tokenizers.Tokenizer.fromFile(file)
const ids = [], seconds = []
for (const text of texts ?? []) {
  const before = process.cpuUsage()
  const encoded = await tokenizer.encode(text, null, { addSpecialTokens: false })
  const { user, system } = process.cpuUsage(before)
  seconds.push((user + system) / 1e6)
  ids.push(encoded.getIds())
}
const back = []
for (const list of decode ?? ids) back.push(await tokenizer.decode(list, false))
process.stdout.write(JSON.stringify({ ids, texts: back, seconds }))
