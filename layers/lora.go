package layers

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	"attention/graph"
	"attention/internal/config"
	"attention/internal/dense"
	"attention/internal/pattern"
	"attention/internal/torchrand"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// LoRAConfig sets low-rank adapters of linear maps (Hu et al. 2021). Its JSON has the names and its zeros mean the
// defaults of peft.LoraConfig.
type LoRAConfig struct {
	Rank  int     `json:"r,omitempty"`          // r, the width of an adapter; 0 means 8
	Alpha float64 `json:"lora_alpha,omitempty"` // adapters are scaled by Alpha/Rank; 0 means 8
	// RankStabilized scales adapters by Alpha/√Rank (Kalajdzievski 2023).
	RankStabilized bool    `json:"use_rslora,omitempty"`
	Dropout        float64 `json:"lora_dropout,omitempty"` // of an adapter's input, in Train graphs
	// Targets are patterns, as for Params.Freeze, of the linear maps that get an adapter: "q_proj", "c_attn". AllLinear
	// is all but the output head; nil means the same.
	Targets []string `json:"target_modules,omitempty"`
	// Whole are patterns of parameters that are trained whole beside the adapters: "embed_tokens", "norm".
	Whole []string `json:"modules_to_save,omitempty"`
	Seed  int64    `json:"-"` // of the adapters' initial values
}

// AllLinear is the LoRAConfig.Targets of all linear maps but the output head, as in peft.
const AllLinear = "all-linear"

// Validate returns an error that names the first wrong field.
func (c LoRAConfig) Validate() error {
	err := cmp.Or(config.AtLeast(c, 0, "Rank", "Alpha"), config.AtMost(c, math.MaxInt32, "Rank"),
		config.Probability(c, "Dropout"))
	if err == nil && len(c.Targets) > 1 && slices.Contains(c.Targets, AllLinear) {
		return config.Errorf(c, "Targets", "got %s among %d patterns, want it alone", AllLinear, len(c.Targets))
	}
	return err
}

// resolved returns c with zeros replaced by their defaults.
func (c LoRAConfig) resolved() LoRAConfig {
	c.Rank, c.Alpha = cmp.Or(c.Rank, 8), cmp.Or(c.Alpha, 8)
	if len(c.Targets) == 0 {
		c.Targets = []string{AllLinear}
	}
	return c
}

// scale returns what adapters are multiplied by.
func (c LoRAConfig) scale() float64 {
	if c.RankStabilized {
		return c.Alpha / math.Sqrt(float64(c.Rank))
	}
	return c.Alpha / float64(c.Rank)
}

// adapter is the low-rank addition to one weight.
type adapter struct{ a, b Param } // (r, in), (out, r)

// AddLoRA adds adapters to linear maps, and freezes all else but what c.Whole matches. A map x·Wᵀ becomes
//
//	x·Wᵀ + scale·(dropout(x)·Aᵀ)·Bᵀ
//
// with the new parameters lora_A.weight (r, in), drawn as an nn.Linear's weight (Kaiming-uniform with a = √5), and
// lora_B.weight (out, r), of zeros, beside W's: so it begins as it was. Builds that follow have the adapters. It is an
// error to add adapters twice, and if a pattern matches no linear map; then nothing is changed.
func (p *Params) AddLoRA(c LoRAConfig) error {
	if err := p.addLoRA(c.resolved()); err != nil {
		return fmt.Errorf("layers: LoRA: %w", err)
	}
	return nil
}

func (p *Params) addLoRA(c LoRAConfig) error {
	if err := c.Validate(); err != nil {
		return err
	}
	if p.lora != nil {
		return fmt.Errorf("got adapters of rank %d already, want none", p.lora.Rank)
	}
	targets, err := p.targets(c)
	if err != nil {
		return err
	}
	base := slices.Clone(p.names)
	whole, err := matchAny(c, "Whole", c.Whole, base)
	if err != nil {
		return err
	}
	defer p.adding()()
	random := torchrand.New(uint64(c.Seed))
	p.adapters = map[string]adapter{}
	for _, name := range targets {
		out, in := p.mapOf(name)
		at := p.Scope(strings.TrimSuffix(name, ".weight"))
		m := maker{scope: at}
		p.adapters[name] = adapter{
			a: m.param("lora_A.weight", Constant(0), c.Rank, in), b: m.param("lora_B.weight", Constant(0), out, c.Rank)}
		if m.err != nil {
			return m.err
		}
		if a := p.adapters[name].a.Value(); a != nil { // nil if the parameters are only declared
			linearWeight(in).fill(random, a)
		}
	}
	p.lora = &c
	if p.frozen == nil {
		p.frozen = map[string]bool{}
	}
	for _, name := range base {
		p.frozen[name] = !slices.Contains(whole, name)
	}
	return nil
}

// targets returns the names of the weights that get an adapter.
func (p *Params) targets(c LoRAConfig) ([]string, error) {
	var names []string
	for _, name := range p.names {
		if _, ok := p.linear[name]; ok {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil, config.Errorf(c, "Targets", "got parameters without a linear map, want some with one")
	}
	if c.Targets[0] == AllLinear {
		return names, nil
	}
	return matchAny(c, "Targets", c.Targets, names)
}

// matchAny returns the names that any of the patterns in a field of a config matches, in order.
func matchAny(c any, field string, patterns, names []string) ([]string, error) {
	found := map[string]bool{}
	for _, text := range patterns {
		matched, err := pattern.Match(text, names)
		if err != nil {
			return nil, config.Errorf(c, field, "%w", err)
		}
		for _, name := range matched {
			found[name] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !found[name] }), nil
}

// mapOf returns the widths of a linear map by the name of its weight.
func (p *Params) mapOf(name string) (out, in int) {
	s := p.shapes[name]
	if p.linear[name] {
		return s[1], s[0]
	}
	return s[0], s[1]
}

// LoRA returns the config of the adapters, with its defaults, and whether there are any.
func (p *Params) LoRA() (LoRAConfig, bool) {
	if p.lora == nil {
		return LoRAConfig{}, false
	}
	return *p.lora, true
}

// IsAdapter reports whether the named parameter is an adapter's lora_A or lora_B.
func (p *Params) IsAdapter(name string) bool {
	for _, a := range p.adapters {
		if name == a.a.name || name == a.b.name {
			return true
		}
	}
	return false
}

// Own returns the names and values that belong into a file of the set, in the order they were made: all of them or,
// after AddLoRA, the adapters and what else is not frozen, for the rest is the model that they are added to. Package
// checkpoint writes and reads these.
func (p *Params) Own() iter.Seq2[string, *tensor.Dense] {
	return func(yield func(string, *tensor.Dense) bool) {
		for name, v := range p.All() {
			own := p.lora == nil || !p.Frozen(name) || p.IsAdapter(name)
			if own && !yield(name, v) {
				return
			}
		}
	}
}

// Merged returns the value of the named parameter with its adapter added, W + scale·B·A, in new memory; and the
// parameter's own value if it has no adapter.
func (p *Params) Merged(name string) (value *tensor.Dense, ok bool) {
	value, ok = p.Get(name)
	low, has := p.adapters[name]
	if !ok || !has {
		return value, ok
	}
	product, err := low.b.Value().MatMul(low.a.Value()) // (out, in)
	if err != nil {
		return nil, false
	}
	if value = dense.Widened(value); value == p.values[name] {
		value = value.Clone().(*tensor.Dense)
	}
	dense.ByType(p.dt, addScaled[float32], addScaled[float64])(value, product, p.lora.scale(), p.linear[name])
	return value, true
}

// addScaled adds scale·d (out, in) to a weight.
func addScaled[F float32 | float64](weight, d *tensor.Dense, scale float64, transposed bool) {
	to, from, in := dense.Floats[F](weight), dense.Floats[F](d), d.Shape()[1]
	row, col := in, 1
	if transposed {
		row, col = 1, d.Shape()[0]
	}
	for i, v := range from {
		to[i/in*row+i%in*col] += F(scale) * v
	}
}

// merged returns the node of a weight (out, in) with what its adapter adds, in place of adapted in an Eval graph.
func (f *formula) merged(weight Param) *G.Node {
	w := f.node(weight)
	low, ok := f.b.params.adapters[weight.name]
	if !ok {
		return w
	}
	b := f.Of(graph.Scale(f.node(low.b), f.b.params.lora.scale()))
	return f.Of(graph.Add(w, f.Of(f.b.precision.MatMul(b, f.node(low.a)))))
}

// adapted adds what the adapter of a linear map of x adds to its result y; without one it returns y.
func (f *formula) adapted(y, x *G.Node, weight Param) *G.Node {
	low, ok := f.b.params.adapters[weight.name]
	if !ok {
		return y
	}
	c := f.b.params.lora
	x = f.dropout(x, c.Dropout)
	h := f.Of(f.b.precision.Linear(x, f.node(low.a), nil)) // (…, r)
	h = f.Of(graph.Scale(h, c.scale()))
	return f.Of(graph.Add(y, f.Of(f.b.precision.Linear(h, f.node(low.b), nil)))) // (…, out)
}
