package pretrained

import (
	"cmp"
	"encoding/json"
	"maps"
	"math"

	"attention/graph"
	"attention/internal/config"
)

// ropeSettings are the fields of rope_scaling, and of rope_parameters for one type of layers.
type ropeSettings struct {
	Type            string  `json:"rope_type"`
	OldType         string  `json:"type"` // before transformers 4.43
	Theta           float64 `json:"rope_theta"`
	Partial         float64 `json:"partial_rotary_factor"` // the fraction of a head that is rotated
	Factor          float64 `json:"factor"`
	OriginalLength  int     `json:"original_max_position_embeddings"`
	LowFreqFactor   float64 `json:"low_freq_factor"`
	HighFreqFactor  float64 `json:"high_freq_factor"`
	BetaFast        float64 `json:"beta_fast"`
	BetaSlow        float64 `json:"beta_slow"`
	AttentionFactor float64 `json:"attention_factor"`
	MScale          float64 `json:"mscale"`
	MScaleAllDim    float64 `json:"mscale_all_dim"`
	Truncate        bool    `json:"truncate"`
}

// ropeKeys are the keys of rope_scaling and rope_parameters that transformers reads for the supported types of
// positions.
const ropeKeys = `rope_type type rope_theta partial_rotary_factor factor original_max_position_embeddings
	low_freq_factor high_freq_factor beta_fast beta_slow attention_factor mscale mscale_all_dim truncate full_attention
	sliding_attention short_factor long_factor `

// rope returns the rotary positions of the layers with a window, or of those without.
func (f *family) rope(s settings, window bool, headDim int) (*graph.RoPEConfig, error) {
	r := ropeSettings{Theta: cmp.Or(s.RotaryEmbBase, s.RopeTheta), Truncate: true,
		Partial: cmp.Or(s.RotaryPct, s.PartialRotary, 1)}
	if window && f.localRope() {
		r.Theta = s.RopeLocalBaseFreq
	}
	field, own := f.ropeMembers(s, window)
	if _, nested := own[fullAttention]; nested {
		return nil, config.Errorf(s, field, "got one for each type of layers, want one for all: %s has no others", f.name)
	}
	text, err := json.Marshal(own)
	if err != nil {
		return nil, err
	}
	if err := config.Foreign.Decode(text, &r); err != nil {
		return nil, config.In(s, field, err)
	}
	if f.localRope() {
		r.Truncate = true // transformers looks for it beside the types of layers
	} else {
		r.OriginalLength = cmp.Or(s.OriginalLength, r.OriginalLength)
	}
	c, err := f.ropeConfig(r, s.MaxPositions, headDim)
	return c, config.In(s, field, err)
}

// localRope reports whether layers with a window have their own positions.
func (f *family) localRope() bool { return f.knows("rope_local_base_freq") }

// ropeMembers returns the field with the rotary positions of the layers with a window, or of those without, and those
// of its members that have a value. rope_scaling replaces rope_parameters, or is added to the parameters of layers
// without a window.
func (f *family) ropeMembers(s settings, window bool) (field string, own map[string]json.RawMessage) {
	scaling, field := members(s.RopeScaling), "RopeParameters"
	own = members(s.RopeParameters)
	if f.localRope() {
		own = members(own[map[bool]string{false: fullAttention, true: slidingAttention}[window]])
		if len(own) == 0 {
			own["rope_type"] = []byte(`"default"`)
		}
		if !window {
			maps.Copy(own, scaling)
		}
	} else if len(scaling) > 0 {
		field, own = "RopeScaling", scaling
	}
	maps.DeleteFunc(own, func(key string, value json.RawMessage) bool { return key != "truncate" && isNothing(value) })
	return field, own
}

// ropeConfig returns the settings in this module's form, nil if no element of a head is rotated.
func (f *family) ropeConfig(r ropeSettings, positions, headDim int) (*graph.RoPEConfig, error) {
	c, kind := &graph.RoPEConfig{Base: r.Theta}, cmp.Or(r.Type, r.OldType, "default")
	if kind == "default" && !f.knows("rotary_pct") {
		r.Partial = 1 // transformers rotates whole heads
	}
	// An odd number of elements is rounded up; the frequencies are those of the odd number.
	exact := int(float64(headDim) * r.Partial)
	c.Dims = exact + exact%2
	switch whole := c.Dims == headDim; {
	case kind == "proportional" && int(float64(headDim)*r.Partial)/2 < headDim/2,
		!whole && !f.knows("rotary_pct"), !(r.Partial >= 0 && r.Partial <= 1):
		return nil, config.Errorf(r, "Partial", "got %v, want 1: a model of %s with %s positions turns whole heads",
			r.Partial, f.name, kind)
	case exact == 0:
		return nil, nil
	case exact%2 == 1 && kind == "yarn":
		return nil, config.Errorf(r, "Partial", "got %v of %d elements, want an even number of them", r.Partial, headDim)
	case exact%2 == 1:
		c.Base = math.Pow(c.Base, float64(c.Dims)/float64(exact))
	}
	if c.Dims == headDim {
		c.Dims = 0
	}
	original := cmp.Or(r.OriginalLength, positions)
	switch kind {
	case "default", "dynamic": // the same for positions up to max_position_embeddings
	case "linear", "proportional":
		c.Scaling, c.Factor = graph.LinearScaling, r.Factor
	case "llama3":
		c.Scaling, c.Factor, c.OriginalLength = graph.Llama3Scaling, r.Factor, original
		c.LowFreqFactor, c.HighFreqFactor = r.LowFreqFactor, r.HighFreqFactor
	case "yarn":
		c.Scaling, c.OriginalLength = graph.YaRNScaling, original
		c.Factor = cmp.Or(r.Factor, float64(positions)/float64(original))
		c.BetaFast, c.BetaSlow, c.AttentionFactor = r.BetaFast, r.BetaSlow, r.AttentionFactor
		if c.AttentionFactor == 0 && r.MScale != 0 && r.MScaleAllDim != 0 {
			c.AttentionFactor = yarnGain(c.Factor, r.MScale) / yarnGain(c.Factor, r.MScaleAllDim)
		}
		if !r.Truncate {
			return nil, config.Errorf(r, "Truncate", "got false, want true")
		}
	default:
		return nil, config.Errorf(r, "Type", "got %.60q, want default, dynamic, linear, llama3, proportional or yarn", kind)
	}
	return c, nil
}

// yarnGain returns YaRN's factor for rotated elements (appendix A.2), multiplied by the weight that transformers calls
// mscale.
func yarnGain(factor, weight float64) float64 { return 0.1*weight*math.Log(max(factor, 1)) + 1 }

// ropeText returns rotary positions in the form of rope_scaling; nil for the default.
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
