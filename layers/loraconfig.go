package layers

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"attention/internal/config"
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
	// RankPattern and AlphaPattern are the Rank and Alpha of the targets that their patterns match. Of several patterns of
	// a target the longest counts.
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
