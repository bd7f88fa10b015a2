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
	Why: "A model that writes keeps the keys and values of all tokens before, and of long texts they are larger than the " +
		"model. Heads that ask for different things may ask the same keys: each head has queries of its own, and one set " +
		"of keys and values serves them all. It costs a little quality, since fewer numbers say what a token is found by; " +
		"it buys a cache that is smaller by the number of heads that share, and is read that much faster.",
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
		w.show(k, "k = x·W_key.weightᵀ", "The keys, which both heads ask.", w.words(), nil)
		w.part(v, "v = x·W_value.weightᵀ", roles[2].text, w.words(), nil)
		var weights, contexts G.Nodes
		for h := range heads {
			context, of := w.Of2(graph.Attention(w.row(q, h), k, v, graph.AttentionConfig{Mask: mask.Causal{}}))
			weights, contexts = append(weights, of), append(contexts, context)
		}
		w.show(w.stack(weights), "weights = softmax(fill(q·kᵀ) / √2)", "Each head has weights of its own.",
			names, w.words(), w.words()).exactly("softmax(stack(fill(q[0]·kᵀ), fill(q[1]·kᵀ)) / √2)")
		w.show(w.Of(G.Concat(1, contexts...)), "context = [weights[0]·v, weights[1]·v]",
			"The context vectors of the heads, side by side: other shares of the same values.", w.words(), nil).
			exactly("join(weights[0]·v, weights[1]·v)")
		w.number(2*heads*D, "kept by two heads", "Numbers that a cache keeps of a token, if each head has keys and values.")
		w.number(2*D, "kept by one", "Numbers that it keeps of a token here.")
	},
}

// windowed is how many tokens the section's window shows, a token's own among them.
const windowed = 2

var slidingWindow = Section{
	Title: "After the book: a window",
	Text:  "Every token sees itself and the one before it (Beltagy et al. 2020; Mistral).",
	Why: "With T tokens there are T² scores, and most of them are of words far away that hardly matter. A window of w " +
		"tokens leaves T·w of them, and a cache needs no more than the last w tokens. What is farther away is seen " +
		"through others: a second layer sees what the first has put into its neighbours. It costs what is far away, " +
		"unless it is passed on layer by layer; it buys time and memory that grow as T, and a cache that stops growing.",
	Words: sentence,
	Seed:  789,
	build: func(w *walk) {
		q, k, v := w.queriesKeysAndValues()
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
		w.show(normed, "normed = seen / Σ seen", "The weights of section 9 within the window, which sum to one again.",
			w.words(), w.words()).exactly("seen / Σ seen")
		w.show(w.Of(graph.MatMul(normed, v)), "context = normed·v", "The context vectors.", w.words(), nil)
		w.show(w.Of(graph.MatMul(window, window)), "twice = window·window",
			"What two layers reach: by how many ways a token comes to another.", w.words(), w.words())
	},
}

var linearState = Section{
	Title: "After the book: a state in place of the cache",
	Text:  "Attention without a softmax (Katharopoulos et al. 2020), once by weights and once by a state.",
	Why: "The softmax is what makes every query meet every key. If a score is a product of features above 0, here the " +
		"exponentials of query and key, the sum over tokens can be taken before the query is known: what the tokens " +
		"before hand over is one matrix of features times values, the state, to which each token adds its own. It costs " +
		"sharpness: all pairs share one small matrix and blur each other. It buys a cache that never grows, and time " +
		"that grows as T.",
	Words: sentence,
	Seed:  789,
	build: func(w *walk) {
		q, k, v := w.queriesKeysAndValues()
		last := len(w.words()) - 1
		fq, fk := w.Of(G.Exp(q)), w.Of(G.Exp(k)) // (T, D)
		w.show(fq, "fq = exp(q)", "Features of the queries, above 0. The paper has elu + 1 in place of exp.", w.words(), nil)
		w.show(fk, "fk = exp(k)", "Features of the keys.", w.words(), nil)
		seen := w.Of(graph.Tril(w.Of(graph.Scores(fq, fk))))
		w.part(seen, "seen = tril(fq·fkᵀ)", "The scores of what each token sees.", w.words(), w.words())
		weights := w.Of(graph.DivideBySum(seen))
		w.show(weights, "weights = seen / Σ seen", "Divided by their sum they are weights, without a softmax.",
			w.words(), w.words())
		w.show(w.Of(graph.MatMul(weights, v)), "context = weights·v", "The context vectors.", w.words(), nil)
		state := w.Of(graph.MatMul(w.Of(G.Transpose(fk, 1, 0)), v)) // (D, Dv)
		w.show(state, "state = fkᵀ·v", "The same without weights: the state after the last token, features by values.")
		sum := w.sum(fk, 0) // (D)
		w.show(sum, "sum = Σ fkᵀ", "And the sum of the keys' features, by which is divided.")
		query := w.reshape(w.row(fq, last), 1, 2)
		read := w.Of(graph.Div(w.Of(graph.MatMul(query, state)), w.Of(graph.MatMul(query, w.reshape(sum, 2, 1)))))
		w.show(w.reshape(read, 2), fmt.Sprintf("read = fq[%d]·state / (fq[%d]·sum)", last, last),
			"What the last token reads of the state: its context vector.")
	},
}

var deltaRule = Section{
	Title: "After the book: the delta rule",
	Text:  "A state that is corrected in place of added to (DeltaNet: Schlag et al. 2021, Yang et al. 2024).",
	Why: "A state to which each token adds keeps everything: a key that comes again with another value reads both. The " +
		"delta rule first reads what the state has for the key and adds only the difference to the new value, so that " +
		"the new one takes the old one's place, and what other keys have stays. It costs that each token needs what the " +
		"one before has left, which takes a cleverer way of computing chunks; it buys a memory of fixed size that can " +
		"be rewritten, and recalls far more pairs than one that only adds.",
	build: func(w *walk) {
		show := func(name, text string, values ...float64) *G.Node { // (1, D) or (1, Dv)
			n := w.numbers(name, values, 1, len(values))
			w.show(n, name, text)
			return n
		}
		product := func(a, b *G.Node) *G.Node { return w.Of(graph.MatMul(a, b)) }
		write := func(key, value *G.Node) *G.Node { return product(w.Of(G.Transpose(key, 1, 0)), value) } // (D, Dv)
		key := show("key", "A key of length 1.", 0.5, 0.5, 0.5, 0.5)
		other := show("other", "Another key, at a right angle to it.", 0.5, -0.5, 0.5, -0.5)
		before := show("old", "The value that comes with the key at first.", 1, 0)
		kept := show("kept", "The value of the other key.", 3, 3)
		after := show("new", "The value that comes with the first key again, later.", 0, 2)
		memory := w.Of(graph.Add(write(key, before), write(other, kept)))
		w.show(memory, "memory = keyᵀ·old + otherᵀ·kept", "The state after the first two pairs.")
		w.show(product(key, memory), "found = key·memory", "What it has for the key: the old value.")
		added := w.Of(graph.Add(memory, write(key, after)))
		w.part(added, "added = memory + keyᵀ·new", "The state of linear attention after the third pair.")
		w.show(product(key, added), "both = key·added", "What linear attention finds then: both values, added up.")
		wrong := w.Of(G.Sub(after, product(key, memory)))
		w.show(wrong, "wrong = new − key·memory", "The difference between the new value and what the state has.").
			exactly("new + key·memory / -1")
		state := w.Of(graph.Add(memory, write(key, wrong)))
		w.show(state, "state = memory + keyᵀ·wrong", "The state of the delta rule.")
		w.show(product(key, state), "read = key·state", "It finds the new value alone.")
		w.show(product(other, state), "still = other·state", "And what the other key has is still there.")
	},
}
