package pretrained

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"attention/internal/mapped"
	"attention/internal/oneline"
	"attention/internal/safetensors"
)

// WriteAdapter writes the adapters of the model, and the weights that are trained whole, to a folder, which must be new
// or empty, and returns the names of the files. ReadAdapter and PEFT read the folder. base is the path or name of the
// model to which the adapters belong. If ChatTemplate is set, the folder gets a chat_template.jinja.
//
// The adapters of GPT-NeoX's queries, keys and values are written as one adapter of their common map, whose rank is the
// sum of theirs. All adapters get the largest rank, filled up with zeros, and one scale. Tied token embeddings are
// trained as one with the output head ("ensure_weight_tying"). If biases are trained without their weights, all biases
// are written, or those of all modules with adapters.
func (g *GPT) WriteAdapter(dir, base string) ([]string, error) {
	w, err := g.adapter(base)
	if err != nil {
		return nil, about(dir, err)
	}
	out, err := emptyFolder(dir)
	if err != nil {
		return nil, about(dir, err)
	}
	err = mapped.Guard(func() error { return w.write(g.ctx, out) })
	if err := oneline.Join(err, out.Close()); err != nil {
		return nil, about(dir, err)
	}
	return w.names(adapterConfigName), nil
}

// adapter returns the files of an adapter.
func (g *GPT) adapter(base string) (*writing, error) {
	t, err := g.target(WriteConfig{Format: HuggingFace})
	if err != nil {
		return nil, err
	}
	lora, ok := g.Params.LoRA()
	if !ok {
		return nil, fmt.Errorf("got a model without adapters, want one with")
	}
	a := t.newAdapterParts()
	rank, scale := a.addAdapters(lora)
	bias := a.addWhole()
	alpha := scale * float64(rank)
	if lora.RankStabilized {
		alpha = scale * math.Sqrt(float64(rank))
	}
	task := "CAUSAL_LM"
	if t.Labels != nil {
		task = "SEQ_CLS"
	}
	contents, err := jsonOf(map[string]any{"peft_type": "LORA", "task_type": task, "base_model_name_or_path": base,
		"r": rank, "lora_alpha": alpha, "lora_dropout": lora.Dropout, "use_rslora": lora.RankStabilized,
		"target_modules": t.shortTargets(a.targets), "modules_to_save": a.whole, "bias": bias,
		"ensure_weight_tying": a.tied, "fan_in_fan_out": t.family == &gpt2, "inference_mode": true})
	f := &safetensors.File{Metadata: map[string]string{"format": "pt"}, Tensors: a.tensors}
	w := &writing{files: []file{{adapterWeightsName, func(to io.Writer) error { return safetensors.Write(to, f) }}}}
	if g.ChatTemplate != "" {
		w.add(chatTemplateName, []byte(g.ChatTemplate))
	}
	w.add(adapterConfigName, contents)
	return w, err
}

// shortTargets returns the last words of the names of modules, the usual form of PEFT's target_modules. If other
// modules end with the same words, it returns the full names.
func (t *target) shortTargets(modules []string) []string {
	last := func(module string) string { return module[strings.LastIndexByte(module, '.')+1:] }
	words := map[string]bool{}
	for _, m := range modules {
		words[last(m)] = true
	}
	for name := range t.Params.Shapes() {
		module, kind := t.moduleOf(t.placeOf(name))
		plain := strings.TrimPrefix(module, adapterPrefix)
		other := !t.Params.IsAdapter(name) && kind == ".weight" && !slices.Contains(modules, plain)
		if other && words[last(plain)] {
			return modules
		}
	}
	return slices.Sorted(maps.Keys(words))
}
