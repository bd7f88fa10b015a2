#!/usr/bin/env node
// Writes gpt2.json: the ids that tiktoken's gpt2 gives to texts that are easy to
// get wrong, for the tests of train's GPT2Tokenizer.
//
// Made with tiktoken 1.0.22 for JavaScript, which is OpenAI's own code and
// vocabulary. Run it in this directory; NODE_PATH says where that package is.
//
// The file is a list of texts and their ids. "<|endoftext|>" in a text is the special token: all are allowed, as
// in Hugging Face's engine.
const fs = require("fs");
const { get_encoding } = require("tiktoken");

const pieces = [
  " ", "  ", "\n", "\t", "\r\n", "\x00", "\x1c", "\x7f", "\u0085", "\u00a0", "\u180e", "\u2028", "\u3000",
  "'s", "'ll", "'S", "'", "ʼ", "don't", "Hello", " world", "WORLD", "ß", "e\u0301", "12", "3", "²", "Ⅷ", "٣",
  "!", "...", "<|endoftext|>", "日本語", "한국어", "עברית", "العربية", "हिन्दी", "🙂", "👨‍👩‍👧", "🇫🇷", "\ufeff", "\ufffd", "\u{10ffff}",
];

const texts = [
  "", "Hello world", "Hello, do you like tea?", "<|endoftext|>", " <|endoftext|> x<|endoftext|>",
  "\x7f", "a\x7fb", "  \x7f's", "\x00\x7f\x00\x7f\x7f", " !!\x7f.. \x7f \x7f", "\x7f\n\x7f",
  "I'll we're they've I'm he'd it's can't I'LL", "''s '' s 'ss 'lll",
  " ".repeat(7) + "x", " ".repeat(200) + "x", " ".repeat(200), "\n".repeat(200), "\n \n\t \r\n x\n",
  "a".repeat(95), "a".repeat(96), "a".repeat(300), "abcdefghij".repeat(30), "-".repeat(300), "🙂".repeat(40), "日".repeat(60),
  "antidisestablishmentarianism", " SolidGoldMagikarp", "https://example.org/a?b=c&d=%20#e",
  "def f(x):\n    return x ** 2  # squared\n\n\nprint(f(3))\n",
  Array.from({ length: 128 }, (_, i) => String.fromCodePoint(i)).join(""),
  Array.from({ length: 256 }, (_, i) => String.fromCodePoint(128 + 3 * i)).join(""),
  pieces.join(""), pieces.join(" "), pieces.join("a"), pieces.join("\x7f"),
];

// Any order of pieces: a linear congruential generator draws them.
let state = 1;
const draw = (n) => (state = (state * 1103515245 + 12345) % 2147483648) % n;
for (let i = 0; i < 60; i++) {
  let text = "";
  for (let left = 1 + (i % 30); left > 0; left--) text += pieces[draw(7919) % pieces.length];
  texts.push(text);
}

const gpt2 = get_encoding("gpt2");
const escaped = (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0");
const rows = texts.map((text) => JSON.stringify({ text, ids: [...gpt2.encode(text, "all")] }).replace(/[^ -~]/g, escaped));
fs.writeFileSync("gpt2.json", "[\n" + rows.join(",\n") + "\n]\n");
