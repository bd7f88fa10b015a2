// Package text makes batches of ids from text: tokenizers (characters, bytes,
// GPT-2's byte pairs, those of models in Hugging Face's tokenizer.json, which
// OpenTokenizer reads and LearnBytePairs learns) with a Decoder for ids that
// arrive one by one, the Template that makes a text of a conversation, the Split
// into training and validation ids, the sources Windows, Epoch and Cycle for a
// loop.Loop, and NGram, the losses that a trained model has to beat.
//
// Everything here is deterministic: the same text, config and seed give the same
// ids and batches.
//
// Letters in shapes: B windows of a batch, T positions of a window, V vocabulary.
package text
