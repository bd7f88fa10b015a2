package gguf

import "slices"

// The kinds of tokens, the values of tokenizer.ggml.token_type.
const (
	NormalToken  = 1
	UnknownToken = 2
	ControlToken = 3
	UserToken    = 4 // looked for in texts before they are cut
	UnusedToken  = 5
	ByteToken    = 6
)

// The regular expressions that cut texts into words.
const (
	llama3Words = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|` +
		`\s*[\r\n]+|\s+(?!\S)|\s+`
	qwen2Words = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|` +
		`\s*[\r\n]+|\s+(?!\S)|\s+`
	tekkenWords = `[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|` +
		`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}|` +
		` ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`
)

// Cut is a way to cut texts that llama.cpp has.
type Cut struct {
	// Change and Cut are the normalizer and the pre-tokenizer of a tokenizer.json in words: the parts of a sequence after
	// each other, a pattern that finds words as it is.
	Change, Cut string
	Whole       bool     // a word that is a token is not made of others
	Pre         string   // llama.cpp's name of the way; "" is SentencePiece's
	Blank       bool     // a blank is put before a text
	Begins      bool     // a text gets the token that begins one, unless a file says whether
	Aliases     []string // other names of the same way
}

// Cuts are all ways. A text that is not in the form NFC is cut there as it is.
var Cuts = []Cut{
	{Cut: "ByteLevel with words", Pre: "gpt-2",
		Aliases: []string{"mpt", "olmo", "jais", "trillion", "granite-docling", "phi-2"}},
	{Cut: "Digits, ByteLevel with words", Pre: "smollm",
		Aliases: []string{"starcoder", "refact", "command-r", "codeshell", "exaone", "minerva-7b"}},
	{Cut: llama3Words + ", ByteLevel", Pre: "dbrx", Aliases: []string{"smaug-bpe"}},
	{Cut: llama3Words + ", ByteLevel", Whole: true, Pre: "llama-bpe", Begins: true,
		Aliases: []string{"llama3", "llama-v3", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2"}},
	{Cut: qwen2Words + ", ByteLevel", Pre: "qwen2", Aliases: []string{"deepseek-r1-qwen", "stablelm2", "megrez"}},
	{Cut: tekkenWords + ", ByteLevel", Whole: true, Pre: "tekken", Begins: true},
	{Change: `Prepend "▁", Replace " " "▁"`, Blank: true},
	{Change: `Replace " " "▁"`, Cut: `" " MergedWithPrevious`},
	{Change: `Replace " " "▁"`},
	{Cut: `Metaspace "▁" first`, Blank: true},
}

// CutOf returns the way of a name of llama.cpp's.
func CutOf(pre string) (c Cut, ok bool) {
	for _, c := range Cuts {
		if c.Pre != "" && (c.Pre == pre || slices.Contains(c.Aliases, pre)) {
			return c, true
		}
	}
	return c, false
}
