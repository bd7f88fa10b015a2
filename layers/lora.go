package layers

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"attention/internal/config"
	"attention/internal/pattern"
)

// LoRAConfig sets low-rank adapters of linear maps (Hu et al. 2021). Its JSON has the names and its zeros mean the
// defaults of peft.LoraConfig.
type LoRAConfig struct {
	Rank  int     `json:"r,omitempty"`          // r, the width of an adapter; 0 means 8
	Alpha float64 `json:"lora_alpha,omitempty"` // adapters are scaled by Alpha/Rank; 0 means 8
	// RankStabilized scales adapters by Alpha/√Rank (Kalajdzievski 2023).
	RankStabilized bool    `json:"use_rslora,omitempty"`
	Dropout        float64 `json:"lora_dropout,omitempty"` // of an adapter's input, in Train graphs
	// Targets are patterns, as for Params.Freeze, of the weights that get an adapter: "q_proj", "c_attn". They are linear
	// maps, and a Decoder's token embeddings ("embed_tokens", "wte") and output head ("lm_head"), which are one weight if
	// they are tied. AllLinear is all linear maps without the head; nil means the same.
	Targets []string `json:"target_modules,omitempty"`
	// RankPattern and AlphaPattern are the Rank and Alpha of the targets that their patterns match. If several patterns
	// match a target, the longest counts.
	RankPattern  map[string]int     `json:"rank_pattern,omitempty"`
	AlphaPattern map[string]float64 `json:"alpha_pattern,omitempty"`
	// Whole are patterns of parameters that are trained whole beside the adapters: "embed_tokens", "norm".
	Whole []string `json:"modules_to_save,omitempty"`
	Seed  int64    `json:"-"` // of the adapters' initial values
}

// AllLinear is the LoRAConfig.Targets of all linear maps except the output head, as in peft.
const AllLinear = "all-linear"

// Validate returns an error that names the first wrong field.
func (c LoRAConfig) Validate() error {
	err := cmp.Or(config.AtLeast(c, 0, "Rank", "Alpha"), config.AtMost(c, math.MaxInt32, "Rank"),
		config.Probability(c, "Dropout"))
	for _, key := range slices.Sorted(maps.Keys(c.RankPattern)) {
		if r := c.RankPattern[key]; err == nil && (r < 1 || r > math.MaxInt32) {
			err = config.Errorf(c, "RankPattern", "got %d of %.60q, want 1 to %d", r, key, math.MaxInt32)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(c.AlphaPattern)) {
		if a := c.AlphaPattern[key]; err == nil && !(a > 0 && a <= math.MaxFloat64) {
			err = config.Errorf(c, "AlphaPattern", "got %v of %.60q, want a finite number above 0", a, key)
		}
	}
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

// scale returns the factor of an adapter of a rank.
func (c LoRAConfig) scale(rank int, alpha float64) float64 {
	if c.RankStabilized {
		return alpha / math.Sqrt(float64(rank))
	}
	return alpha / float64(rank)
}

// AddLoRA adds adapters to linear maps, and freezes all else but what c.Whole matches. A map x·Wᵀ becomes
//
//	x·Wᵀ + scale·(dropout(x)·Aᵀ)·Bᵀ
//
// with the new parameters lora_A.weight (r, in), drawn as an nn.Linear's weight (Kaiming-uniform with a = √5), and
// lora_B.weight (out, r), of zeros, beside W's. The map is therefore unchanged at first. Token embeddings W (V, E)
// become W + scale·B·A, with lora_A.weight (r, E), drawn from a normal distribution with the deviation 1, and
// lora_B.weight (V, r), of zeros: PEFT's lora_embedding_B and lora_embedding_A, transposed. Builds that follow have the
// adapters. It is an error to add adapters twice, and if a pattern matches none of the weights; then nothing is
// changed.
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
	defer p.adding(c.Seed)()
	p.adapters = map[string]adapter{}
	for _, name := range targets {
		out, in := p.shapes[name][0], p.shapes[name][1]
		if p.linear[name].transposed {
			out, in = in, out
		}
		at := p.Scope(strings.TrimSuffix(name, ".weight"))
		m, rank, init := maker{scope: at}, cmp.Or(ranks[name], c.Rank), linearWeight(in)
		if p.linear[name].table {
			init = Normal(0, 1)
		}
		p.adapters[name] = adapter{m.param("lora_A.weight", init, rank, in),
			m.param("lora_B.weight", Constant(0), out, rank), c.scale(rank, cmp.Or(alphas[name], c.Alpha))}
		if m.err != nil {
			return m.err
		}
	}
	p.lora = &c
	p.version++
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

// byPattern returns the values of the names that patterns match. If several patterns match a name, the longest counts.
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
