package layers

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"attention/internal/config"
	"attention/internal/pattern"
	"attention/internal/torchrand"

	"gorgonia.org/tensor"
)

// adapter is the low-rank addition to one weight.
type adapter struct {
	a, b  Param // (r, in), (out, r)
	scale float64
}

// linearMap says how a weight that may get an adapter is used.
type linearMap struct {
	transposed bool   // it is stored as (in, out)
	extra      bool   // it is a table of tokens or an output head, which AllLinear leaves out
	table      bool   // its rows are looked up: those of an id are (in)
	head       string // the name that it would have as an output head of its own, if it is a table tied to the head
}

// AddLoRA adds adapters to linear maps, and freezes all else but what c.Whole matches. A map x·Wᵀ becomes
//
//	x·Wᵀ + scale·(dropout(x)·Aᵀ)·Bᵀ
//
// with the new parameters lora_A.weight (r, in), drawn as an nn.Linear's weight (Kaiming-uniform with a = √5), and
// lora_B.weight (out, r), of zeros, beside W's: so it begins as it was. Token embeddings W (V, E) become
// W + scale·B·A, with lora_A.weight (r, E), drawn from a normal distribution with the deviation 1, and lora_B.weight
// (V, r), of zeros: PEFT's lora_embedding_B and lora_embedding_A, transposed. Builds that follow have the adapters. It
// is an error to add adapters twice, and if a pattern matches none of the weights; then nothing is changed.
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
	whole, err := p.matchAny(c, "Whole", c.Whole, base)
	if err != nil {
		return err
	}
	ranks, err := byPattern(c, "RankPattern", c.RankPattern, targets)
	if err != nil {
		return err
	}
	alphas, err := byPattern(c, "AlphaPattern", c.AlphaPattern, targets)
	if err != nil {
		return err
	}
	defer p.adding()()
	random := torchrand.New(uint64(c.Seed))
	p.adapters = map[string]adapter{}
	for _, name := range targets {
		out, in := p.mapOf(name)
		at := p.Scope(strings.TrimSuffix(name, ".weight"))
		m, rank := maker{scope: at}, cmp.Or(ranks[name], c.Rank)
		p.adapters[name] = adapter{m.param("lora_A.weight", Constant(0), rank, in),
			m.param("lora_B.weight", Constant(0), out, rank), c.scale(rank, cmp.Or(alphas[name], c.Alpha))}
		if m.err != nil {
			return m.err
		}
		init := linearWeight(in)
		if p.linear[name].table {
			init = Normal(0, 1)
		}
		if a := p.adapters[name].a.Value(); a != nil { // nil if the parameters are only declared
			init.fill(random, a)
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
	var all, names []string
	for _, name := range p.names {
		if m, ok := p.linear[name]; ok {
			if all = append(all, name); !m.extra {
				names = append(names, name)
			}
		}
	}
	if len(all) == 0 {
		return nil, config.Errorf(c, "Targets", "got parameters without a linear map, want some with one")
	}
	if c.Targets[0] == AllLinear {
		return names, nil
	}
	return p.matchAny(c, "Targets", c.Targets, all)
}

// matchAny returns the names that any of the patterns in a field of a config matches, in order.
func (p *Params) matchAny(c any, field string, patterns, names []string) ([]string, error) {
	found := map[string]bool{}
	for _, text := range patterns {
		matched, err := pattern.Match(text, names)
		if tied := p.tiedTo(text); err != nil && tied != "" {
			err = fmt.Errorf("got %q, which is tied to %s in this model, want the name of that", text, tied)
		}
		if err != nil {
			return nil, config.Errorf(c, field, "%w", err)
		}
		for _, name := range matched {
			found[name] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !found[name] }), nil
}

// tiedTo returns the name of the token embeddings to which an output head is tied that a pattern matches; "" if there
// is none.
func (p *Params) tiedTo(text string) string {
	for name, m := range p.linear {
		if _, err := pattern.Match(text, []string{m.head}); m.head != "" && err == nil {
			return name
		}
	}
	return ""
}

// byPattern returns the values of the names that patterns match. Of several patterns the longest counts.
func byPattern[V any](c LoRAConfig, field string, patterns map[string]V, names []string) (map[string]V, error) {
	of := map[string]V{}
	keys := slices.SortedFunc(maps.Keys(patterns), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	})
	for _, key := range keys {
		matched, err := pattern.Match(key, names)
		if err != nil {
			return nil, config.Errorf(c, field, "%w", err)
		}
		for _, name := range matched {
			of[name] = patterns[key]
		}
	}
	return of, nil
}

// mapOf returns the widths of a linear map by the name of its weight.
func (p *Params) mapOf(name string) (out, in int) {
	s := p.shapes[name]
	if p.linear[name].transposed {
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

// Adapter returns the adapter of the named weight, A (r, in) and B (out, r), the scale of B·A, and whether there is
// one.
func (p *Params) Adapter(name string) (a, b *tensor.Dense, scale float64, ok bool) {
	of, ok := p.adapters[name]
	return of.a.Value(), of.b.Value(), of.scale, ok
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
