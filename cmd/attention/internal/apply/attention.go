package apply

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"attention/graph"
	"attention/graph/mask"
	"attention/layers"
)

// attention is a layer.json of the layer attention.
type attention struct {
	layers.AttentionConfig
	contextLength  int      // 0 means any
	averageWeights bool     // over the heads
	placed         []string // the fields that have to know where the queries stand among the keys
}

// attentionLayer takes the fields of the layer attention.
func attentionLayer(f *configFields) (*layer, error) {
	a := new(attention)
	a.takeSizes(f)
	a.takeMask(f)
	a.takeScores(f)
	a.takePositions(f)
	a.takeRest(f)
	if f.err == nil {
		a.checkFields(f)
	}
	if err := f.end("layer " + attentionName); err != nil {
		return nil, err
	}
	parameters, err := declared(layers.NewAttention, a.AttentionConfig)
	if err != nil {
		return nil, err
	}
	return &layer{
		name: attentionName, parameters: parameters, buffers: a.buffers(),
		sequences: []sequenceSpec{
			{name: "query", length: "T", width: a.EmbedDim, longest: a.contextLength},
			{name: "key", length: "S", width: a.KDim, longest: a.contextLength, instead: "query"},
			{name: "value", length: "S", width: a.VDim, longest: a.contextLength, instead: "key"},
		},
		extras: attentionExtras(), heads: a.NumHeads, check: a.check, build: a.build,
	}, nil
}

func (a *attention) takeSizes(f *configFields) {
	f.size("d_in", &a.EmbedDim, 1, maxSize)
	f.size("d_out", &a.OutDim, 0, maxSize)
	f.size("num_heads", &a.NumHeads, 1, maxHeads)
	f.size("num_kv_heads", &a.NumKVHeads, 0, maxHeads)
	f.size("head_dim", &a.HeadDim, 0, maxSize)
	f.size("value_dim", &a.ValueDim, 0, maxSize)
	f.size("k_dim", &a.KDim, 0, maxSize)
	f.size("v_dim", &a.VDim, 0, maxSize)
	f.flag("qkv_bias", &a.QKVBias)
	f.flag("out_bias", &a.OutBias)
	a.OutDim, a.KDim, a.VDim = cmp.Or(a.OutDim, a.EmbedDim), cmp.Or(a.KDim, a.EmbedDim), cmp.Or(a.VDim, a.EmbedDim)
	known := layers.Layouts()
	names := make([]string, len(known))
	for i, layout := range known {
		names[i] = string(layout)
	}
	f.choice("layout", (*string)(&a.Layout), names...)
}

// takeMask takes which keys a query sees: what causal and window both show, and the
// prefix.
func (a *attention) takeMask(f *configFields) {
	var align, causal string
	names := []string{mask.UpperLeft.String(), mask.LowerRight.String()}
	aligned, isCausal := f.choice("align", &align, names...), f.choice("causal", &causal, names...)
	if aligned && isCausal && align != causal {
		f.fail("align: got %q with causal %q, want the same or one of them", align, causal)
	}
	if a.Align = mask.Square; aligned || isCausal {
		// The words are those of choice; for others the error is there already.
		_ = a.Align.UnmarshalText([]byte(cmp.Or(align, causal)))
	}
	if isCausal {
		a.Mask, a.placed = mask.Causal{Align: a.Align}, append(a.placed, "causal")
	}
	var w window
	if f.take("window", &w, fmt.Sprintf("[left, right], two whole numbers from 0 to %d", maxSize)) {
		slides := mask.SlidingWindow{Left: w[0], Right: w[1], Align: a.Align}
		if a.placed = append(a.placed, "window"); isCausal {
			a.Mask = mask.And(a.Mask, slides)
		} else {
			a.Mask = slides
		}
	}
	var prefix int
	f.size("prefix", &prefix, 0, maxSize)
	switch {
	case prefix > 0 && a.Mask == nil:
		f.fail("prefix: got %d without causal and window, want one of them: every query sees the prefix besides what they show", prefix)
	case prefix > 0:
		a.Mask = mask.Or(a.Mask, mask.Prefix{N: prefix})
	}
}

// window is how many keys a query sees before its own place and after it.
type window [2]int

func (w *window) UnmarshalJSON(text []byte) error {
	var sides []*int
	if err := json.Unmarshal(text, &sides); err != nil {
		return err
	}
	if len(sides) != len(w) {
		return errors.New("not two numbers")
	}
	for i, side := range sides {
		if side == nil || *side < 0 || *side > maxSize {
			return errors.New("not a size")
		}
		w[i] = *side
	}
	return nil
}

func (a *attention) takeScores(f *configFields) {
	f.number("scale", &a.Scale, "a finite number above 0", func(x float64) bool { return x > 0 })
	f.number("softcap", &a.Softcap, "a finite number of at least 0", func(x float64) bool { return x >= 0 })
	f.choice("qk_norm", (*string)(&a.QKNorm), string(layers.L2Norm), string(layers.RMSNorm))
	f.number("qk_norm_eps", &a.QKNormEps, "a finite number above 0", func(x float64) bool { return x > 0 })
}

func (a *attention) takePositions(f *configFields) {
	var c graph.RoPEConfig
	if f.object("rope", func(f *configFields) {
		scaling := graph.NoScaling.String()
		f.number("base", &c.Base, "a finite number of at least 1", func(x float64) bool { return x >= 1 })
		f.size("dims", &c.Dims, 0, maxSize)
		f.flag("interleaved", &c.Interleaved)
		f.choice("scaling", &scaling, graph.NoScaling.String(), graph.LinearScaling.String(), graph.NTKScaling.String())
		f.number("factor", &c.Factor, "a finite number of at least 1", func(x float64) bool { return x >= 1 })
		_ = c.Scaling.UnmarshalText([]byte(scaling)) // one of choice's, or the error is there already
	}) {
		a.RoPE = &c
	}
	if f.flag("alibi", &a.ALiBi); a.ALiBi {
		a.placed = append(a.placed, "alibi")
	}
	var r layers.RelativeBiasConfig
	if f.object("relative_bias", func(f *configFields) {
		f.size("buckets", &r.Buckets, 0, maxSize)
		f.size("max_distance", &r.MaxDistance, 0, maxSize)
		f.flag("unidirectional", &r.Unidirectional)
	}) {
		a.RelativeBias, a.placed = &r, append(a.placed, "relative_bias")
	}
}

func (a *attention) takeRest(f *configFields) {
	f.flag("sinks", &a.Sinks)
	f.flag("add_bias_kv", &a.AddBiasKV)
	f.flag("add_zero_attn", &a.AddZeroAttn)
	f.flag("renormalize", &a.Renormalize)
	f.flag("gate", &a.Gate)
	f.flag("average_weights", &a.averageWeights)
	f.size("context_length", &a.contextLength, 0, maxSize)
	f.probability("dropout", &a.Dropout)
}

// checkFields checks what fields have to do with each other, as far as it is best said
// in their own names.
func (a *attention) checkFields(f *configFields) {
	heads := cmp.Or(a.NumKVHeads, a.NumHeads)
	switch {
	case a.HeadDim == 0 && a.OutDim%a.NumHeads != 0:
		f.fail("num_heads: got %d, want a divisor of d_out=%d, or head_dim", a.NumHeads, a.OutDim)
	case a.NumHeads%heads != 0:
		f.fail("num_kv_heads: got %d, want 0 or a divisor of num_heads=%d", a.NumKVHeads, a.NumHeads)
	case a.Layout == layers.GPT2 && (a.KDim != a.EmbedDim || a.VDim != a.EmbedDim):
		f.fail("layout: got gpt2 with k_dim %d and v_dim %d, want both as d_in=%d, or another layout", a.KDim, a.VDim, a.EmbedDim)
	case a.QKNormEps != 0 && a.QKNorm == "":
		f.fail("qk_norm_eps: got %v without qk_norm, want both", a.QKNormEps)
	case a.Sinks && a.Renormalize:
		f.fail("renormalize: got true with sinks, want one of the two")
	case a.RoPE != nil:
		if err := a.RoPE.Validate(cmp.Or(a.HeadDim, a.OutDim/a.NumHeads)); err != nil {
			f.fail("rope: %s", strings.TrimPrefix(err.Error(), "graph: RoPE: "))
		}
	}
}

// buffers are what the state_dict of the layout's module may hold besides parameters.
func (a *attention) buffers() (names []string) {
	switch a.Layout {
	case layers.PerHead:
		for i := range a.NumHeads {
			names = append(names, fmt.Sprintf("heads.%d.mask", i))
		}
	case layers.Book, "":
		names = []string{"mask"}
	case layers.GPT2:
		names = []string{"bias", "masked_bias"}
	}
	return names
}
