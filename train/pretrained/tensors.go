package pretrained

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"attention/internal/dense"
	"attention/internal/safetensors"
	"attention/layers"

	"gorgonia.org/tensor"
)

// tensors returns the tensors of the folder in the order of the parameters.
func (t *target) tensors() []safetensors.Tensor {
	return dense.ByType(t.GPT.Dtype(), tensors[float32], tensors[float64])(t)
}

func tensors[F float32 | float64](t *target) (all []safetensors.Tensor) {
	add := func(name string, shape []int, run int, parts ...func() []F) {
		all = append(all, safetensors.Tensor{Name: t.nameOf(name), Shape: shape, Data: stream(t.typeOf(name), run, parts)})
	}
	gpt, _ := t.Model.Config().GPT()
	headDim := t.Model.Config().Block(0).Resolved().Attention.HeadDim
	from := folderConfig{family: t.family, configExtra: configExtra{Format: t.format}}
	parts := map[string][]func() []F{}
	for name, value := range t.Params.All() {
		if t.Params.IsAdapter(name) { // merged into the adapter's weight
			continue
		}
		if t.Labels != nil && from.place(name).name == t.family.weights.head { // replaced by the scores of classes
			continue
		}
		at, width, size := from.place(name), value.Shape()[value.Dims()-1], value.Shape().TotalSize()
		parts[at.name] = append(parts[at.name], func() []F {
			data := merged[F](t.Params, name)
			if at.transposed {
				turned := make([]F, size)
				transpose(turned, data, width)
				return turned
			}
			return data
		})
		if at.part+1 < at.of {
			continue
		}
		run := size
		if at.of > 0 {
			run = headDim * size / value.Shape()[0]
		}
		add(at.name, at.shape(value.Shape()), run, parts[at.name]...)
		if has, _ := hasBias(gpt, name); t.needsBiases() && !has && (isLinear(name) || isNorm(name)) {
			add(strings.TrimSuffix(name, "weight")+"bias", []int{width}, width, func() []F { return make([]F, width) })
		}
	}
	n := t.family.weights
	if t.origin != nil && t.Labels == nil && t.Model.Config().TieWordEmbeddings && t.origin.tensors[n.head].DType != "" {
		tokens := t.origin.tensors[n.tokens].Shape
		add(n.head, tokens, tensor.Shape(tokens).TotalSize(), parts[n.tokens]...)
	}
	return all
}

// merged returns the elements of a parameter after adding its adapter.
func merged[F float32 | float64](p *layers.Params, name string) []F {
	value, _ := p.Merged(name)
	return dense.Floats[F](dense.Widened(value))
}

// needsBiases reports whether the folder must have biases that the model may not have.
func (t *target) needsBiases() bool { return t.family == &gpt2 && t.format == HuggingFace }

// nameOf returns the folder's name of a tensor from its name in the family.
func (t *target) nameOf(name string) string {
	if t.origin != nil && t.origin.tensors[name].Name != "" {
		return t.origin.tensors[name].Name
	}
	return name
}

// stream returns the elements of several parts in a type; the parts alternate in runs.
func stream[F float32 | float64](d safetensors.DType, run int, of []func() []F) safetensors.Stream {
	return safetensors.Stream{DType: d, Each: func(write func(any) error) error {
		var parts [][]F
		for _, part := range of {
			parts = append(parts, part())
		}
		for at := 0; at < len(parts[0]); at += run {
			for _, part := range parts {
				for piece := range slices.Chunk(part[at:at+run], 1<<16) {
					if err := write(elements(d, piece)); err != nil {
						return err
					}
				}
			}
		}
		return nil
	}}
}

// Rounds returns the type to which Write rounds weights that were trained or that have an adapter: "bfloat16",
// "float16", or "" if it does not round. The base's own weights already have this type in the folder.
func (g *GPT) Rounds(c WriteConfig) string {
	t, err := g.target(c)
	if err != nil {
		return ""
	}
	for name := range g.Params.Shapes() {
		_, _, _, adapted := g.Params.Adapter(name)
		if !adapted && g.Params.Frozen(name) || g.Params.IsAdapter(name) {
			continue
		}
		switch t.typeOf(t.family.weights.place(name).name) {
		case safetensors.BF16:
			return "bfloat16"
		case safetensors.F16:
			return "float16"
		}
	}
	return ""
}

// elements returns floats in the type of a stream's elements.
func elements[F float32 | float64](d safetensors.DType, from []F) any {
	_, is64 := any(from).([]float64)
	switch {
	case is64 == (d == safetensors.F64):
		return from
	case is64:
		return safetensors.Convert[float32](from)
	}
	return safetensors.Convert[float64](from)
}

// addWeights adds the files of weights: one file, or shards of limited size and their index.
func (w *writing) addWeights(all []safetensors.Tensor, most int64) error {
	var shards [][]safetensors.Tensor
	var size, total int64
	for _, t := range all {
		bytes := int64(tensor.Shape(t.Shape).TotalSize() * t.Data.(safetensors.Stream).DType.Size())
		if len(shards) == 0 || size+bytes > most {
			shards, size = append(shards, nil), 0
		}
		last := &shards[len(shards)-1]
		*last = append(*last, t)
		size, total = size+bytes, total+bytes
	}
	if len(shards) == 1 {
		w.files = append(w.files, file{weightsName, weightsFile(written, shards[0])})
		return nil
	}
	names := map[string]string{}
	for i, shard := range shards {
		name := fmt.Sprintf("model-%05d-of-%05d.safetensors", i+1, len(shards))
		w.files = append(w.files, file{name, weightsFile(written, shard)})
		for _, t := range shard {
			names[t.Name] = name
		}
	}
	index, err := jsonOf(map[string]any{"metadata": map[string]any{"total_size": total}, "weight_map": names})
	w.add(indexName, index)
	return err
}

// written is the metadata of files of weights.
var written = map[string]string{"format": "pt"}

// weightsFile returns a function that writes tensors.
func weightsFile(metadata map[string]string, tensors []safetensors.Tensor) func(io.Writer) error {
	f := &safetensors.File{Metadata: metadata, Tensors: tensors}
	return func(w io.Writer) error { return safetensors.Write(w, f) }
}

// isNorm reports whether a parameter is the weight of a norm.
func isNorm(name string) bool {
	return strings.Contains(name, ".ln_") && strings.HasSuffix(name, ".weight")
}
