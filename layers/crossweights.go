package layers

import (
	"fmt"

	"attention/graph"
	"attention/internal/expr"

	G "gorgonia.org/gorgonia"
)

// DecodeWithWeights is Decode that also returns, for each block of the decoder, the
// weights (…, H, T, S) with which the target sees the memory, after dropout in a Train
// graph.
func (m *Seq2Seq) DecodeWithWeights(b *Build, target, memory, lengths *G.Node) (logits *G.Node, weights G.Nodes, err error) {
	if err := checkIDs("Seq2Seq", "target", target, m.config.Context); err != nil {
		return nil, nil, err
	}
	var f expr.Formula[G.Node]
	x := f.Of(m.embed(b, target, m.target, m.targetPositions))
	for _, block := range m.decoder {
		var seen *G.Node
		x, seen = f.Of2(block.ForwardWithWeights(b, DecoderInput{X: x, Memory: memory, MemoryMask: unpadded(lengths)}))
		weights = append(weights, seen)
	}
	x = f.Of(m.decoderNorm.Forward(b, x))
	if m.output != nil {
		logits = f.Of(m.output.Forward(b, x))
	} else {
		logits = f.Of(graph.Linear(x, f.Of(b.param(m.target)), nil))
	}
	return logits, weights, f.Err()
}

// ForwardWithWeights also returns the weights (…, H, T, S) with which X sees the memory,
// after dropout in a Train graph.
func (l *DecoderBlock) ForwardWithWeights(b *Build, in DecoderInput) (out, weights *G.Node, err error) {
	if in.Memory == nil {
		return nil, nil, fmt.Errorf("layers: DecoderBlock: memory: got nil, want a node")
	}
	var f expr.Formula[G.Node]
	add := func(x *G.Node, norm *Norm, part func(x *G.Node) (*G.Node, error)) *G.Node {
		return f.Of(residual(b, x, norm, l.config.Block.PostNorm, part))
	}
	x := add(in.X, l.norms[0], func(x *G.Node) (*G.Node, error) {
		return l.attention.Forward(b, AttentionInput{Query: x, Mask: in.Mask})
	})
	x = add(x, l.norms[1], func(x *G.Node) (context *G.Node, err error) {
		context, weights, err = l.cross.ForwardWithWeights(b, AttentionInput{Query: x, Key: in.Memory, Mask: in.MemoryMask})
		return context, err
	})
	x = add(x, l.norms[2], func(x *G.Node) (*G.Node, error) { return l.mlp.Forward(b, x) })
	return x, weights, f.Err()
}
