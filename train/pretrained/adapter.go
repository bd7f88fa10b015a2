package pretrained

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"attention/internal/config"
	"attention/internal/dense"
	"attention/internal/folder"
	"attention/internal/oneline"
	"attention/internal/safetensors"
	"attention/layers"

	"gorgonia.org/tensor"
)

// The files of an adapter in PEFT's form.
const (
	adapterConfigName  = "adapter_config.json"
	adapterWeightsName = "adapter_model.safetensors"
)

// adapterPrefix stands before the names of an adapter's tensors, and the others end names.
const (
	adapterPrefix = "base_model.model."
	loraA         = ".lora_A.weight"
	loraB         = ".lora_B.weight"
)

// adapterConfig is an adapter_config.json. PEFT's null, {}, [] and false are the zeros here.
type adapterConfig struct {
	Type       string   `json:"peft_type"`
	Task       string   `json:"task_type"`
	Base       string   `json:"base_model_name_or_path"`
	Rank       int      `json:"r"`
	Alpha      float64  `json:"lora_alpha"`
	Dropout    float64  `json:"lora_dropout"`
	Stabilized bool     `json:"use_rslora"`
	Targets    any      `json:"target_modules"` // a list, or a pattern: the file of weights has the modules' names
	Whole      []string `json:"modules_to_save"`
	Bias       string   `json:"bias"`
	Transposed bool     `json:"fan_in_fan_out"`
	Inference  bool     `json:"inference_mode"`
	Init       any      `json:"init_lora_weights"`
}

// harmlessAdapterKeys are keys of an adapter_config.json that change no number of a trained adapter.
const harmlessAdapterKeys = `peft_type task_type base_model_name_or_path r lora_alpha lora_dropout use_rslora target_modules
	modules_to_save bias fan_in_fan_out inference_mode auto_mapping revision init_lora_weights peft_version
	megatron_core qalora_group_size runtime_config loftq_config eva_config corda_config ensure_weight_tying`

// parseAdapter reads an adapter_config.json, and refuses what would change what an adapter computes.
func parseAdapter(contents []byte) (c adapterConfig, err error) {
	c = adapterConfig{Rank: 8, Alpha: 8, Bias: "none"}
	if err := config.Foreign.Decode(contents, &c); err != nil {
		return c, err
	}
	known := strings.Fields(harmlessAdapterKeys)
	for key, value := range config.Members(contents) {
		if !slices.Contains(known, key) && !isNothing(value) {
			return c, fmt.Errorf("%.100s: got %s, want null or false: it is not supported", key, short(value))
		}
	}
	switch {
	case c.Type != "LORA":
		return c, fmt.Errorf("peft_type: got %.40q, want LORA", c.Type)
	case c.Bias != "none":
		return c, fmt.Errorf("bias: got %.40q, want none: biases are trained whole, as modules_to_save", c.Bias)
	case changesBase(c.Init):
		return c, fmt.Errorf("init_lora_weights: got %.40q, want true, false or gaussian: it changes the model too", c.Init)
	case c.Rank < 1:
		return c, fmt.Errorf("r: got %d, want at least 1", c.Rank)
	}
	return c, nil
}

// changesBase reports whether adapters that begin so have taken a part out of the model's weights.
func changesBase(init any) bool {
	name, _ := init.(string)
	name, _, _ = strings.Cut(strings.ToLower(name), "_") // pissa_niter_16
	return slices.Contains([]string{"pissa", "olora", "corda", "loftq"}, name)
}

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
	contents, err := folder.ReadFile(filepath.Join(dir, adapterConfigName), folder.MaxConfig)
	if err != nil {
		return about(dir, err)
	}
	c, err := parseAdapter(contents)
	if err != nil {
		return about(dir, fmt.Errorf("%s: %w", adapterConfigName, err))
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
