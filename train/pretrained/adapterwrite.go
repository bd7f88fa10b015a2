package pretrained

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"attention/internal/dense"
	"attention/internal/mapped"
	"attention/internal/oneline"
	"attention/internal/safetensors"

	"gorgonia.org/tensor"
)

// WriteAdapter writes the adapters of the model, and what is trained whole beside them, to a folder, which must be new
// or empty, as ReadAdapter and PEFT read it, and returns the names of the files. base is the path or name of the model
// that they are added to. With
// ChatTemplate, there is a chat_template.jinja. The adapters of GPT-NeoX's queries, keys and values are one of their common map there, of
// their ranks together; all others have that rank, too, filled up with zeros.
func (g *GPT) WriteAdapter(dir, base string) ([]string, error) {
	w, err := g.adapter(base)
	if err != nil {
		return nil, about(dir, err)
	}
	out, err := emptyFolder(dir)
	if err != nil {
		return nil, about(dir, err)
	}
	err = mapped.Guard(func() error { return w.write(out) })
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
	var whole []string // modules
	f := &safetensors.File{Metadata: map[string]string{"format": "pt"}}
	for name, value := range g.Params.Own() {
		if g.Params.IsAdapter(name) {
			continue
		}
		at := t.placeOf(name)
		if at.of > 0 {
			return nil, fmt.Errorf("%s: got a part of %s trained whole, which is one map in a folder: it is not supported", name,
				at.name)
		}
		module, kind := moduleOf(at)
		if plain := strings.TrimPrefix(module, adapterPrefix); !slices.Contains(whole, plain) {
			whole = append(whole, plain)
		}
		f.Tensors = append(f.Tensors, safetensors.Tensor{Name: module + kind, Shape: value.Shape(), Data: dense.Slice(value)})
	}
	tensors, targets, rank := t.adapters(lora.Rank)
	f.Tensors = append(f.Tensors, tensors...)
	alpha := lora.Alpha
	if more := float64(rank) / float64(lora.Rank); lora.RankStabilized {
		alpha *= math.Sqrt(more)
	} else {
		alpha *= more
	}
	task := "CAUSAL_LM"
	if t.Labels != nil {
		task = "SEQ_CLS"
	}
	contents, err := jsonOf(map[string]any{"peft_type": "LORA", "task_type": task, "base_model_name_or_path": base,
		"r": rank, "lora_alpha": alpha, "lora_dropout": lora.Dropout, "use_rslora": lora.RankStabilized,
		"target_modules": t.shortTargets(targets), "modules_to_save": whole, "bias": "none",
		"fan_in_fan_out": t.family == &gpt2, "inference_mode": true})
	w := &writing{files: []file{{adapterWeightsName, func(to io.Writer) error { return safetensors.Write(to, f) }}}}
	if g.ChatTemplate != "" {
		w.add(chatTemplateName, []byte(g.ChatTemplate))
	}
	w.add(adapterConfigName, contents)
	return w, err
}

// shortTargets returns the last words of the names of modules, as PEFT's target_modules usually are; or the names
// themselves if other modules end with the same words.
func (t *target) shortTargets(modules []string) []string {
	last := func(module string) string { return module[strings.LastIndexByte(module, '.')+1:] }
	words := map[string]bool{}
	for _, m := range modules {
		words[last(m)] = true
	}
	for name := range t.Params.Shapes() {
		module, kind := moduleOf(t.placeOf(name))
		plain := strings.TrimPrefix(module, adapterPrefix)
		other := !t.Params.IsAdapter(name) && kind == ".weight" && !slices.Contains(modules, plain)
		if other && words[last(plain)] {
			return modules
		}
	}
	return slices.Sorted(maps.Keys(words))
}

// adapters returns the adapters of the model, each of a rank, as tensors in PEFT's form with the modules that they are
// of, and the rank that they have there: the largest that a map needs.
func (t *target) adapters(each int) (all []safetensors.Tensor, modules []string, rank int) {
	var names []string             // of maps in the folder
	parts := map[string][]string{} // parameters of each
	adapted := map[string]int{}    // how many of them have an adapter
	for name := range t.Params.Shapes() {
		stem, ok := strings.CutSuffix(name, ".weight")
		if !ok || t.Params.IsAdapter(name) {
			continue
		}
		at := t.placeOf(name).name
		if parts[at] == nil {
			names = append(names, at)
		}
		parts[at] = append(parts[at], name)
		if _, ok := t.Params.Get(stem + loraA); ok {
			adapted[at]++
		}
		rank = max(rank, adapted[at]*each)
	}
	for _, name := range names {
		if adapted[name] == 0 {
			continue
		}
		var at []place
		for _, part := range parts[name] {
			at = append(at, t.placeOf(part))
		}
		j := joined(t.Params, parts[name], rank, func(part, row int) int { return at[part].row(row) })
		module, _ := moduleOf(place{name: name})
		modules = append(modules, strings.TrimPrefix(module, adapterPrefix))
		all = append(all, t.floats(module+loraA, j.a, j.rank, j.in), t.floats(module+loraB, j.b, j.out, j.rank))
	}
	return all, modules, rank
}

// floats returns numbers as a tensor of the model's type.
func (t *target) floats(name string, of []float64, shape ...int) safetensors.Tensor {
	to := safetensors.Tensor{Name: name, Shape: shape, Data: of}
	if t.GPT.Dtype() == tensor.Float32 {
		to.Data = safetensors.Convert[float32](of)
	}
	return to
}

// row returns which row of the tensor at a place a row of a parameter is.
func (at place) row(row int) int {
	if at.of == 0 {
		return row
	}
	head, i := row/at.headDim, row%at.headDim
	return (head*at.of+at.part)*at.headDim + i
}
