package layers

import (
	"attention/graph"

	G "gorgonia.org/gorgonia"
)

// CheckpointBlocks makes training take less memory and more time: each Block and DecoderBlock
// built afterwards keeps only its input and output for the backward pass, which computes
// everything between them again, with the same bits (torch.utils.checkpoint, transformers'
// gradient_checkpointing). It has an effect in Train graphs on package machine; see
// graph.Checkpoint.
func (b *Build) CheckpointBlocks() { b.checkpoint = true }

// checkpoint marks an end of a block, if the build wants it.
func (f *formula) checkpoint(x *G.Node) *G.Node {
	if !f.b.checkpoint || f.b.mode != Train {
		return x
	}
	return f.Of(graph.Checkpoint(x))
}
