// Package text makes batches of ids from text. It has tokenizers (characters, bytes, GPT-2's byte pairs, and those of
// Hugging Face's tokenizer.json, which OpenTokenizer reads and LearnBytePairs learns) and a Decoder for ids that arrive
// one by one, the Template that makes the text of a conversation, the Split into training and validation ids, the
// sources Windows, Epoch and Cycle for a loop.Loop, and NGram, the losses of n-gram models for comparison.
//
// Everything is deterministic: the same text, config and seed give the same ids and batches.
//
// Letters in shapes: B windows of a batch, T positions of a window, V vocabulary.
package text
