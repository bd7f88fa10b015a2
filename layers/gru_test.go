package layers_test

import (
	"math"
	"strings"
	"testing"

	"attention/internal/golden"
	"attention/internal/refusal"
	"attention/layers"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Initial values are PyTorch's to the bit; outputs, last states and gradients are PyTorch's,
// of padded sequences too.
func TestGRUEqualsPyTorch(t *testing.T) {
	file := golden.Load(t, "torch/gru.safetensors")
	for _, p := range torchTypes {
		params := layers.NewParams(p.dt, 123)
		for _, c := range []struct {
			name           string
			config         layers.GRUConfig
			state, lengths bool
		}{
			{name: "gru", config: layers.GRUConfig{InputSize: 7, HiddenSize: 5, Bias: true}},
			{name: "gru_no_bias", config: layers.GRUConfig{InputSize: 7, HiddenSize: 3}, state: true},
			{name: "gru_deep", state: true,
				config: layers.GRUConfig{InputSize: 7, HiddenSize: 3, NumLayers: 2, Bias: true, Bidirectional: true}},
			{name: "gru_lengths", state: true, lengths: true,
				config: layers.GRUConfig{InputSize: 7, HiddenSize: 3, NumLayers: 2, Bias: true, Bidirectional: true}},
			{name: "gru_single", state: true, config: layers.GRUConfig{InputSize: 7, HiddenSize: 11, Bias: true}},
		} {
			l := must(layers.NewGRU(params.Scope(c.name), c.config))
			want := torchCase{file, c.name + "." + p.label + ".", p.dt, p.tol}
			names := want.entries("param.")
			for _, name := range names {
				value, ok := params.Get(c.name + "." + name)
				require.True(t, ok, "%s of %s", name, c.name)
				require.Equal(t, want.load("param."+name).Data(), value.Data(), "%s of %s", name, c.name)
			}

			b := layers.NewBuild(params, layers.Train)
			x := input(t, b, "x", want.load("x"))
			wrt, entries := G.Nodes{x}, []string{"dx"}
			var state, lengthsIn *G.Node
			if c.state {
				state = input(t, b, "state", want.load("state"))
				wrt, entries = append(wrt, state), append(entries, "dstate")
			}
			var lengths []int64
			if c.lengths {
				lengths = file.Int64(want.prefix + "lengths")
				lengthsIn = input(t, b, "lengths", tensor.New(tensor.WithBacking(lengths)))
			}
			out, end, err := l.Forward(b, x, state, lengthsIn)
			require.NoError(t, err)
			for _, n := range b.Learnables() {
				wrt, entries = append(wrt, n), append(entries, "grad."+strings.TrimPrefix(n.Name(), c.name+"."))
			}
			require.Len(t, b.Learnables(), len(names))
			grads := must(G.Backpropagate(G.Nodes{out, end},
				G.Nodes{input(t, b, "dout", want.load("dout")), input(t, b, "dend", want.load("dend"))}, wrt))
			nodes := append(G.Nodes{out, end}, grads...)
			got := values(t, nodes...)
			clearBeyond(got[0], lengths, out.Shape())
			for i, entry := range append([]string{"out", "end"}, entries...) {
				want.near(t, entry, nodes[i], got[i])
			}
		}
	}
}

// clearBeyond sets what lies beyond the lengths of sequences (B, T, N) to 0, as in PyTorch.
func clearBeyond(x []float64, lengths []int64, shape tensor.Shape) {
	for b, n := range lengths {
		t, width := shape[1], shape[2]
		clear(x[(b*t+int(n))*width : (b+1)*t*width])
	}
}

// Beyond a sequence's length its state stays, and no number of the input is read.
func TestGRUOfPaddedSequences(t *testing.T) {
	p := layers.NewParams(tensor.Float64, 1)
	l := must(layers.NewGRU(p.Scope(""), layers.GRUConfig{InputSize: 1, HiddenSize: 2}))
	b := layers.NewBuild(p, layers.Eval)
	x := golden.Dense(tensor.Float64, []float64{1, 2, math.NaN(), math.Inf(1)}, 1, 4, 1)
	out, end, err := l.Forward(b, input(t, b, "x", x), nil, input(t, b, "lengths", of([]int{2}, 1)))
	require.NoError(t, err)
	got := values(t, out, end)
	last := got[0][2:4]
	require.NotEqual(t, got[0][:2], last)
	require.Equal(t, last, got[0][4:6])
	require.Equal(t, last, got[0][6:8])
	require.Equal(t, last, got[1])
}

func TestGRURefusesWrongInput(t *testing.T) {
	p := layers.NewParams(tensor.Float32, 1)
	l := must(layers.NewGRU(p.Scope("rnn"), layers.GRUConfig{InputSize: 3, HiddenSize: 2, Bidirectional: true}))
	b := layers.NewBuild(p, layers.Eval)
	x := b.Input("x", 2, 5, 3)
	for _, c := range []struct {
		wantErr           string
		x, state, lengths *G.Node
	}{
		{"x: got nil, want a node", nil, nil, nil},
		{"x: shape (5, 2), want ([B,] T, 3)", b.Input("narrow", 5, 2), nil, nil},
		{"state: shape (1, 2, 2), want (2, 2, 2)", x, b.Input("h", 1, 2, 2), nil},
		{"graph: GRU: lengths: shape (3), want (2)", x, nil, b.InputOf(tensor.Int, "n", 3)},
	} {
		_, _, err := l.Forward(b, c.x, c.state, c.lengths)
		require.EqualError(t, err, "layers: rnn: GRU: "+c.wantErr)
	}
}

func TestWrongGRUsAreRefused(t *testing.T) {
	refuses(t, "GRU", layers.NewGRU, layers.GRUConfig{InputSize: 1, HiddenSize: 1}, refusal.Rows{
		{`{"input_size": 0}`, "InputSize: got 0, want at least 1"},
		{`{"hidden_size": 0}`, "HiddenSize: got 0, want at least 1"},
		{`{"num_layers": -1}`, "NumLayers: got -1, want at least 0"},
		{`{"hidden_size": 9223372036854775807}`, "HiddenSize: got 9223372036854775807, want at most 715827882"},
		{`{"hidden_size": 1048576}`,
			"HiddenSize: got 1048576 for InputSize=1, want at most 2147483647 elements in a weight"},
	})
}
