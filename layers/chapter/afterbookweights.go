package chapter

import (
	"math"
	"strings"

	"attention/graph"
	"attention/graph/mask"

	G "gorgonia.org/gorgonia"
)

// shared adds a part for the causal weights of a softmax, for comparison, and returns them.
func (w *walk) shared(q, k *G.Node) *G.Node {
	weights := w.causalWeights(q, k)
	w.part(weights, "shared = softmax(fill(q·kᵀ) / √2)", "The weights of a softmax.", w.words(), w.words())
	return weights
}

var sigmoidWeights = Section{
	Title: "After the book: a sigmoid in place of the softmax",
	Text:  "Each weight is the sigmoid of its own score (Ramapuram et al. 2024).",
	Why: "A softmax divides a weight of 1 among all keys: a key gains only what another key loses, and a query that " +
		"finds nothing still attends to something. A sigmoid computes each weight from its own score, so the weights of a " +
		"query may have a large or a small sum. More keys would give more weight, so the logarithm of their number is " +
		"subtracted from each score. The cost is this bias: without it training starts with sums that are too large. The " +
		"gain is weights without a sum over the keys, which can be computed piece by piece.",
	Words: sentence,
	Seed:  789,
	build: func(w *walk) {
		q, k, v := w.queriesKeysAndValues(w.tokens())
		w.shared(q, k)
		shift := w.numbers("shift", []float64{-math.Log(float64(len(w.words())))}, 1)
		w.show(shift, "shift", "The bias of each score: minus the logarithm of the number of tokens.")
		scores := w.Of(graph.Scale(w.Of(graph.Scores(q, k)), 1/math.Sqrt2))
		shifted := w.Of(graph.Add(scores, shift))
		w.show(shifted, "shifted = q·kᵀ / √2 + shift", "The scores with the bias.", w.words(), w.words())
		weights := w.Of(graph.Tril(w.Of(graph.Sigmoid(shifted))))
		w.show(weights, "weights = tril(sigmoid(shifted))", "The sigmoid of each score, 0 for masked tokens.",
			w.words(), w.words())
		w.show(w.sum(weights, 1), "sums = Σ weights", "The sum of each row of weights, which need not be 1.", w.words())
		w.show(w.Of(graph.MatMul(weights, v)), "context = weights·v", "The context vectors.", w.words(), nil)
	},
}

var forgetting = Section{
	Title: "After the book: gates that forget",
	Text:  "Each token lets through a part of the text before it (FoX: Lin et al. 2025).",
	Why: "When a sentence ends, much of the text before it may be forgotten. The model learns which tokens do this: " +
		"each token has a gate between 0 and 1. A key reaches a query through the gates of all tokens between them, so " +
		"the product of these gates multiplies its weight. The logarithm of a product is a sum, and one running sum per " +
		"token is enough: the query's sum minus the key's sum is added to the score. The cost is a gate for each token " +
		"and head, and keys behind a closed gate are lost. The gain is a sense of distance without positions, and a " +
		"distance that depends on the text.",
	Words: sentence,
	Seed:  789,
	build: func(w *walk) {
		x := w.tokens()
		q, k, v := w.queriesKeysAndValues(x)
		T := len(w.words())
		w.shared(q, k)
		opened := w.linearPart(x, "W_gate", 3, 1, "The weights of the gates.") // (T, 1)
		w.show(w.reshape(w.Of(graph.Sigmoid(opened)), T), "gate = sigmoid(x·W_gate.weight[0])",
			"The gates: the part of the earlier text that each token lets through.", w.words())
		ones := w.ones()
		w.part(ones, "ones", "A matrix of ones.", w.words(), w.words())
		until := w.Of(graph.MatMul(w.Of(graph.Tril(ones)), w.Of(graph.LogSigmoid(opened)))) // (T, 1)
		w.show(w.reshape(until, T), "until = tril(ones)·log(gate)",
			"The sums of the logarithms of the gates up to each token.", w.words())
		row := w.reshape(until, 1, T)
		bias := w.Of(graph.Sub(w.Of(G.Transpose(w.Of(graph.Mul(ones, row)), 1, 0)), row))
		w.show(bias, "bias = (ones⊙until)ᵀ − until", "The sum of the query minus the sum of the key.", w.words(), w.words()).
			exactly("(ones⊙until)ᵀ + until / -1")
		w.show(w.Of(graph.Tril(w.Of(graph.Exp(bias)))), "left = tril(exp(bias))",
			"The products of the gates between key and query: the remaining part of each key.", w.words(), w.words())
		scores := w.Of(graph.Add(w.Of(graph.Scale(w.Of(graph.Scores(q, k)), 1/math.Sqrt2)), bias))
		weights := w.Of(graph.Softmax(w.Of(graph.MaskFill(scores, mask.Causal{}))))
		w.show(weights, "weights = softmax(fill(q·kᵀ / √2 + bias))", "The weights with the bias.", w.words(), w.words())
		w.show(w.Of(graph.MatMul(weights, v)), "context = weights·v", "The context vectors.", w.words(), nil)
	},
}

// keysOfBlock is the number of tokens in one of the section's blocks.
const keysOfBlock = 2

var chosenBlocks = Section{
	Title: "After the book: blocks that are chosen by what they hold",
	Text:  "Every token sees its own block of keys and the earlier block with the largest score (MoBA: Lu et al. 2025).",
	Why: "A window sees near tokens only. Some distant tokens matter, too, but which? The earlier keys are divided into " +
		"blocks, and one score per block decides: that of its mean key. The softmax then sees few blocks, however long " +
		"the text is. Gradients flow through the keys that are seen, not through the choice. The cost is that a query " +
		"misses a block whose mean does not show what is in it, and a cache of all keys. The gain is time that grows as T " +
		"times the few chosen blocks, with any distance in reach.",
	Words: sentence,
	Seed:  789,
	build: func(w *walk) {
		q, k, v := w.queriesKeysAndValues(w.tokens())
		all := w.shared(q, k)
		blocks, earlier, names := w.blocks()
		w.part(blocks, "blocks", "The blocks: 1 for the tokens of each.", names, w.words())
		w.part(earlier, "earlier", "1 for the blocks before a token's own.", w.words(), names)
		count := w.reshape(w.sum(blocks, 1), len(names), 1)
		means := w.Of(graph.Div(w.Of(graph.MatMul(blocks, k)), count)) // (N, D)
		w.show(means, "means = blocks·k / Σ blocks", "The mean key of each block.", names, nil)
		likes := w.Of(graph.Mul(w.Of(graph.Exp(w.Of(graph.Scores(q, means)))), earlier)) // (T, N)
		w.show(likes, "likes = exp(q·meansᵀ)⊙earlier", "The score of each query with the blocks before its own.",
			w.words(), names)
		chosen := w.best(likes)
		w.show(chosen, "chosen = best(likes)", "1 for the block with the largest score.", w.words(), names)
		own := w.Of(G.Transpose(blocks, 1, 0))
		seen := w.Of(graph.Tril(w.Of(graph.MatMul(w.Of(graph.Add(chosen, own)), blocks)))) // (T, T)
		w.show(seen, "seen = tril((chosen + blocksᵀ)·blocks)",
			"The keys of that block and of the query's own block, without later tokens.", w.words(), w.words())
		kept := w.Of(graph.Mul(all, seen))
		w.part(kept, "within = shared⊙seen", "The weights of a softmax there.", w.words(), w.words())
		weights := w.Of(graph.DivideBySum(kept))
		w.show(weights, "weights = within / Σ within", "The weights of the softmax over these keys.", w.words(), w.words())
		w.show(w.Of(graph.MatMul(weights, v)), "context = weights·v", "The context vectors.", w.words(), nil)
	},
}

// blocks makes two inputs: the tokens of each block (N, T), and the blocks before each token's own (T, N).
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

// best returns 1 at the largest number of each row of x (T, N), and 0 elsewhere. A row of zeros gives zeros.
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
