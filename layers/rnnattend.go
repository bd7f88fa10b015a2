package layers

import (
	"attention/graph"
	"slices"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// attend runs the decoder over embeddings ([B,] T, E), step by step: each step attends to the
// memory with the state before it. It returns the vectors of the logits ([B,] T, N + 2·N), the last state ([B,] N) and
// the weights ([B,] 1, T, S).
func (m *RNNSeq2Seq) attend(f *formula, x *G.Node, memory RNNMemory) (h, after, weights *G.Node) {
	T, e := length(x), last(x)
	rows := x.Shape().TotalSize() / (T * e) // B
	whole := x.Shape()[:x.Dims()-1]         // ([B,] T)
	values := f.Of(G.Reshape(memory.States, tensor.Shape{rows, length(memory.States), last(memory.States)}))
	keys := m.attention.key.apply(f, values)                                           // (B, S, A)
	state := f.Of(G.Reshape(memory.State, tensor.Shape{rows, 1, m.config.HiddenSize})) // (B, 1, N)
	tokens := f.columns(f.Of(G.Reshape(x, tensor.Shape{rows, T * e})), T)              // (B, 1, E) each
	seen := unpadded(memory.Lengths)
	outs, each := make(G.Nodes, T), make(G.Nodes, T)
	for t, token := range tokens {
		query := m.attention.query.apply(f, state)
		context, w := m.attention.attend(f, query, keys, values, seen) // (B, 1, 2·N), (B, 1, S)
		state = m.decoder.step(f, f.Of(graph.Concat(token, context)), state)
		outs[t], each[t] = f.Of(graph.Concat(state, context)), w
	}
	join := func(parts G.Nodes, shape ...int) *G.Node {
		return f.Of(G.Reshape(f.Of(graph.Concat(parts...)), shape))
	}
	h = join(outs, append(whole.Clone(), m.config.outputDim())...)
	weights = join(each, append(whole[:len(whole)-1].Clone(), 1, T, length(memory.States))...)
	return h, f.Of(G.Reshape(state, memory.State.Shape())), weights
}

// columns cuts (B, n·E) into n nodes (B, 1, E).
func (f *formula) columns(x *G.Node, n int) G.Nodes {
	rows, width := x.Shape()[0], last(x)/n
	parts := f.split(x, slices.Repeat([]int{width}, n)...)
	for i := range parts {
		parts[i] = f.Of(G.Reshape(parts[i], tensor.Shape{rows, 1, width}))
	}
	return parts
}
