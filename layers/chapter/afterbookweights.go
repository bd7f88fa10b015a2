package chapter

import (
	"math"
	"strings"

	"attention/graph"
	"attention/graph/mask"

	G "gorgonia.org/gorgonia"
)

// shared makes a part of the causal weights of a softmax, to compare with, and returns them.
func (w *walk) shared(q, k *G.Node) *G.Node {
	weights := w.causalWeights(q, k)
	w.part(weights, "shared = softmax(fill(q·kᵀ) / √2)", "The weights of a softmax.", w.words(), w.words())
	return weights
}

var sigmoidWeights = Section{
	Title: "After the book: a sigmoid in place of the softmax",
	Text:  "Each weight is the sigmoid of its own score (Ramapuram et al. 2024).",
	Why: "A softmax shares a weight of 1 among all keys: a key gains only what another loses, and a query that finds " +
		"nothing has to look somewhere all the same. A sigmoid decides for each pair alone, and the weights of a query " +
		"may add up to much or to little. The more keys there are, the more weight there would be, so that the " +
		"logarithm of their number is taken from each score. It costs that bias, since without it training begins with " +
		"sums that are too large; it buys weights without any sum over the keys, which are computed piece by piece.",
	Words: sentence,
	Seed:  789,
	build: func(w *walk) {
		q, k, v := w.queriesKeysAndValues()
		w.shared(q, k)
		shift := w.numbers("shift", []float64{-math.Log(float64(len(w.words())))}, 1)
		w.show(shift, "shift", "What is added to each score: minus the logarithm of the number of tokens.")
		scores := w.Of(graph.Scale(w.Of(graph.Scores(q, k)), 1/math.Sqrt2))
		shifted := w.Of(graph.Add(scores, shift))
		w.show(shifted, "shifted = q·kᵀ / √2 + shift", "The scores with it.", w.words(), w.words())
		weights := w.Of(graph.Tril(w.Of(graph.Sigmoid(shifted))))
		w.show(weights, "weights = tril(sigmoid(shifted))", "The sigmoid of each, 0 where a token may not be seen.",
			w.words(), w.words())
		w.show(w.sum(weights, 1), "sums = Σ weights", "Together the weights of a token need not be 1.", w.words())
		w.show(w.Of(graph.MatMul(weights, v)), "context = weights·v", "The context vectors.", w.words(), nil)
	},
}

var forgetting = Section{
	Title: "After the book: gates that forget",
	Text:  "Each token lets a part of what came before it through (FoX: Lin et al. 2025).",
	Why: "Where a sentence ends, much of what came before may be forgotten, and which tokens do that can be learnt: " +
		"each has a gate between 0 and 1. What a key has to say reaches a query through the gates of all tokens between " +
		"them, so that their product is a factor of its weight. The logarithm of a product is a sum, and sums up to " +
		"each token are enough: that of the query less that of the key is added to the score. It costs a gate for " +
		"each token and head, and keys behind a closed gate are lost; it buys a sense of what is near without any " +
		"positions, and distances that depend on the text.",
	Words: sentence,
	Seed:  789,
	build: func(w *walk) {
		x := w.tokens()
		q, k, v := w.queriesKeysAndValuesOf(x)
		T := len(w.words())
		w.shared(q, k)
		opened := w.linearPart(x, "W_gate", 3, 1, "The weights of the gates.") // (T, 1)
		w.show(w.reshape(w.Of(graph.Sigmoid(opened)), T), "gate = sigmoid(x·W_gate.weight[0])",
			"The gates: the part of what came before that each token lets through.", w.words())
		ones := w.ones()
		w.part(ones, "ones", "A matrix of ones.", w.words(), w.words())
		until := w.Of(graph.MatMul(w.Of(graph.Tril(ones)), w.Of(graph.LogSigmoid(opened)))) // (T, 1)
		w.show(w.reshape(until, T), "until = tril(ones)·log(gate)",
			"The sums of the logarithms of the gates up to each token.", w.words())
		row := w.reshape(until, 1, T)
		bias := w.Of(graph.Sub(w.Of(G.Transpose(w.Of(graph.Mul(ones, row)), 1, 0)), row))
		w.show(bias, "bias = (ones⊙until)ᵀ − until", "That of each query less that of each key.", w.words(), w.words()).
			exactly("(ones⊙until)ᵀ + until / -1")
		w.show(w.Of(graph.Tril(w.Of(graph.Exp(bias)))), "left = tril(exp(bias))",
			"The products of the gates between key and query: what is left of each key.", w.words(), w.words())
		scores := w.Of(graph.Add(w.Of(graph.Scale(w.Of(graph.Scores(q, k)), 1/math.Sqrt2)), bias))
		weights := w.Of(graph.Softmax(w.Of(graph.MaskFill(scores, mask.Causal{}))))
		w.show(weights, "weights = softmax(fill(q·kᵀ / √2 + bias))", "The weights with the bias.", w.words(), w.words())
		w.show(w.Of(graph.MatMul(weights, v)), "context = weights·v", "The context vectors.", w.words(), nil)
	},
}

// keysOfBlock is how many tokens the section's blocks have.
const keysOfBlock = 2

var chosenBlocks = Section{
	Title: "After the book: blocks that are chosen by what they hold",
	Text:  "Every token sees its own block of keys, and the one before that it likes best (MoBA: Lu et al. 2025).",
	Why: "A window sees what is near. Tokens far away may be worth a look, too, but which? The keys before are cut into " +
		"blocks, and one score for each block decides: that of its mean key. The softmax then sees few blocks, however " +
		"long the text is. Gradients flow through what is seen, not through the choice. It costs that a block is passed " +
		"over whose mean says little, and a cache of all keys; it buys time that grows as T times the few chosen " +
		"blocks, with any distance in reach.",
	Words: sentence,
	Seed:  789,
	build: func(w *walk) {
		q, k, v := w.queriesKeysAndValues()
		all := w.shared(q, k)
		blocks, earlier, names := w.blocks()
		w.part(blocks, "blocks", "The blocks: 1 for the tokens of each.", names, w.words())
		w.part(earlier, "earlier", "1 for the blocks before a token's own.", w.words(), names)
		count := w.reshape(w.sum(blocks, 1), len(names), 1)
		means := w.Of(graph.Div(w.Of(graph.MatMul(blocks, k)), count)) // (N, D)
		w.show(means, "means = blocks·k / Σ blocks", "The mean key of each block.", names, nil)
		likes := w.Of(graph.Mul(w.Of(graph.Exp(w.Of(graph.Scores(q, means)))), earlier)) // (T, N)
		w.show(likes, "likes = exp(q·meansᵀ)⊙earlier", "How much each query likes the blocks before its own.",
			w.words(), names)
		chosen := w.best(likes)
		w.show(chosen, "chosen = best(likes)", "1 for the block that it likes best.", w.words(), names)
		own := w.Of(G.Transpose(blocks, 1, 0))
		seen := w.Of(graph.Tril(w.Of(graph.MatMul(w.Of(graph.Add(chosen, own)), blocks)))) // (T, T)
		w.show(seen, "seen = tril((chosen + blocksᵀ)·blocks)",
			"The keys of that block and of the own one, none of later tokens.", w.words(), w.words())
		kept := w.Of(graph.Mul(all, seen))
		w.part(kept, "within = shared⊙seen", "The weights of a softmax there.", w.words(), w.words())
		weights := w.Of(graph.DivideBySum(kept))
		w.show(weights, "weights = within / Σ within", "The weights of the softmax within these keys.", w.words(), w.words())
		w.show(w.Of(graph.MatMul(weights, v)), "context = weights·v", "The context vectors.", w.words(), nil)
	},
}

// blocks makes inputs of which tokens each block has (N, T), and of which blocks are before a token's own (T, N).
func (w *walk) blocks() (blocks, earlier *G.Node, names []string) {
	words := w.words()
	T, N := len(words), (len(words)+keysOfBlock-1)/keysOfBlock
	in, before := make([]float64, N*T), make([]float64, T*N)
	for n := range N {
		from, to := n*keysOfBlock, min((n+1)*keysOfBlock, T)
		names = append(names, strings.Join(words[from:to], " "))
		for t := from; t < T; t++ {
			if t < to {
				in[n*T+t] = 1
			} else {
				before[t*N+n] = 1
			}
		}
	}
	return w.numbers("blocks", in, N, T), w.numbers("earlier", before, T, N), names
}

// best returns 1 at the largest number of each row of x (T, N), and 0 elsewhere; a row of zeros has none.
func (w *walk) best(x *G.Node) *G.Node {
	T, N := x.Shape()[0], x.Shape()[1]
	each := make([]float64, N*N)
	for n := range N {
		each[n*N+n] = 1
	}
	largest, at := w.Of2(graph.TopK(x, 1)) // (T, 1)
	rows := w.Of(graph.Embedding(w.numbers("each", each, N, N), w.reshape(at, T)))
	return w.Of(graph.Mul(rows, w.Of(graph.ReLU(w.Of(G.Sign(largest))))))
}
