// Writes ../tokenizers/*.json: tokenizers, with what Hugging Face's engine in Rust makes of texts. Those of real models are
// cut to their first merges; those of components.json have one component each.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import tokenizers from 'tokenizers'
import { llama2 } from './llama2.mjs'

const texts = [
  '', ' ', 'Hello world', '  Hello   world  ', 'hello\n\nworld \n', 'a\tb\r\nc\r\n\r\n  d', "I'll don't WE'LL 'S it's 'ſ ’s", '12 123 1234567 3.14 1,000',
  'x² Ⅷ ½ ٣ १२', 'naïve café cafe\u0301 q\u0307\u0323 e\u0323\u0301', 'a' + '\u0301'.repeat(40) + '\u0323b', 'ﬁn ǅ ª ① Å ㍿ ﷺ ẛ̣', 'İstanbul ı ΣΑΣ ς STRASSE',
  '日本語 漢字かな 中文。字符', '한국어 \u1112\u1161\u11ab', 'नमस्ते क्षि ไทย', 'العربية עברית Привет', '🦙👨‍👩‍👧🏳️‍🌈🇩🇪👍🏽',
  '\u00a0\u2028\u3000\u0085x\u200b\ufeff\ufffd', '\x00\x7f\x1c', '!!! ... -- // a/b.c_d (e) [f] {g} <h> "i" «j» “k”', 'def f(x):\n    return x // 2\n\n\n    # end\n',
  'camelCase HTTPServer XMLDoc iPhone', '<unk> <s> </s> <0x0A> <|end|> a<|end|>b  <|end|>  c', 'theword the word words wordy theword', ' the', 'the ', '▁the ▁ ▁▁x', 'Ġthe Ċ',
  'lllama ll l llll', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', 'the'.repeat(120),
  '߽a\u0301߽', '𑤸 𞤀𞤢', 'one [MASK] two[MASK]three  [MASK]  four', 'ABC ABCD AB ABC', 'or word (or) _or or1 é or', ' !', '!a', 'a!b!!c', 'é é', '\n', '\r\n', ' \n ', 'x \n', '9', '99 9',
]

async function rows(json) {
  const tokenizer = tokenizers.Tokenizer.fromString(JSON.stringify(json))
  const all = []
  for (const text of texts) {
    const ids = (await tokenizer.encode(text, null, { addSpecialTokens: false })).getIds()
    const row = { text, ids }
    if (json.post_processor) row.template = (await tokenizer.encode(text, null, { addSpecialTokens: true })).getIds()
    row.back = await tokenizer.decode(ids, false)
    if (row.back === text) delete row.back
    all.push(row)
  }
  return all
}

async function write(name, cases) {
  for (const c of cases) c.rows = await rows(c.tokenizer)
  const data = JSON.stringify(cases) + '\n'
  if (data.length > 200_000) throw new Error(`${name}: ${data.length} bytes`)
  writeFileSync(`../tokenizers/${name}.json`, data)
  console.log(name, data.length)
}

// cut returns a real tokenizer with the first merges of its own.
function cut(name, merges, extra) {
  const file = name === 'mistral' ? 'llama2' : name
  const json = name === 'llama2' ? llama2() : JSON.parse(readFileSync(`node_modules/@lenml/tokenizer-${file}/models/tokenizer.json`, 'utf8'))
  const model = json.model, single = t => [...t].length === 1
  const keep = Object.keys(model.vocab).sort((a, b) => model.vocab[a] - model.vocab[b])
    .filter(t => extra(t) || /^<0x..>$/.test(t) || t === model.unk_token)
  const vocab = {}
  for (const t of keep) vocab[t] = Object.keys(vocab).length
  model.merges = model.merges.filter(m => {
    const [a, b] = Array.isArray(m) ? m : m.split(' ')
    if (!(a in vocab) || !(b in vocab) || merges === 0) return false
    merges--
    if (!(a + b in vocab)) vocab[a + b] = Object.keys(vocab).length
    return true
  })
  const template = Object.values(json.post_processor?.special_tokens ?? {})
  json.added_tokens = json.added_tokens.filter((t, i) => i < 12 || template.some(s => s.id === t.content)).map(t => {
    if (!(t.content in vocab)) vocab[t.content] = Object.keys(vocab).length
    return { ...t, id: vocab[t.content] }
  })
  for (const s of template) s.ids = s.tokens.map(t => vocab[t])
  model.vocab = vocab
  return { name, tokenizer: json }
}

const letters = t => [...t].length === 1
const common = t => letters(t) && (t < '\u0250' || '▁日本語中文한국्नет。'.includes(t))

// The model of components.json.
const word = ['th', 'the', '▁the', 'll', 'in', 'an', '12', '123', '▁w', 'or', 'ld', 'orld', 'word', 'words', '▁▁', '  ', 'aa', 'aaaa', ' w', 'he', 'hell', 'hello', '!!', '日本', 'AB', 'ABC', 'le', 'lel']
const pairs = [['t', 'h'], ['th', 'e'], ['▁', 'the'], ['l', 'l'], ['i', 'n'], ['a', 'n'], ['1', '2'], ['12', '3'], ['▁', 'w'], ['o', 'r'], ['l', 'd'], ['or', 'ld'], ['w', 'or'], ['wor', 'd'], ['word', 's'],
  ['▁', '▁'], [' ', ' '], ['a', 'a'], ['aa', 'aa'], [' ', 'w'], ['h', 'e'], ['he', 'll'], ['hell', 'o'], ['!', '!'], ['日', '本'], ['A', 'B'], ['AB', 'C']]
function model(chars, options = {}, extra = []) {
  const vocab = {}
  for (const t of [...extra, ...chars, ...pairs.map(p => p.join('')), '▁wor', 'STRASSE']) if (!(t in vocab)) vocab[t] = Object.keys(vocab).length
  return { type: 'BPE', dropout: null, unk_token: null, continuing_subword_prefix: null, end_of_word_suffix: null, fuse_unk: false, byte_fallback: false, ignore_merges: false, vocab,
    merges: pairs.filter(p => p.every(t => t in vocab)), ...options }
}
const ascii = Array.from({ length: 95 }, (_, i) => String.fromCharCode(32 + i))
const characters = [...ascii, '▁', '\n', 'é', '\u0301', '日', '本', 'ς', 'σ', 'i\u0307', 'ﬁ', '²', '١']
const bytes = ['<unk>', ...Array.from({ length: 256 }, (_, i) => `<0x${i.toString(16).toUpperCase().padStart(2, '0')}>`)]
const level = []
{ let next = 256; for (let b = 0; b < 256; b++) level.push(String.fromCodePoint(b >= 33 && b <= 126 || b >= 161 && b <= 172 || b >= 174 ? b : next++)) }
const base = (change = {}, m = model(characters, { unk_token: '<unk>' }, ['<unk>'])) =>
  ({ version: '1.0', truncation: null, padding: null, added_tokens: [], normalizer: null, pre_tokenizer: null, post_processor: null, decoder: { type: 'Fuse' }, model: m, ...change })
const added = (content, flags) => ({ id: 0, content, single_word: false, lstrip: false, rstrip: false, normalized: false, special: false, ...flags })
function withAdded(list, change = {}) {
  const json = base(change)
  json.added_tokens = list.map(t => { json.model.vocab[t.content] ??= Object.keys(json.model.vocab).length; return { ...t, id: json.model.vocab[t.content] } })
  return json
}
const split = (pattern, behavior, invert) => ({ type: 'Split', pattern, behavior, invert })

const cases = []
for (const [name, normalizer] of Object.entries({
  NFC: { type: 'NFC' }, NFD: { type: 'NFD' }, NFKC: { type: 'NFKC' }, NFKD: { type: 'NFKD' }, Lowercase: { type: 'Lowercase' },
  Strip: { type: 'Strip', strip_left: true, strip_right: true }, 'Strip left': { type: 'Strip', strip_left: true, strip_right: false }, Prepend: { type: 'Prepend', prepend: '▁' },
  'Replace String': { type: 'Replace', pattern: { String: ' ' }, content: '▁' }, 'Replace Regex': { type: 'Replace', pattern: { Regex: ' {2,}' }, content: '▁▁' },
  'Sequence of normalizers': { type: 'Sequence', normalizers: [{ type: 'Prepend', prepend: ' ' }, { type: 'Lowercase' }, { type: 'Replace', pattern: { String: ' ' }, content: '▁' }] },
})) cases.push({ name, tokenizer: base({ normalizer }) })
for (const behavior of ['Removed', 'Isolated', 'MergedWithPrevious', 'MergedWithNext', 'Contiguous']) {
  for (const invert of [false, true]) cases.push({ name: `Split ${behavior} ${invert}`, tokenizer: base({ pre_tokenizer: split({ Regex: '[lae ]' }, behavior, invert) }) })
  cases.push({ name: `Punctuation ${behavior}`, tokenizer: base({ pre_tokenizer: { type: 'Punctuation', behavior } }) })
}
for (const prepend_scheme of ['always', 'first', 'never']) for (const s of [true, false]) {
  const metaspace = { type: 'Metaspace', replacement: '▁', prepend_scheme, split: s }
  cases.push({ name: `Metaspace ${prepend_scheme} ${s}`, tokenizer: withAdded([added('<|end|>', { special: true })], { pre_tokenizer: metaspace, decoder: metaspace }) })
}
for (const [name, pre_tokenizer] of Object.entries({
  'Split String': split({ String: 'l' }, 'MergedWithNext', false), 'Split lookahead': split({ Regex: '\\s+(?!\\S)|\\w+(?=l)|.' }, 'Isolated', false), 'Split only words': split({ Regex: "\\p{N}{1,3}| ?\\p{L}+" }, 'Isolated', false),
  'Split words alone': split({ Regex: "\\p{N}{1,3}| ?\\p{L}+" }, 'Removed', true), 'Split empty matches': split({ Regex: 'l*' }, 'Isolated', false), Digits: { type: 'Digits', individual_digits: false }, 'Digits apart': { type: 'Digits', individual_digits: true }, Whitespace: { type: 'Whitespace' },
  'Sequence of pre-tokenizers': { type: 'Sequence', pretokenizers: [{ type: 'Whitespace' }, { type: 'Punctuation', behavior: 'Isolated' }, { type: 'Digits', individual_digits: true }] },
})) cases.push({ name, tokenizer: base({ pre_tokenizer }) })
for (const add_prefix_space of [false, true]) for (const use_regex of [false, true]) {
  const byteLevel = { type: 'ByteLevel', add_prefix_space, trim_offsets: true, use_regex }
  cases.push({ name: `ByteLevel ${add_prefix_space} ${use_regex}`, tokenizer: base({ pre_tokenizer: byteLevel, decoder: byteLevel, post_processor: byteLevel }, model(level)) })
}
cases.push({ name: 'Digits and ByteLevel', tokenizer: base({ pre_tokenizer: { type: 'Sequence', pretokenizers: [{ type: 'Digits', individual_digits: true }, { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true }] }, decoder: { type: 'ByteLevel', add_prefix_space: true, trim_offsets: true, use_regex: true } }, model(level)) })
cases.push({ name: 'no decoder', tokenizer: base({ decoder: null }) })
cases.push({ name: 'Strip of tokens', tokenizer: base({ decoder: { type: 'Sequence', decoders: [{ type: 'Strip', content: 'l', start: 1, stop: 0 }, { type: 'Replace', pattern: { Regex: '[0-9]+' }, content: '#' }] } }) })
cases.push({ name: 'Strip of the text', tokenizer: base({ decoder: { type: 'Sequence', decoders: [{ type: 'Fuse' }, { type: 'Strip', content: ' ', start: 1, stop: 0 }] } }) })
cases.push({ name: 'ByteFallback', tokenizer: base({ normalizer: { type: 'Sequence', normalizers: [{ type: 'Prepend', prepend: '▁' }, { type: 'Replace', pattern: { String: ' ' }, content: '▁' }] },
  decoder: { type: 'Sequence', decoders: [{ type: 'Replace', pattern: { String: '▁' }, content: ' ' }, { type: 'ByteFallback' }, { type: 'Fuse' }, { type: 'Strip', content: ' ', start: 1, stop: 0 }] } },
  model(characters, { unk_token: '<unk>', fuse_unk: true, byte_fallback: true, merges: pairs.map(p => p.join(' ')).filter(m => !m.startsWith(' ')) }, bytes)) })
cases.push({ name: 'ByteFallback without some bytes', tokenizer: base({}, model(characters, { unk_token: '<unk>', byte_fallback: true }, bytes.filter(t => t < '<0xE5' || t === '<unk>'))) })
cases.push({ name: 'no unk_token', tokenizer: base({}, model(characters)) })
cases.push({ name: 'fuse_unk', tokenizer: base({ pre_tokenizer: { type: 'Whitespace' } }, model(characters, { unk_token: '<unk>', fuse_unk: true }, ['<unk>'])) })
cases.push({ name: 'ignore_merges', tokenizer: base({ pre_tokenizer: { type: 'Whitespace' } }, model(characters, { ignore_merges: true })) })
cases.push({ name: 'no ignore_merges', tokenizer: base({ pre_tokenizer: { type: 'Whitespace' } }, model(characters)) })
const template = (ids) => ({ type: 'TemplateProcessing', single: [{ SpecialToken: { id: '<s>', type_id: 0 } }, { Sequence: { id: 'A', type_id: 0 } }, { SpecialToken: { id: '</s>', type_id: 0 } }], pair: [{ Sequence: { id: 'A', type_id: 0 } }, { Sequence: { id: 'B', type_id: 1 } }],
  special_tokens: { '<s>': { id: '<s>', ids: [ids[0]], tokens: ['<s>'] }, '</s>': { id: '</s>', ids: [ids[1]], tokens: ['</s>'] } } })
{ const json = withAdded([added('<s>', { special: true }), added('</s>', { special: true })]); json.post_processor = { type: 'Sequence', processors: [{ type: 'ByteLevel', add_prefix_space: true, trim_offsets: true, use_regex: true }, template(json.added_tokens.map(t => t.id))] }; cases.push({ name: 'template', tokenizer: json }) }
cases.push({ name: 'added tokens', tokenizer: withAdded([added('[MASK]', { lstrip: true, special: true }), added('or', { single_word: true }), added('<|end|>', { rstrip: true }), added('<s>', {}), added('<s> ', {}), added('ABC', { normalized: true }), added('é', { normalized: true })],
  { normalizer: { type: 'Sequence', normalizers: [{ type: 'NFC' }, { type: 'Lowercase' }] } }) })

// BERT's tokenizer, with a vocabulary of its own.
const wordPieces = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]', ...ascii.slice(1), ...ascii.slice(1).map(c => '##' + c), ...'日本語漢字かな中文한국어é²½ωσς'.split(''), ...'éσςωな국어́'.split('').map(c => '##' + c),
  'the', 'word', '##s', '##y', 'hello', 'world', 'don', 'cafe', '##fe', 'naive', 'st', '##ras', '##se', 'camel', '##case', 'http', '##server', 'def', '##ef', 'is', '##tan', '##bul', 'aa', '##aaa', 'or', 'ab', '##bc', 'HTTP', '12', '##345', 'नम', 'привет', '##x', 'fin']
function wordPiece(change = {}, options = {}, prefix = '##') {
  const vocab = {}
  for (const t of wordPieces) { const token = t.replace(/^##(?=.)/, prefix); vocab[token] ??= Object.keys(vocab).length }
  const special = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]']
  const [cls, sep] = ['[CLS]', '[SEP]'].map(id => ({ SpecialToken: { id, type_id: 0 } }))
  return { version: '1.0', truncation: null, padding: null, added_tokens: special.map(t => ({ ...added(t, { special: true }), id: vocab[t] })),
    normalizer: { type: 'BertNormalizer', clean_text: true, handle_chinese_chars: true, strip_accents: null, lowercase: true }, pre_tokenizer: { type: 'BertPreTokenizer' },
    post_processor: { type: 'TemplateProcessing', single: [cls, { Sequence: { id: 'A', type_id: 0 } }, sep], pair: [cls, { Sequence: { id: 'A', type_id: 0 } }, sep, { Sequence: { id: 'B', type_id: 1 } }, sep],
      special_tokens: Object.fromEntries(['[CLS]', '[SEP]'].map(t => [t, { id: t, ids: [vocab[t]], tokens: [t] }])) },
    decoder: { type: 'WordPiece', prefix, cleanup: true },
    model: { type: 'WordPiece', unk_token: '[UNK]', continuing_subword_prefix: prefix, max_input_chars_per_word: 100, vocab, ...options }, ...change }
}
const bert = (options) => ({ normalizer: { type: 'BertNormalizer', clean_text: false, handle_chinese_chars: false, strip_accents: false, lowercase: false, ...options } })
const words = [['WordPiece', wordPiece()], ['WordPiece of short words', wordPiece({}, { max_input_chars_per_word: 5 })], ['WordPiece with another prefix', wordPiece({ decoder: { type: 'WordPiece', prefix: '@@', cleanup: false } }, {}, '@@')],
  ['BertNormalizer without anything', wordPiece(bert({}))], ['BertNormalizer clean_text', wordPiece(bert({ clean_text: true }))], ['BertNormalizer handle_chinese_chars', wordPiece(bert({ handle_chinese_chars: true }))],
  ['BertNormalizer strip_accents', wordPiece(bert({ strip_accents: true }))], ['BertNormalizer lowercase', wordPiece(bert({ lowercase: true }))], ['BertNormalizer strip_accents null', wordPiece(bert({ lowercase: true, strip_accents: null }))],
].map(([name, tokenizer]) => ({ name, tokenizer }))

mkdirSync('../tokenizers', { recursive: true })
await write('mistral', [cut('mistral', 2500, common)])
await write('llama2', [cut('llama2', 2500, common)])
await write('gemma3', [cut('gemma3', 2500, common)])
await write('llama3', [cut('llama3', 3000, letters)])
await write('qwen3', [cut('qwen3', 3000, letters)])
await write('gpt4o', [cut('gpt4o', 3000, letters)])
// One model for all components would hide none of them: parts of the list keep below the size of a file.
for (let i = 0, n = 20; i * n < cases.length; i++) await write(`components${i + 1}`, cases.slice(i * n, (i + 1) * n))
await write('wordpiece', words)
