package pretrained

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"attention/internal/dense"
	"attention/internal/safetensors"
	"attention/layers"
	"attention/train"

	"gorgonia.org/tensor"
)

// optional reports whether a tensor may exist without a parameter: a tied head, or a bias of zeros in a model without
// biases.
func (w *weights) optional(name string, c folderConfig) bool {
	if name == w.names.head {
		return c.decoder.TieWordEmbeddings
	}
	has, _ := hasBias(c.gpt, name)
	return c.family == &gpt2 && !has && strings.HasSuffix(name, ".bias")
}

// hasBias reports whether a norm or a linear layer of a model has a bias, given the name of one of its tensors. It also
// returns the key of config.json that decides this.
func hasBias(c layers.GPTConfig, name string) (has bool, key string) {
	if c.QKVBias != nil && strings.Contains(name, ".c_attn.") {
		return *c.QKVBias, "qkv_bias"
	}
	return c.Bias, "bias"
}

// fitsOptional reports whether an optional tensor has floats and the right shape.
func (w *weights) fitsOptional(name string) bool {
	t := w.tensors[name]
	if name == w.names.head {
		return isFloat(t.DType) && slices.Equal(t.Shape, w.tensors[w.names.tokens].Shape)
	}
	of := w.tensors[strings.TrimSuffix(name, "bias")+"weight"]
	return isFloat(t.DType) && len(t.Shape) == 1 && slices.Contains(of.Shape, t.Shape[0])
}

// fill gives the parameters their values and checks the tensors that are not parameters.
func (w *weights) fill(p *layers.Params, c folderConfig) error {
	used := map[string]string{} // parameters by tensor
	for name, shape := range p.Shapes() {
		at := c.place(name)
		at.headDim = c.decoder.Blocks[0].Attention.HeadDim
		v, err := w.value(p.Dtype(), at, shape)
		if err != nil {
			return err
		}
		if err := keep(p, name, v); err != nil {
			return err
		}
		used[at.name] = name
	}
	for _, name := range slices.Sorted(maps.Keys(w.tensors)) {
		if used[name] != "" {
			continue
		}
		if name != w.names.head {
			if err := w.checkZero(name, c); err != nil {
				return err
			}
			continue
		}
		same, err := w.same(name, w.names.tokens)
		if err != nil {
			return err
		}
		if !same {
			return fmt.Errorf(`weights: %s: got other numbers than %s's, want "tie_word_embeddings": false in %s`,
				name, strings.TrimPrefix(w.names.tokens, w.names.prefix), configName)
		}
	}
	return nil
}

// keep sets the value of a parameter.
func keep(p *layers.Params, name string, v *tensor.Dense) error {
	if !v.IsManuallyManaged() && !dense.IsFinite(v) { // mapped values are checked when they are used
		return fmt.Errorf("parameter %s: has values that are %w", name, train.ErrNotFinite)
	}
	return p.Keep(name, v)
}

// checkZero returns an error if a bias that the model does not have is not 0.
func (w *weights) checkZero(name string, c folderConfig) error {
	data, err := w.floats(name)
	if err != nil {
		return err
	}
	if !slices.Equal(data, make([]float64, len(data))) {
		_, key := hasBias(c.gpt, name)
		return fmt.Errorf("weights: %s: got other numbers than 0, want %q: true in %s", name, key, configName)
	}
	return nil
}

// same reports whether two tensors hold the same numbers.
func (w *weights) same(name, other string) (bool, error) {
	t, o := w.tensors[name], w.tensors[other]
	x, _, err := t.file.Bytes(t.Name)
	if err != nil {
		return false, err
	}
	y, _, err := o.file.Bytes(o.Name)
	if err != nil || t.DType == o.DType && bytes.Equal(x, y) {
		return true, err
	}
	numbers, err := w.floats(name)
	if err != nil {
		return false, err
	}
	others, err := w.floats(other)
	return slices.Equal(numbers, others), err
}

// floats returns the numbers of a tensor.
func (w *weights) floats(name string) ([]float64, error) {
	t := w.tensors[name]
	data := make([]float64, tensor.Shape(t.Shape).TotalSize())
	return data, safetensors.ReadFloats(t.file, t.Name, data)
}
