package gguf

import "slices"

// The kinds of tokens, the values of tokenizer.ggml.token_type.
const (
	NormalToken  = 1
	UnknownToken = 2
	ControlToken = 3
	UserToken    = 4 // matched in texts before they are split
	UnusedToken  = 5
	ByteToken    = 6
)

// The regular expressions that split texts into words.
const (
	llama3Words = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|` +
		`\s*[\r\n]+|\s+(?!\S)|\s+`
	qwen2Words = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|` +
		`\s*[\r\n]+|\s+(?!\S)|\s+`
	tekkenWords = `[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|` +
		`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}|` +
		` ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`
)

// Cut is one of llama.cpp's ways to split texts.
type Cut struct {
	// Change and Cut describe the normalizer and the pre-tokenizer of a tokenizer.json: the parts of a sequence one after
	// another, and a pattern that finds words unchanged.
	Change, Cut string
	Whole       bool     // whether a word that is a token is used without joining pairs
	Pre         string   // llama.cpp's name for it; "" is SentencePiece's
	Blank       bool     // whether a blank is put before a text
	Begins      bool     // whether a text gets the token that begins one, if a file does not say
	Aliases     []string // other names for the same way
}

// Cuts lists all ways. llama.cpp splits a text that is not in normal form NFC without normalizing it.
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

// CutOf returns the way to split texts with one of llama.cpp's names.
func CutOf(pre string) (c Cut, ok bool) {
	for _, c := range Cuts {
		if c.Pre != "" && (c.Pre == pre || slices.Contains(c.Aliases, pre)) {
			return c, true
		}
	}
	return c, false
}
