// Package look computes what can be seen of a model's attention.
//
// A Model is what a folder holds; a Look is a model over a text, changed or not: its sequences of tokens, its layers
// with the queries and keys that their scores are made of, and what the model expects next. A network reads one text,
// as a GPT and a layer of the chapter do, or a date and its translation, as attention translate's does. A Layer's
// weights are never held: Head computes those of one head, row by row, from the kept queries and keys, so that memory
// is linear in the length of the text. Scores are
//
//	score[t, s] = cap(scale·Σ_d q[t, d]·k[s, d]) + bias[t − s]          of dot products
//	score[t, s] = Σ_d v[d]·tanh(q[t, d] + k[s, d])                      of additive attention
//	weight[t, s] = exp(score[t, s] − lse[t]), 0 where the mask hides the key
//
// which is also what the page computes of them, so that no table of size (T, S) is ever sent.
package look
