package pretrained

import (
	"slices"
	"strings"

	"attention/internal/dense"
	"attention/internal/safetensors"
	"attention/layers"

	"gorgonia.org/tensor"
)

// adapterParts are the contents of an adapter's files.
type adapterParts struct {
	*target
	names   []string            // of the tensors in a folder
	params  map[string][]string // the parameters that are parts of each tensor
	tensors []safetensors.Tensor
	targets []string // modules with adapters
	whole   []string // modules that are trained whole
	tied    bool     // targets or whole contain the token embeddings, to which the head is tied
}

func (t *target) newAdapterParts() *adapterParts {
	a := &adapterParts{target: t, params: map[string][]string{}}
	for name := range t.Params.Shapes() {
		if t.Params.IsAdapter(name) {
			continue
		}
		at := t.placeOf(name).name
		if a.params[at] == nil {
			a.names = append(a.names, at)
		}
		a.params[at] = append(a.params[at], name)
	}
	return a
}

// rows returns a function that maps a row of one of a tensor's parameters to the row of the tensor.
func (a *adapterParts) rows(name string) func(part, row int) int {
	var at []place
	for _, part := range a.params[name] {
		at = append(at, a.placeOf(part))
	}
	return func(part, row int) int { return at[part].row(row) }
}

// addAdapters adds the adapters. All get the largest rank and the same scale.
func (a *adapterParts) addAdapters(lora layers.LoRAConfig) (rank int, scale float64) {
	maps := map[string]lowRank{}
	for _, name := range a.names {
		if j := joined(a.Params, a.params[name], a.rows(name)); j.maps > 0 {
			maps[name], rank = j, max(rank, j.rank)
		}
	}
	for _, name := range a.names {
		j, ok := maps[name]
		if !ok {
			continue
		}
		if scale == 0 {
			scale = j.scale
		}
		j = j.widened(rank).scaled(scale)
		module, _ := a.moduleOf(place{name: name})
		a.targets = append(a.targets, strings.TrimPrefix(module, adapterPrefix))
		A, B := a.floats(module+loraA, j.a, j.rank, j.in), a.floats(module+loraB, j.b, j.out, j.rank)
		if name != a.family.weights.tokens {
			a.tensors = append(a.tensors, A, B)
			continue
		}
		turnedA, turnedB := make([]float64, len(j.a)), make([]float64, len(j.b))
		transpose(turnedA, j.a, j.in)
		transpose(turnedB, j.b, j.rank)
		a.tensors = append(a.tensors, a.floats(module+loraTableA, turnedB, j.rank, j.out),
			a.floats(module+loraTableB, turnedA, j.in, j.rank))
		if a.tieHead(&a.targets) {
			A.Name, B.Name = headModule+loraA, headModule+loraB
			a.tensors = append(a.tensors, A, B)
		}
	}
	return rank, scale
}

// tieHead adds the output head to modules that include the token embeddings, if it is tied to them, and reports whether
// it is.
func (a *adapterParts) tieHead(modules *[]string) bool {
	if !a.Model.Config().TieWordEmbeddings {
		return false
	}
	*modules = append(*modules, strings.TrimPrefix(headModule, adapterPrefix))
	a.tied = true
	return true
}

// addWhole adds the parameters that are trained whole, and returns PEFT's name for the choice of trained biases. PEFT
// trains all parameters of a module, and the biases of all modules or of all modules with adapters, so the untrained
// parameters of these are added with the base's numbers.
func (a *adapterParts) addWhole() (bias string) {
	trained := map[string]bool{} // by the names of tensors
	for name := range a.Params.Own() {
		if !a.Params.IsAdapter(name) {
			trained[a.placeOf(name).name] = true
		}
	}
	bias = "none"
	for _, name := range a.names {
		module, kind := a.moduleOf(place{name: name})
		plain := strings.TrimPrefix(module, adapterPrefix)
		switch {
		case !trained[name]:
		case kind != ".bias":
			a.whole = append(a.whole, plain)
		case trained[strings.TrimSuffix(name, kind)+".weight"]:
		case !slices.Contains(a.targets, plain):
			bias = "all"
		case bias == "none":
			bias = "lora_only"
		}
	}
	for _, name := range a.names {
		module, kind := a.moduleOf(place{name: name})
		plain := strings.TrimPrefix(module, adapterPrefix)
		adapted := slices.Contains(a.targets, plain)
		switch {
		case slices.Contains(a.whole, plain):
			a.tensors = append(a.tensors, a.tensor(module+kind, name))
		case kind == ".bias" && adapted && bias != "none":
			a.tensors = append(a.tensors, a.tensor(module+baseBias, name))
		case kind == ".bias" && bias == "all":
			a.tensors = append(a.tensors, a.tensor(module+kind, name))
		}
		if trained[name] && name == a.family.weights.tokens && a.tieHead(&a.whole) {
			a.tensors = append(a.tensors, a.tensor(headModule+kind, name))
		}
	}
	return bias
}

// tensor returns a tensor of a folder under another name.
func (a *adapterParts) tensor(as, name string) safetensors.Tensor {
	first, _ := a.Params.Get(a.params[name][0])
	shape := first.Shape().Clone()
	shape[0] *= len(a.params[name])
	data, row, to := make([]float64, shape.TotalSize()), shape.TotalSize()/shape[0], a.rows(name)
	for part, of := range a.params[name] {
		value, _ := a.Params.Get(of)
		for i, v := range dense.Float64s(value) {
			data[to(part, i/row)*row+i%row] = v
		}
	}
	return a.floats(as, data, shape...)
}

// floats returns a tensor of the model's type with the given numbers.
func (t *target) floats(name string, of []float64, shape ...int) safetensors.Tensor {
	to := safetensors.Tensor{Name: name, Shape: shape, Data: of}
	if t.GPT.Dtype() == tensor.Float32 {
		to.Data = safetensors.Convert[float32](of)
	}
	return to
}

// row returns the row, in the tensor at a place, of a row of a parameter.
func (at place) row(row int) int {
	if at.of == 0 {
		return row
	}
	head, i := row/at.headDim, row%at.headDim
	return (head*at.of+at.part)*at.headDim + i
}
