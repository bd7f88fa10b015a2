package pretrained

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"attention/internal/dense"
	"attention/internal/safetensors"
	"attention/layers"

	"gorgonia.org/tensor"
)

// optional reports whether a tensor needs no parameter of its name: a tied head, or a bias
// of zeros in a model without biases.
func (w *weights) optional(name string, c folderConfig) bool {
	if name == w.names.head {
		return c.decoder.TieWordEmbeddings
	}
	has, _ := hasBias(c.gpt, name)
	return c.family == &gpt2 && !has && strings.HasSuffix(name, ".bias")
}

// hasBias reports whether a norm or a linear layer of a model has a bias, by the name of a
// tensor of it, and the key of config.json that says so.
func hasBias(c layers.GPTConfig, name string) (has bool, key string) {
	if c.QKVBias != nil && strings.Contains(name, ".c_attn.") {
		return *c.QKVBias, "qkv_bias"
	}
	return c.Bias, "bias"
}

// fitsOptional reports whether an optional tensor has floats of the shape that it needs.
func (w *weights) fitsOptional(name string) bool {
	t := w.tensors[name]
	if name == w.names.head {
		return isFloat(t.DType) && slices.Equal(t.Shape, w.tensors[w.names.tokens].Shape)
	}
	of := w.tensors[strings.TrimSuffix(name, "bias")+"weight"]
	return isFloat(t.DType) && len(t.Shape) == 1 && slices.Contains(of.Shape, t.Shape[0])
}

// fill reads the parameters one by one and checks the tensors that are not parameters.
func (w *weights) fill(p *layers.Params, c folderConfig) error {
	return dense.ByType(p.Dtype(), fill[float32], fill[float64])(w, p, c)
}

func fill[F float32 | float64](w *weights, p *layers.Params, c folderConfig) error {
	used := map[string]string{} // parameters by tensor
	for name, value := range p.All() {
		at := c.place(name)
		if err := read(w.tensors[at.name], dense.Floats[F](value), at, c.decoder.Blocks[0].Attention.HeadDim); err != nil {
			return err
		}
		used[at.name] = name
	}
	for _, name := range slices.Sorted(maps.Keys(w.tensors)) {
		t := w.tensors[name]
		if used[name] != "" {
			continue
		}
		data := make([]F, tensor.Shape(t.Shape).TotalSize())
		if err := read(t, data, place{}, 0); err != nil {
			return err
		}
		if name == w.names.head {
			tokens, _ := p.Get(used[w.names.tokens])
			if !slices.Equal(data, dense.Floats[F](tokens)) {
				return fmt.Errorf(`weights: %s: got other numbers than %s's, want "tie_word_embeddings": false in %s`,
					name, strings.TrimPrefix(w.names.tokens, w.names.prefix), configName)
			}
		} else if !slices.Equal(data, make([]F, len(data))) {
			_, key := hasBias(c.gpt, name)
			return fmt.Errorf("weights: %s: got other numbers than 0, want %q: true in %s", name, key, configName)
		}
	}
	return nil
}

// read fills dst with the numbers at a place in a tensor. A head has so many rows in a part of one.
func read[F float32 | float64](t stored, dst []F, at place, headDim int) error {
	if !at.transposed && at.of == 0 {
		return safetensors.ReadFloats(t.file, t.Name, dst)
	}
	data := make([]F, tensor.Shape(t.Shape).TotalSize())
	if err := safetensors.ReadFloats(t.file, t.Name, data); err != nil {
		return err
	}
	if at.transposed {
		transpose(dst, data, t.Shape[1])
		return nil
	}
	n := headDim * len(data) / t.Shape[0] // numbers of a head
	for i := 0; i < len(dst); i += n {
		copy(dst[i:i+n], data[i*at.of+at.part*n:])
	}
	return nil
}

// transpose sets dst to the transpose of src, a matrix with the given columns.
func transpose[F float32 | float64](dst, src []F, columns int) {
	rows := len(src) / columns
	for i := range rows {
		for j, v := range src[i*columns:][:columns] {
			dst[j*rows+i] = v
		}
	}
}
