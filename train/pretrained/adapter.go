package pretrained

import (
	"errors"
	"fmt"
	"io/fs"
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

// moduleOf returns PEFT's name for the module of a parameter at a place.
func (t *target) moduleOf(at place) (module, kind string) {
	dot := strings.LastIndexByte(at.name, '.')
	if at.name == t.family.weights.head {
		return headModule, at.name[dot:]
	}
	return adapterPrefix + at.name[:dot], at.name[dot:]
}

// placeOf returns the place of a parameter in a folder.
func (t *target) placeOf(name string) place {
	at := t.family.weights.place(name)
	at.headDim = t.Model.Config().Block(0).Resolved().Attention.HeadDim
	return at
}

// ReadAdapter adds the adapter in a folder to the model, in the form of Hugging Face's PEFT:
//
//	adapter_config.json
//	adapter_model.safetensors
//
// The result is the same as after layers.Params.AddLoRA: the adapter's weights can be trained further, and Write merges
// them. The file names its modules: linear maps, token embeddings and the output head, each with its own rank, and
// biases and modules that are trained whole. Biases of adapters are added to those of their modules. If the adapter
// changes only one of two tied embeddings, the model gets its own output head.
//
// DoRA, any other form that changes the model's own weights, and an adapter of another model are errors. After an error
// the model must not be used.
func (g *GPT) ReadAdapter(dir string) error {
	c, err := readAdapterConfig(dir)
	if err != nil {
		return err
	}
	r, err := safetensors.Open(filepath.Join(dir, adapterWeightsName))
	if old := "adapter_model.bin"; errors.Is(err, fs.ErrNotExist) && isFile(filepath.Join(dir, old)) {
		err = fmt.Errorf("got %s, which is not read, want %s: PEFT's save_pretrained writes it", old, adapterWeightsName)
	}
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
	f, err := t.openAdapter(r)
	if err != nil {
		return err
	}
	if t.Model.Config().TieWordEmbeddings {
		if err := t.readTied(c, f); err != nil {
			return err
		}
	}
	lora := layers.LoRAConfig{Rank: c.Rank, Alpha: c.Alpha, RankStabilized: c.Stabilized, Dropout: c.Dropout,
		RankPattern: map[string]int{}, AlphaPattern: map[string]float64{}}
	for name := range g.Params.Shapes() {
		at := t.placeOf(name)
		module, kind := t.moduleOf(at)
		rank, alpha, scale := c.size(module)
		if f.has(module+loraA) && kind == ".weight" {
			stem := strings.TrimSuffix(name, kind)
			lora.Targets = append(lora.Targets, name)
			f.places[stem+loraA] = place{name: module + loraA}
			f.places[stem+loraB] = at.named(module + loraB)
			if rank != c.Rank {
				lora.RankPattern[name] = rank
			}
			if alpha != c.Alpha {
				lora.AlphaPattern[name] = alpha
			}
		}
		if kind == ".bias" && f.has(module+loraBias) {
			f.added[name] = addedBias{at.named(module + loraBias), scale}
		}
		if f.has(module+kind) || f.added[name].scale != 0 {
			lora.Whole, f.places[name] = append(lora.Whole, name), at.named(module+kind)
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
	return f.fill(t)
}

// fill sets the parameters of an adapter to the tensors of the file, which must not have others.
func (f *adapterFile) fill(t *target) error {
	var missing, unknown, wrong []string
	used := map[string]bool{}
	check := func(at place, of tensor.Shape) {
		s, ok := f.tensors[at.name]
		if used[at.name] = true; !ok {
			missing = append(missing, at.name)
		} else if !slices.Equal(s.Shape, at.shape(of)) || !isFloat(s.DType) {
			wrong = append(wrong, fmt.Sprintf("%s is %s %v, want F32 %v", at.name, s.DType, tensor.Shape(s.Shape), at.shape(of)))
		}
	}
	for name, value := range t.Params.Own() {
		added, has := f.added[name]
		if has {
			check(added.place, value.Shape())
		}
		if at := f.places[name]; !has || f.has(at.name) {
			check(at, value.Shape())
		}
	}
	for _, name := range slices.Sorted(maps.Keys(f.tensors)) {
		if module, ok := strings.CutSuffix(name, loraBias); ok && !used[name] {
			return fmt.Errorf("lora_bias: got a bias of the adapter of %.100s, which has none to add it to, want false", module)
		}
		if !used[name] {
			unknown = append(unknown, fmt.Sprintf("%.100q", f.tensors[name].Name))
		}
	}
	if err := dense.Mismatch(missing, unknown, wrong); err != nil {
		return err
	}
	for name, value := range t.Params.Own() {
		data := dense.Float64s(value)
		if at := f.places[name]; f.has(at.name) {
			var err error
			if data, err = f.part(at, value.Shape()); err != nil {
				return err
			}
		}
		if added, ok := f.added[name]; ok {
			bias, err := f.part(added.place, value.Shape())
			if err != nil {
				return err
			}
			data = slices.Clone(data)
			for i, b := range bias {
				data[i] += added.scale * b
			}
		}
		dense.SetFloats(value, data)
	}
	return nil
}
