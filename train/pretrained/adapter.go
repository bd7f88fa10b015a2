package pretrained

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"attention/internal/dense"
	"attention/internal/oneline"
	"attention/internal/safetensors"
	"attention/layers"

	"gorgonia.org/tensor"
)

// moduleOf returns PEFT's name of the module of a parameter at a place.
func moduleOf(at place) (module, kind string) {
	dot := strings.LastIndexByte(at.name, '.')
	return adapterPrefix + at.name[:dot], at.name[dot:]
}

// placeOf returns where a parameter is in a folder.
func (t *target) placeOf(name string) place {
	at := t.family.weights.place(name)
	at.headDim = plainBlocks(t.Model.Config())[0].Attention.HeadDim
	return at
}

// ReadAdapter adds the adapter in a folder to the model, in the form of Hugging Face's PEFT:
//
//	adapter_config.json
//	adapter_model.safetensors
//
// It then is as if it was made by layers.Params.AddLoRA and trained: its weights can be trained on, and Write merges
// them. DoRA, ranks or scales of single modules and trained biases are errors, as are adapters of another model. After
// an error the model is not to be used.
func (g *GPT) ReadAdapter(dir string) error {
	c, err := readAdapterConfig(dir)
	if err != nil {
		return err
	}
	r, err := safetensors.Open(filepath.Join(dir, adapterWeightsName))
	if err != nil {
		return about(dir, err)
	}
	err = g.readAdapter(c, r)
	if err := oneline.Join(err, r.Close()); err != nil {
		return about(dir, fmt.Errorf("%s: %w", adapterWeightsName, err))
	}
	return nil
}

func (g *GPT) readAdapter(c adapterConfig, r *safetensors.Reader) error {
	t, err := g.target(WriteConfig{Format: HuggingFace})
	if err != nil {
		return err
	}
	stored := map[string]safetensors.Tensor{}
	for _, s := range r.Tensors() {
		stored[s.Name] = s
	}
	lora := layers.LoRAConfig{Rank: c.Rank, Alpha: c.Alpha, RankStabilized: c.Stabilized, Dropout: c.Dropout}
	places := map[string]place{} // in the file
	for name := range g.Params.Shapes() {
		at := t.placeOf(name)
		module, kind := moduleOf(at)
		if _, ok := stored[module+loraA]; ok && kind == ".weight" {
			stem := strings.TrimSuffix(name, kind)
			lora.Targets = append(lora.Targets, name)
			places[stem+loraA] = place{name: module + loraA}
			places[stem+loraB] = at.named(module + loraB)
		}
		if _, ok := stored[module+kind]; ok {
			lora.Whole, places[name] = append(lora.Whole, name), at.named(module+kind)
		}
	}
	if len(lora.Targets) == 0 {
		return fmt.Errorf("got no adapter of a map of the model, want one such as %smodel.layers.0.self_attn.q_proj%s",
			adapterPrefix, loraA)
	}
	if err := g.Params.AddLoRA(lora); err != nil {
		return err
	}
	g.Params.Widen()
	return g.fillAdapter(r, stored, places)
}

// fillAdapter sets parameters to the tensors in places of a file, which has no others.
func (g *GPT) fillAdapter(r *safetensors.Reader, stored map[string]safetensors.Tensor, places map[string]place) error {
	var missing, unknown, wrong []string
	used := map[string]bool{}
	for name, value := range g.Params.Own() {
		at, ok := places[name]
		s, found := stored[at.name]
		switch used[at.name] = true; {
		case !ok || !found:
			missing = append(missing, at.name)
		case !slices.Equal(s.Shape, at.shape(value.Shape())) || !isFloat(s.DType):
			wrong = append(wrong, fmt.Sprintf("%s is %s %v, want F32 %v", at.name, s.DType, tensor.Shape(s.Shape),
				at.shape(value.Shape())))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(stored)) {
		if !used[name] {
			unknown = append(unknown, fmt.Sprintf("%.100q", name))
		}
	}
	if err := safetensors.Mismatch(missing, unknown, wrong); err != nil {
		return err
	}
	for name, value := range g.Params.Own() {
		at := places[name]
		shape := at.shape(value.Shape())
		data := make([]float64, shape.TotalSize())
		if err := safetensors.ReadFloats(r, at.name, data); err != nil {
			return err
		}
		if !at.plain() {
			whole := data
			data = make([]float64, value.Shape().TotalSize())
			at.arrange(dense.Bytes(data), dense.Bytes(whole), shape, 8)
		}
		dense.SetFloats(value, data)
	}
	return nil
}
