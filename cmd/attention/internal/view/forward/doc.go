// Package forward computes the quantities of a model's attention that the page shows.
//
// A Model is a model read from a folder. A Pass is a model applied to a text, changed or not: its sequences of tokens,
// its layers with the queries and keys of their scores, and the tokens that the model expects next. A network reads one
// text, such as a GPT and a layer of the chapter, or a date and its translation, such as the model of attention
// translate.
//
// A Layer keeps its queries, keys and values, but never its weights, so that memory is linear in the length of the
// text. The statistics of a head come from the attention's own op: one graph for a layer, whose input is the number of
// the head, computes log-sum-exps, means and the largest weights of blocks. From these the page computes single
// weights, exp(score − log-sum-exp), so that no table of size (T, S) is ever sent.
package forward
