package layers_test

import (
	"maps"
	"strings"
	"testing"

	"attention/internal/golden"
	"attention/layers"
	"attention/layers/gradcases"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// full is a config that has every parameter, with different sizes.
var full = layers.AttentionConfig{EmbedDim: 5, OutDim: 7, NumHeads: 6, NumKVHeads: 2, HeadDim: 4, ValueDim: 3,
	QKVBias: true, OutBias: true, AddBiasKV: true, QKNorm: layers.RMSNorm, Sinks: true, Gate: true,
	RelativeBias: &layers.RelativeBiasConfig{Buckets: 8}}

// fits reports whether a layer with these settings may have a layout.
func fits(c layers.AttentionConfig, layout layers.Layout) bool {
	switch {
	case c.Latent != nil:
		return layout == layers.Llama
	case layout == layers.GPT2:
		return c.KDim == 0
	case layout == layers.PerHead:
		return c.NumKVHeads == 0
	case layout == layers.Raw:
		return c.ContextOnly && !c.QKVBias
	}
	return true
}

// Conversions between every two layouts, there and back, keep the bits, in either type, and the layer holds a copy.
func TestStatesGoRoundAllLayouts(t *testing.T) {
	configs := []layers.AttentionConfig{full,
		having(full, func(c *layers.AttentionConfig) { c.KDim, c.VDim = 11, 13 }),
		having(full, func(c *layers.AttentionConfig) { c.OutBias = false }),
		{EmbedDim: 5, NumHeads: 3, HeadDim: 4, QKVBias: true, ContextOnly: true}}
	for _, a := range gradcases.Attentions() {
		a.Config.ContextLength = 0 // no buffer
		configs = append(configs, a.Config)
	}
	for _, dt := range []tensor.Dtype{tensor.Float32, tensor.Float64} {
		for _, config := range configs {
			for _, own := range layers.AllLayouts {
				config.Layout = own
				require.Equal(t, fits(config, own), config.Validate() == nil, "%+v", config)
				for _, other := range layers.AllLayouts {
					if fits(config, own) && fits(config, other) {
						testStates(t, dt, config, other)
					} else if fits(config, own) {
						_, l := newAttention(t, dt, config)
						require.Error(t, failed(l.State(other)), "%+v as %s", config, other)
					}
				}
			}
		}
	}
}

// testStates converts a layer's state to another layout and back.
func testStates(t *testing.T, dt tensor.Dtype, config layers.AttentionConfig, other layers.Layout) {
	own := config.Layout
	p, l := newAttention(t, dt, config)
	for name, v := range p.All() { // so that biases and gains differ, too
		require.NoError(t, p.Set(name, golden.Numbers(dt, v.Shape()...)))
	}
	before := must(l.State(own))
	require.Equal(t, maps.Collect(p.All()), before)
	state := must(l.State(other))
	for _, v := range before {
		v.Zero() // a copy
	}
	config.Layout = other
	q, m := newAttention(t, dt, config)
	require.NoError(t, m.SetState(other, state))
	require.Equal(t, state, maps.Collect(q.All()), "%s to %s", own, other)
	back := must(m.State(own))
	require.Equal(t, maps.Collect(p.All()), back, "%s to %s", own, other)
	for _, v := range state {
		v.Zero()
	}
	require.Equal(t, back, must(m.State(own)), "a copy was set")
}

// The position of each number, determined by hand, for two heads of width 1 that share one key and value.
func TestWhereWeightsLie(t *testing.T) {
	p, l := newAttention(t, tensor.Float64,
		layers.AttentionConfig{EmbedDim: 2, NumHeads: 2, NumKVHeads: 1, QKVBias: true, OutBias: true})
	for name, v := range map[string]*tensor.Dense{
		"W_query.weight":  golden.Dense(tensor.Float64, []float64{11, 12, 13, 14}, 2, 2),
		"W_query.bias":    golden.Dense(tensor.Float64, []float64{15, 16}, 2),
		"W_key.weight":    golden.Dense(tensor.Float64, []float64{21, 22}, 1, 2),
		"W_key.bias":      golden.Dense(tensor.Float64, []float64{25}, 1),
		"W_value.weight":  golden.Dense(tensor.Float64, []float64{31, 32}, 1, 2),
		"W_value.bias":    golden.Dense(tensor.Float64, []float64{35}, 1),
		"out_proj.weight": golden.Dense(tensor.Float64, []float64{41, 42, 43, 44}, 2, 2),
		"out_proj.bias":   golden.Dense(tensor.Float64, []float64{45, 46}, 2),
	} {
		require.NoError(t, p.Set(name, v))
	}
	for layout, want := range map[layers.Layout]map[string]*tensor.Dense{
		layers.Torch: {
			"in_proj_weight":  golden.Dense(tensor.Float64, []float64{11, 12, 13, 14, 21, 22, 31, 32}, 4, 2),
			"in_proj_bias":    golden.Dense(tensor.Float64, []float64{15, 16, 25, 35}, 4),
			"out_proj.weight": golden.Dense(tensor.Float64, []float64{41, 42, 43, 44}, 2, 2),
			"out_proj.bias":   golden.Dense(tensor.Float64, []float64{45, 46}, 2),
		},
		layers.GPT2: {
			"c_attn.weight": golden.Dense(tensor.Float64, []float64{11, 13, 21, 31, 12, 14, 22, 32}, 2, 4),
			"c_attn.bias":   golden.Dense(tensor.Float64, []float64{15, 16, 25, 35}, 4),
			"c_proj.weight": golden.Dense(tensor.Float64, []float64{41, 43, 42, 44}, 2, 2),
			"c_proj.bias":   golden.Dense(tensor.Float64, []float64{45, 46}, 2),
		},
	} {
		require.Equal(t, want, must(l.State(layout)))
	}
}

// One error lists all problems, and nothing is set.
func TestWrongStatesAreRefusedWhole(t *testing.T) {
	p, l := newAttention(t, tensor.Float32, layers.AttentionConfig{EmbedDim: 6, NumHeads: 3, QKVBias: true, OutBias: true})
	good := func() map[string]*tensor.Dense {
		return must(l.State(layers.Torch))
	}
	before := good()
	fortran := tensor.New(tensor.WithShape(6, 6), tensor.AsFortran(make([]float32, 36)))
	for _, row := range []struct {
		wantErr string
		change  func(state map[string]*tensor.Dense)
	}{
		{"missing out_proj.weight, in_proj_bias", func(state map[string]*tensor.Dense) {
			delete(state, "out_proj.weight")
			delete(state, "in_proj_bias")
		}},
		{"unknown bias_k, q_proj_weight", func(state map[string]*tensor.Dense) {
			state["q_proj_weight"] = nil
			state["bias_k"] = golden.Numbers(tensor.Float32, 1, 1, 6)
		}},
		{"out_proj.weight is float32 (36), want float32 (6, 6), " +
			"in_proj_weight is float64 (18, 6), want float32 (18, 6), in_proj_bias is nil, want float32 (18)",
			func(state map[string]*tensor.Dense) {
				state["out_proj.weight"] = golden.Numbers(tensor.Float32, 36)
				state["in_proj_weight"] = golden.Numbers(tensor.Float64, 18, 6)
				state["in_proj_bias"] = nil
			}},
		{"missing in_proj_bias; unknown In_proj_bias; " +
			"out_proj.weight is column-major float32 (6, 6), want float32 (6, 6)", func(state map[string]*tensor.Dense) {
			state["In_proj_bias"] = state["in_proj_bias"]
			delete(state, "in_proj_bias")
			state["out_proj.weight"] = fortran
		}},
		{"unknown a, b, c and 9 more", func(state map[string]*tensor.Dense) {
			for _, name := range strings.Split("abcdefghijkl", "") {
				state[name] = nil
			}
		}},
	} {
		state := good()
		for _, v := range state {
			v.Zero()
		}
		row.change(state)
		require.EqualError(t, l.SetState(layers.Torch, state), `layers: Attention: state of layout "torch": `+row.wantErr)
		require.Equal(t, before, good(), "nothing was set")
	}
	require.EqualError(t, l.SetState("", nil),
		`layers: Attention: state of layout "book": missing W_query.weight, W_query.bias, W_key.weight and 5 more`)
	require.Equal(t, 8, p.Len())

	// A layer without biases refuses a state with biases, and vice versa.
	_, plain := newAttention(t, tensor.Float32, layers.AttentionConfig{EmbedDim: 6, NumHeads: 3})
	require.EqualError(t, plain.SetState(layers.Torch, good()),
		`layers: Attention: state of layout "torch": unknown in_proj_bias, out_proj.bias`)
	require.EqualError(t, l.SetState(layers.Torch, must(plain.State(layers.Torch))),
		`layers: Attention: state of layout "torch": missing out_proj.bias, in_proj_bias`)
}

// A layout that cannot express the layer is an error, for State and SetState.
func TestStatesThatALayoutHasNot(t *testing.T) {
	_, l := newAttention(t, tensor.Float32, having(plainAttention, func(c *layers.AttentionConfig) { c.VDim = 7 }))
	const wantErr = "layers: Attention: VDim: got 7 with Layout=gpt2, want one of the two: " +
		"one product makes queries, keys and values"
	_, err := l.State(layers.GPT2)
	require.EqualError(t, err, wantErr)
	require.EqualError(t, l.SetState(layers.GPT2, nil), wantErr)
	_, err = l.State("jax")
	require.EqualError(t, err, `layers: Attention: Layout: got "jax", want one of book, torch, gpt2, llama, per_head, raw, bert`)
}

// A state may consist of views, even of the layer's own parameters.
func TestStatesOfViews(t *testing.T) {
	_, l := newAttention(t, tensor.Float64, plainAttention)
	want := must(l.State(layers.GPT2))
	state := maps.Clone(want)
	for name, v := range state {
		turned := must(tensor.Transpose(v))
		require.NoError(t, turned.(*tensor.Dense).T())
		state[name] = turned.(*tensor.Dense)
	}
	_, m := newAttention(t, tensor.Float64, plainAttention)
	require.NoError(t, m.SetState(layers.GPT2, state))
	require.Equal(t, want, must(m.State(layers.GPT2)))

	// A state may exchange the values of two parameters.
	p, l := newAttention(t, tensor.Float64, plainAttention)
	swapped := maps.Collect(p.All())
	before := must(l.State(layers.Book))
	swapped["W_query.weight"], swapped["W_key.weight"] = swapped["W_key.weight"], swapped["W_query.weight"]
	require.NoError(t, l.SetState(layers.Book, swapped))
	after := must(l.State(layers.Book))
	before["W_query.weight"], before["W_key.weight"] = before["W_key.weight"], before["W_query.weight"]
	require.Equal(t, before, after)
}

// A layer in any layout accepts a state in any other layout, computes PyTorch's results, and returns the state
// unchanged in every layout.
func TestStatesOfAllLayoutsEqualPyTorch(t *testing.T) {
	file := golden.Load(t, attentionFile)
	for _, name := range attentionNames(t, file) {
		c := newAttentionCase(torchCase{file, name + ".", tensor.Float64, 1e-10})
		state := map[string]*tensor.Dense{}
		for _, p := range c.entries("param.") {
			state[p] = c.load("param." + p)
		}
		for _, own := range layers.AllLayouts {
			config := c.config
			config.Layout = own
			if config.Validate() != nil { // gpt2 with keys of another width, per_head with shared keys, raw
				continue
			}
			p := layers.NewParams(tensor.Float64, 1)
			l := must(layers.NewAttention(p.Scope("some.path"), config))
			require.NoError(t, l.SetState(c.config.Layout, state))
			require.Equal(t, state, must(l.State(c.config.Layout)), "%s by way of %s", name, own)
			b := layers.NewBuild(p, layers.Eval)
			out := must(l.Attend(b, c.input(t, b, true)))
			c.near(t, "out", out, values(t, out)[0])
		}
	}
}
