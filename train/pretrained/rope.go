package pretrained

import (
	"cmp"
	"encoding/json"

	"attention/graph"
	"attention/internal/config"
)

// ropeSettings are the fields of rope_scaling, and of rope_parameters for one type of layers.
type ropeSettings struct {
	Type            string  `json:"rope_type"`
	OldType         string  `json:"type"` // before transformers 4.43
	Theta           float64 `json:"rope_theta"`
	Partial         float64 `json:"partial_rotary_factor"` // the part of a head that is turned
	Factor          float64 `json:"factor"`
	OriginalLength  int     `json:"original_max_position_embeddings"`
	LowFreqFactor   float64 `json:"low_freq_factor"`
	HighFreqFactor  float64 `json:"high_freq_factor"`
	BetaFast        float64 `json:"beta_fast"`
	BetaSlow        float64 `json:"beta_slow"`
	AttentionFactor float64 `json:"attention_factor"`
	Truncate        bool    `json:"truncate"`
}

// rope returns the rotary positions of the layers with the window or of those without.
func (s settings) rope(window bool, headDim int) (*graph.RoPEConfig, error) {
	r := ropeSettings{Theta: cmp.Or(s.RotaryEmbBase, s.RopeTheta), Partial: cmp.Or(s.RotaryPct, 1), Truncate: true}
	field, text := "RopeScaling", s.RopeScaling
	local := window && s.RopeLocalBaseFreq > 0
	if local {
		r.Theta, text = s.RopeLocalBaseFreq, nil
	}
	if len(members(s.RopeParameters)) > 0 {
		field, text = "RopeParameters", s.RopeParameters
		types := members(text)
		if of, ok := types[map[bool]string{false: fullAttention, true: slidingAttention}[window]]; ok {
			text = of
		} else if local || types[fullAttention] != nil || types[slidingAttention] != nil {
			return nil, config.Errorf(s, field, "got none for %s, want one for each type of layers", slidingAttention)
		}
	}
	if text != nil {
		if err := (config.Reader{AllowNull: true}).Decode(withoutNothing(text), &r); err != nil {
			return nil, config.In(s, field, err)
		}
	}
	c, err := r.config(s.MaxPositions, headDim)
	return c, config.In(s, field, err)
}

// withoutNothing returns a JSON object without the members that are null, false, 0 or empty, but for truncate.
func withoutNothing(text []byte) []byte {
	all := members(text)
	for key, value := range all {
		if key != "truncate" && isNothing(value) {
			delete(all, key)
		}
	}
	text, _ = json.Marshal(all) // which was valid
	return text
}

// config returns the settings in our form.
func (r ropeSettings) config(positions, headDim int) (*graph.RoPEConfig, error) {
	c := &graph.RoPEConfig{Base: r.Theta}
	if r.Partial != 1 {
		c.Dims = int(float64(headDim) * r.Partial)
		if c.Dims < 2 || r.Partial > 1 {
			return nil, config.Errorf(r, "Partial", "got %v of %d elements, want two of them to all", r.Partial, headDim)
		}
	}
	switch kind := cmp.Or(r.Type, r.OldType, "default"); kind {
	case "default":
	case "linear":
		c.Scaling, c.Factor = graph.LinearScaling, r.Factor
	case "llama3":
		c.Scaling, c.Factor, c.OriginalLength = graph.Llama3Scaling, r.Factor, r.OriginalLength
		c.LowFreqFactor, c.HighFreqFactor = r.LowFreqFactor, r.HighFreqFactor
	case "yarn":
		c.Scaling, c.Factor, c.OriginalLength = graph.YaRNScaling, r.Factor, cmp.Or(r.OriginalLength, positions)
		c.BetaFast, c.BetaSlow, c.AttentionFactor = r.BetaFast, r.BetaSlow, r.AttentionFactor
		if !r.Truncate {
			return nil, config.Errorf(r, "Truncate", "got false, want true")
		}
	default:
		return nil, config.Errorf(r, "Type", "got %.60q, want default, linear, llama3 or yarn", kind)
	}
	return c, nil
}

// ropeText returns rotary positions in the form of rope_scaling; nil for default ones.
func ropeText(c *graph.RoPEConfig) json.RawMessage {
	if c.Scaling == graph.NoScaling {
		return nil
	}
	all := map[string]any{"rope_type": c.Scaling.String()}
	for key, x := range map[string]float64{"factor": c.Factor, "low_freq_factor": c.LowFreqFactor,
		"high_freq_factor": c.HighFreqFactor, "beta_fast": c.BetaFast, "beta_slow": c.BetaSlow,
		"attention_factor": c.AttentionFactor} {
		if x != 0 {
			all[key] = x
		}
	}
	if c.OriginalLength > 0 {
		all["original_max_position_embeddings"] = c.OriginalLength
	}
	text, _ := json.Marshal(all) // numbers that are finite, and a word
	return text
}
