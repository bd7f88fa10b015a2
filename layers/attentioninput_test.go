package layers_test

import (
	"testing"

	"attention/graph"
	"attention/graph/machine"
	"attention/graph/mask"
	"attention/internal/dense"
	"attention/internal/golden"
	"attention/layers"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// What comes with the sequences is checked where it is used, by name.
func TestWrongBiasesMasksAndPositions(t *testing.T) {
	config := but(plainAttention, func(c *layers.AttentionConfig) { c.RoPE = &graph.RoPEConfig{} })
	for _, row := range []struct {
		wantErr string
		change  func(b *layers.Build, in *layers.AttentionInput)
	}{
		{"graph: FusedAttention: bias: shape (7, 13), want one that broadcasts to (2, 3, 13, 13)",
			func(b *layers.Build, in *layers.AttentionInput) {
				in.Bias = input(t, b, "bias", golden.Numbers(tensor.Float32, 7, 13))
			}},
		{"graph: FusedAttention: bias: got float64, want float32 as the arguments before it",
			func(b *layers.Build, in *layers.AttentionInput) {
				in.Bias = input(t, b, "bias", golden.Numbers(tensor.Float64, 13, 13))
			}},
		{"graph: FusedAttention: lengths: shape (3), want (B) = (2)", func(b *layers.Build, in *layers.AttentionInput) {
			in.Mask = mask.KeyLengths{Lengths: input(t, b, "lengths", tensor.New(tensor.WithBacking([]int{1, 2, 3})))}
		}},
		{"graph: FusedAttention: mask: got T=13 and S=7, want T = S or an alignment, upper_left or lower_right",
			func(b *layers.Build, in *layers.AttentionInput) {
				in.Key = input(t, b, "key", golden.Numbers(tensor.Float32, 2, 7, 5))
				in.Positions = input(t, b, "at", tensor.New(tensor.WithBacking(make([]int, 13))))
				in.Mask = mask.Causal{}
			}},
		{"Align, for the positions of queries: got T=13 and S=7, " +
			"want T = S or an alignment, upper_left or lower_right", func(b *layers.Build, in *layers.AttentionInput) {
			in.Key = input(t, b, "key", golden.Numbers(tensor.Float32, 2, 7, 5))
		}},
		{"graph: RoPE: positions: shape (7), want (), (13), (2, 13) or (2, 1)",
			func(b *layers.Build, in *layers.AttentionInput) {
				in.Positions = input(t, b, "at", tensor.New(tensor.WithBacking(make([]int, 7))))
			}},
		{"graph: RoPE: positions: got float32, want int or int64", func(b *layers.Build, in *layers.AttentionInput) {
			in.Positions = input(t, b, "at", golden.Numbers(tensor.Float32, 13))
		}},
		{"key_positions: got them without positions, want those of the queries, which are the same tokens",
			func(b *layers.Build, in *layers.AttentionInput) {
				in.KeyPositions = input(t, b, "at", tensor.New(tensor.WithBacking(make([]int, 13))))
			}},
		{"graph: FusedAttention: keep: got a node of no graph, want one of a graph; b.Graph().Constant(v) is one",
			func(b *layers.Build, in *layers.AttentionInput) {
				in.Mask = mask.Keep{Keep: G.NewConstant(tensor.New(tensor.WithBacking(make([]bool, 13))))}
			}},
	} {
		p, l := newAttention(t, tensor.Float32, config)
		b := layers.NewBuild(p, layers.Eval)
		in := inputs(t, b, []int{2, 13, 5}, nil, nil)
		row.change(b, &in)
		_, err := l.Attend(b, in)
		require.EqualError(t, err, "layers: Attention: "+row.wantErr)
	}
}

// No sequence is longer than the config allows.
func TestContextLengthOfAttention(t *testing.T) {
	p, l := newAttention(t, tensor.Float32, but(plainAttention, func(c *layers.AttentionConfig) { c.ContextLength = 7 }))
	for _, c := range []struct {
		query, key []int
		wantErr    string
	}{
		{query: []int{7, 5}, key: []int{2, 5}},
		{query: []int{8, 5}, wantErr: "layers: Attention: query: shape (8, 5), want ([B,] T <= ContextLength=7, 5)"},
		{query: []int{2, 5}, key: []int{8, 5},
			wantErr: "layers: Attention: key: shape (8, 5), want ([B,] S <= ContextLength=7, 5)"},
	} {
		b := layers.NewBuild(p, layers.Eval)
		_, err := l.Attend(b, inputs(t, b, c.query, c.key, nil))
		if c.wantErr == "" {
			require.NoError(t, err)
		} else {
			require.EqualError(t, err, c.wantErr)
		}
	}
}

// A constant of the build's graph is an input like others.
func TestConstantsOfTheGraph(t *testing.T) {
	p, l := newAttention(t, tensor.Float32, plainAttention)
	b := layers.NewBuild(p, layers.Eval)
	shown := tensor.New(tensor.WithBacking([]bool{true, true, false}))
	in := inputs(t, b, []int{2, 3, 5}, nil, nil)
	in.Mask = mask.Keep{Keep: b.Graph().Constant(shown)}
	weights := must(l.Weights(b, in))
	require.NoError(t, must(machine.New(weights)).RunAll())
	for i, w := range dense.Float64s(weights.Value()) {
		require.Equal(t, i%3 == 2, w == 0, "weight %d is %v", i, w)
	}
}
