// Package look computes what can be seen of a model's attention.
//
// A Model is what a folder holds; a Look is a model over a text, changed or not: its sequences of tokens, its layers
// with the queries and keys that their scores are made of, and what the model expects next. A network reads one text,
// as a GPT and a layer of the chapter do, or a date and its translation, as attention translate's does.
//
// A Layer keeps its queries, keys and values, and never its weights, so that memory is linear in the length of the
// text. What is shown of a head is the statistics of the attention's own op: one graph of a layer, in which the number
// of the head is an input, computes log-sum-exps, means and the largest weights of blocks. Of these the page computes
// single weights, exp(score − log-sum-exp), so that no table of size (T, S) is ever sent.
package look
