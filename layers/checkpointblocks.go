package layers

import (
	"attention/graph"

	G "gorgonia.org/gorgonia"
)

// CheckpointBlocks makes training take less memory and more time: of each Block and
// DecoderBlock built afterwards only the input and the output are kept for the backward pass,
// which computes the rest again, with the same bits (torch.utils.checkpoint, transformers'
// gradient_checkpointing). It counts in Train graphs, on package machine; see graph.Checkpoint.
func (b *Build) CheckpointBlocks() {
	if b != nil {
		b.checkpoint = true
	}
}

// checkpoint marks an end of a block, if the build wants it.
func (f *formula) checkpoint(x *G.Node) *G.Node {
	if !f.b.checkpoint || f.b.mode != Train {
		return x
	}
	return f.Of(graph.Checkpoint(x))
}
