package layers_test

import (
	"testing"

	"attention/graph/machine"
	"attention/graph/mask"
	"attention/internal/dense"
	"attention/layers"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// wrongInput is a change of the input x of a layer, and the error.
type wrongInput struct {
	want   string
	change func(b *layers.Build, in *layers.AttentionInput)
}

// refusesInputs checks that a layer at path a refuses each row's change of an input x.
func refusesInputs(
	t *testing.T, p *layers.Params, attend func(*layers.Build, layers.AttentionInput) (*G.Node, error), layer string,
	x []int, rows []wrongInput,
) {
	t.Helper()
	for _, row := range rows {
		b := layers.NewBuild(p, layers.Eval)
		in := layers.AttentionInput{Query: b.Input("x", x...)}
		row.change(b, &in)
		require.EqualError(t, failed(attend(b, in)), "layers: a: "+layer+": "+row.want)
	}
}

// Inputs besides the sequences are checked where they are used, and errors name them.
func TestWrongBiasesMasksAndPositions(t *testing.T) {
	p := layers.NewParams(tensor.Float32, 1)
	l := must(layers.NewAttention(p.Scope("a"), with(plainAttention, `{"rope": {}}`)))
	const aligned = "T=13 and S=7, want T = S or an alignment, upper_left or lower_right"
	refusesInputs(t, p, l.Attend, "Attention", []int{2, 13, 5}, []wrongInput{
		{"graph: FusedAttention: bias: shape (7, 13), want one that broadcasts to (2, 3, 13, 13)",
			func(b *layers.Build, in *layers.AttentionInput) { in.Bias = b.Input("bias", 7, 13) }},
		{"graph: FusedAttention: bias: got float64, want float32 as the arguments before it",
			func(b *layers.Build, in *layers.AttentionInput) { in.Bias = b.InputOf(tensor.Float64, "bias", 13, 13) }},
		{"graph: FusedAttention: lengths: shape (3), want (B) = (2)", func(b *layers.Build, in *layers.AttentionInput) {
			in.Mask = mask.KeyLengths{Lengths: b.InputOf(tensor.Int, "lengths", 3)}
		}},
		{"graph: FusedAttention: mask: got " + aligned, func(b *layers.Build, in *layers.AttentionInput) {
			in.Key, in.Positions, in.Mask = b.Input("key", 2, 7, 5), b.InputOf(tensor.Int, "at", 13), mask.Causal{}
		}},
		{"Align, for the positions of queries: got " + aligned,
			func(b *layers.Build, in *layers.AttentionInput) { in.Key = b.Input("key", 2, 7, 5) }},
		{"graph: RoPE: positions: shape (7), want (), (13), (2, 13) or (2, 1)",
			func(b *layers.Build, in *layers.AttentionInput) { in.Positions = b.InputOf(tensor.Int, "at", 7) }},
		{"graph: RoPE: positions: got float32, want int or int64",
			func(b *layers.Build, in *layers.AttentionInput) { in.Positions = b.Input("at", 13) }},
		{"key_positions: got them without positions, want those of the queries, which are the same tokens",
			func(b *layers.Build, in *layers.AttentionInput) { in.KeyPositions = b.InputOf(tensor.Int, "at", 13) }},
		{"graph: FusedAttention: keep: got a node of no graph, want one of a graph; b.Graph().Constant(v) is one",
			func(b *layers.Build, in *layers.AttentionInput) {
				in.Mask = mask.Keep{Keep: G.NewConstant(tensor.New(tensor.WithBacking(make([]bool, 13))))}
			}},
	})
}

// A constant of the build's graph can be an input.
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
