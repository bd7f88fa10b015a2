package chapter

import (
	"fmt"

	"attention/graph"
	"attention/graph/mask"

	G "gorgonia.org/gorgonia"
)

var groupedHeads = Section{
	Title: "After the book: heads that share keys and values",
	Text:  "Two heads of queries with one head of keys and values (Shazeer 2019; in groups: Ainslie et al. 2023).",
	Why: "A model that writes text stores the keys and values of all tokens before. For a long text they are larger " +
		"than the model. Heads that search for different things may search in the same keys: each head has its own " +
		"queries, and one set of keys and values serves all heads. The cost is a little quality, because fewer numbers " +
		"describe a token to the queries. The gain is a cache that is smaller by the number of heads that share it, and " +
		"faster to read by the same factor.",
	Words: sentence,
	Seed:  chapterSeed,
	build: func(w *walk) {
		const heads, D = 2, 2
		names := []string{"head 0", "head 1"}
		x := w.tokens()
		w.inputs(x)
		q := w.linearPart(x, "W_query", 3, heads*D, "The weights of the queries of both heads.")
		q = w.Of(graph.SplitHeads(q, heads)) // (H, T, D)
		k := w.linearPart(x, "W_key", 3, D, "The weights of the keys, of one head.")
		v := w.linearPart(x, "W_value", 3, D, "The weights of the values, of one head.")
		w.show(q, "q = split(x·W_query.weightᵀ, 2)", "The queries of each head.", names, w.words(), nil)
		w.show(k, "k = x·W_key.weightᵀ", "The keys, which both heads share.", w.words(), nil)
		w.part(v, "v = x·W_value.weightᵀ", roles[2].text, w.words(), nil)
		var weights, contexts G.Nodes
		for h := range heads {
			context, of := w.Of2(graph.Attention(w.row(q, h), k, v, graph.AttentionConfig{Mask: mask.Causal{}}))
			weights, contexts = append(weights, of), append(contexts, context)
		}
		w.show(w.stack(weights), "weights = softmax(fill(q·kᵀ) / √2)", "Each head has its own weights.",
			names, w.words(), w.words()).exactly("softmax(stack(fill(q[0]·kᵀ), fill(q[1]·kᵀ)) / √2)")
		w.show(w.Of(G.Concat(1, contexts...)), "context = [weights[0]·v, weights[1]·v]",
			"The context vectors of both heads: other shares of the same values.", w.words(), nil).
			exactly("join(weights[0]·v, weights[1]·v)")
		w.number(2*heads*D, "kept by two heads", "Numbers per token in a cache, if each head has keys and values.")
		w.number(2*D, "kept by one", "Numbers per token in the cache here.")
	},
}

// windowed is the number of tokens in the section's window, including a token itself.
const windowed = 2

var slidingWindow = Section{
	Title: "After the book: a window",
	Text:  "Every token sees itself and the token before it (Beltagy et al. 2020; Mistral).",
	Why: "T tokens have T² scores, and most of them belong to distant words that hardly matter. A window of w tokens " +
		"leaves T·w scores, and a cache only needs the last w tokens. Distant tokens are seen through others: a second " +
		"layer sees what the first layer has put into its neighbours. The cost is that distant tokens are lost unless " +
		"layers pass them on. The gain is that time and memory grow as T, and the cache stops growing.",
	Words: sentence,
	Seed:  789,
	build: func(w *walk) {
		q, k, v := w.queriesKeysAndValues(w.tokens())
		T := len(w.words())
		shown := make([]float64, T*T)
		for i := range shown {
			if distance := i/T - i%T; distance >= 0 && distance < windowed {
				shown[i] = 1
			}
		}
		weights := w.causalWeights(q, k)
		w.part(weights, "weights = softmax(fill(q·kᵀ) / √2)", "The weights without a window.", w.words(), w.words())
		window := w.numbers("window", shown, T, T)
		w.show(window, "window", "The window: 1 where a token is seen.", w.words(), w.words())
		seen := w.Of(graph.Mul(weights, window))
		w.part(seen, "seen = weights⊙window", "The weights within the window.", w.words(), w.words())
		normed := w.Of(graph.DivideBySum(seen))
		w.show(normed, "normed = seen / Σ seen", "The weights of section 9 within the window, which add up to 1 again.",
			w.words(), w.words()).exactly("seen / Σ seen")
		w.show(w.Of(graph.MatMul(normed, v)), "context = normed·v", "The context vectors.", w.words(), nil)
		w.show(w.Of(graph.MatMul(window, window)), "twice = window·window",
			"The reach of two layers: the number of paths from one token to another.", w.words(), w.words())
	},
}

var linearState = Section{
	Title: "After the book: a state in place of the cache",
	Text:  "Attention without a softmax (Katharopoulos et al. 2020), computed by weights and by a state.",
	Why: "Because of the softmax, every query needs every key. If a score is a product of positive features, here the " +
		"exponentials of query and key, the sum over the tokens can be computed before the query is known. Earlier tokens " +
		"then pass on one matrix of features times values, the state, and each token adds to it. The cost is sharpness, " +
		"because all pairs share one small matrix and blur each other. The gain is a state that never grows, and time " +
		"that grows as T.",
	Words: sentence,
	Seed:  789,
	build: func(w *walk) {
		q, k, v := w.queriesKeysAndValues(w.tokens())
		last := len(w.words()) - 1
		fq, fk := w.Of(G.Exp(q)), w.Of(G.Exp(k)) // (T, D)
		w.show(fq, "fq = exp(q)", "Features of the queries, above 0. The paper has elu + 1 in place of exp.", w.words(), nil)
		w.show(fk, "fk = exp(k)", "Features of the keys.", w.words(), nil)
		seen := w.Of(graph.Tril(w.Of(graph.Scores(fq, fk))))
		w.part(seen, "seen = tril(fq·fkᵀ)", "The scores of what each token sees.", w.words(), w.words())
		weights := w.Of(graph.DivideBySum(seen))
		w.show(weights, "weights = seen / Σ seen", "The scores divided by their sum: weights without a softmax.",
			w.words(), w.words())
		w.show(w.Of(graph.MatMul(weights, v)), "context = weights·v", "The context vectors.", w.words(), nil)
		state := w.Of(graph.MatMul(w.Of(G.Transpose(fk, 1, 0)), v)) // (D, Dv)
		w.show(state, "state = fkᵀ·v", "The same without weights: the state after the last token.")
		sum := w.sum(fk, 0) // (D)
		w.show(sum, "sum = Σ fkᵀ", "The sum of the keys' features, the divisor.")
		query := w.reshape(w.row(fq, last), 1, 2)
		read := w.Of(graph.Div(w.Of(graph.MatMul(query, state)), w.Of(graph.MatMul(query, w.reshape(sum, 2, 1)))))
		w.show(w.reshape(read, 2), fmt.Sprintf("read = fq[%d]·state / (fq[%d]·sum)", last, last),
			"The context vector that the last token reads from the state.")
	},
}

var deltaRule = Section{
	Title: "After the book: the delta rule",
	Text:  "A state that is corrected instead of only added to (DeltaNet: Schlag et al. 2021, Yang et al. 2024).",
	Why: "A state that only adds keeps everything: if a key comes again with another value, a query reads both values. " +
		"The delta rule first reads the stored value of the key and adds only the difference to the new value. The new " +
		"value replaces the old one, and the values of other keys stay. The cost is that each token needs the result of " +
		"the token before it, so computing in chunks takes a more complicated algorithm. The gain is a memory of fixed " +
		"size that can be rewritten and recalls far more pairs.",
	build: func(w *walk) {
		show := func(name, text string, values ...float64) *G.Node { // (1, D) or (1, Dv)
			n := w.numbers(name, values, 1, len(values))
			w.show(n, name, text)
			return n
		}
		product := func(a, b *G.Node) *G.Node { return w.Of(graph.MatMul(a, b)) }
		write := func(key, value *G.Node) *G.Node { return product(w.Of(G.Transpose(key, 1, 0)), value) } // (D, Dv)
		key := show("key", "A key of length 1.", 0.5, 0.5, 0.5, 0.5)
		other := show("other", "Another key, orthogonal to the first.", 0.5, -0.5, 0.5, -0.5)
		before := show("old", "The first value of the key.", 1, 0)
		kept := show("kept", "The value of the other key.", 3, 3)
		after := show("new", "The new value, which comes later with the first key.", 0, 2)
		memory := w.Of(graph.Add(write(key, before), write(other, kept)))
		w.show(memory, "memory = keyᵀ·old + otherᵀ·kept", "The state after the first two pairs.")
		w.show(product(key, memory), "found = key·memory", "The value that the state has for the key: the old one.")
		added := w.Of(graph.Add(memory, write(key, after)))
		w.part(added, "added = memory + keyᵀ·new", "The state of linear attention after the third pair.")
		w.show(product(key, added), "both = key·added", "Linear attention then reads the sum of both values.")
		wrong := w.Of(G.Sub(after, product(key, memory)))
		w.show(wrong, "wrong = new − key·memory", "The difference between the new value and the stored one.").
			exactly("new + key·memory / -1")
		state := w.Of(graph.Add(memory, write(key, wrong)))
		w.show(state, "state = memory + keyᵀ·wrong", "The state of the delta rule.")
		w.show(product(key, state), "read = key·state", "The delta rule reads the new value alone.")
		w.show(product(other, state), "still = other·state", "The value of the other key is unchanged.")
	},
}
