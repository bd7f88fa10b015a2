package gguf

import (
	"attention/internal/dense"
	"attention/internal/kernel"

	"gorgonia.org/tensor"
)

// kept maps formats to the types of tensors whose memory is that of a file.
var kept = func() map[Type]tensor.Dtype {
	all := map[Type]tensor.Dtype{F32: tensor.Float32, BF16: dense.BF16}
	for t, of := range types {
		if _, ok := all[t]; !ok {
			all[t] = dense.BlockType(string(t), kernel.Format{Numbers: of.block, Bytes: of.bytes, Decode: of.decode,
				Dot: of.blocks})
		}
	}
	return all
}()

// Kept returns the type of a tensor whose memory is that of a file.
func (t Type) Kept() tensor.Dtype { return kept[t] }
