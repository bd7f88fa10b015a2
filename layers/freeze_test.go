package layers_test

import (
	"fmt"
	"strings"
	"testing"

	"attention/graph/machine"
	"attention/internal/golden"
	"attention/layers"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

func TestFreeze(t *testing.T) {
	p, a, c, d := some(t, tensor.Float64)
	frozen := func() (all []string) {
		for name := range p.All() {
			if p.Frozen(name) {
				all = append(all, name)
			}
		}
		return all
	}
	require.Empty(t, frozen())
	require.NoError(t, p.Freeze())
	require.NoError(t, p.Freeze("b"))
	require.Equal(t, []string{"b.c", "b.d"}, frozen())
	require.Equal(t, 5+7, p.CountFrozen())
	require.Equal(t, 6+5+7, p.Count())

	b := layers.NewBuild(p, layers.Train)
	nodes := G.Nodes{b.Node(a), b.Node(c), b.Node(d)}
	require.Equal(t, nodes[:1], b.Learnables())
	require.NoError(t, p.Unfreeze("c", "a"))
	require.Equal(t, []string{"b.d"}, frozen())
	require.Equal(t, nodes[:2], b.Learnables(), "also for nodes that are there")

	const wrong = `layers: freeze: got "b.e", want a pattern of the 3 parameters' names, such as b.c, b.d, b`
	require.EqualError(t, p.Freeze("a", "b.e"), wrong)
	require.EqualError(t, p.Unfreeze("b.d", "b.e"), wrong)
	require.Equal(t, []string{"b.d"}, frozen(), "nothing was changed")
	require.Error(t, p.Freeze("[a"))
	require.False(t, p.Frozen("b.e"))
	require.ErrorContains(t, new(layers.Params).Freeze("a"), "want a pattern of the 0 parameters' names")

	declared := must(layers.Declare(layers.NewLinear, layers.LinearConfig{InFeatures: 3, OutFeatures: 4, Bias: true}))
	require.NoError(t, declared.Freeze("bias"))
	require.Equal(t, 4, declared.CountFrozen(), "without values too")
}

// backward describes the machine's computation of the loss and the gradients of a GPT with two blocks.
type backward struct {
	ops     map[string]int // by name
	planned int            // bytes
	grads   map[string][]float64
}

// backwardOf returns the backward pass of a GPT in which the parameters that the patterns match are frozen.
func backwardOf(t *testing.T, freeze ...string) backward {
	p := layers.NewParams(tensor.Float64, 3)
	model := must(layers.NewGPT(p.Scope(""), layers.GPTConfig{VocabSize: 11, ContextLength: 5, EmbedDim: 6, NumLayers: 2,
		NumHeads: 2, Activation: "gelu", Bias: true, TieWordEmbeddings: true}))
	require.NoError(t, p.Freeze(freeze...))
	b := layers.NewBuild(p, layers.Train)
	ids := of([]int{3, 1, 4, 1, 5, 9, 2, 6, 5, 3}, 2, 5)
	x := b.InputOf(tensor.Int, "ids", 2, 5)
	loss := b.Of(G.Sum(b.Of(G.Square(b.Of(model.Forward(b, x))))))
	require.NoError(t, b.Err())
	grads := must(G.Grad(loss, b.Learnables()...))
	require.NoError(t, G.Let(x, ids))
	wanted := append(G.Nodes{loss}, grads...)
	m := must(machine.New(wanted...))
	require.NoError(t, m.RunAll())
	all := backward{ops: map[string]int{}, planned: m.Memory().Planned, grads: map[string][]float64{}}
	for _, n := range b.Graph().ExactSubgraphRoots(wanted...).AllNodes() {
		if n.Op() != nil {
			name, _, _ := strings.Cut(fmt.Sprint(n.Op()), "{")
			all.ops[name]++
		}
	}
	for i, n := range b.Learnables() {
		all.grads[n.Name()] = golden.Floats(t, grads[i].Value().(*tensor.Dense))
	}
	return all
}

// Freezing saves work: no product computes the gradient of a frozen weight, and no gradient flows into blocks if all
// blocks up to them are frozen. The other gradients keep their bits.
func TestNoGradientOfFrozenParametersIsComputed(t *testing.T) {
	whole := backwardOf(t)
	require.Len(t, whole.grads, 2+2*12+2)
	// Each of the 2·4 projections and the output needs one product for the weight's gradient.
	require.Equal(t, 2*4+1, whole.ops["RowOuter"], "%v", whole.ops)
	require.Equal(t, 1, whole.ops["EmbeddingBackward"], "%v", whole.ops)
	require.Equal(t, 2, whole.ops["FusedAttentionBackward"], "%v", whole.ops)
	require.Equal(t, 5, whole.ops["LayerNormBackward"], "%v", whole.ops)
	for _, c := range []struct {
		reason          string
		freeze          []string
		outer, embedded int
		attended, norms int
		left            int // parameters to train
	}{
		{reason: "one weight", freeze: []string{"h.1.mlp.c_fc.weight"},
			outer: 8, embedded: 1, attended: 2, norms: 5, left: 27},
		{reason: "the tied embedding: neither as embedding nor as output", freeze: []string{"wte"},
			outer: 8, embedded: 0, attended: 2, norms: 5, left: 27},
		{reason: "all below the second block", freeze: []string{"wte", "wpe", "h.0.*"},
			outer: 4, embedded: 0, attended: 1, norms: 3, left: 14},
		{reason: "a block in the middle still passes gradients on", freeze: []string{"h.1"},
			outer: 5, embedded: 1, attended: 2, norms: 5, left: 16},
		{reason: "all but the last norm", freeze: []string{"wte", "wpe", "h"},
			outer: 0, embedded: 0, attended: 0, norms: 1, left: 2},
	} {
		got := backwardOf(t, c.freeze...)
		require.Len(t, got.grads, c.left, c.reason)
		for name, of := range map[string]int{"RowOuter": c.outer, "EmbeddingBackward": c.embedded,
			"FusedAttentionBackward": c.attended, "LayerNormBackward": c.norms} {
			require.Equal(t, of, got.ops[name], "%s: %s: %v", c.reason, name, got.ops)
		}
		for name, grad := range got.grads {
			require.Equal(t, whole.grads[name], grad, "%s: %s", c.reason, name)
		}
		require.Less(t, got.planned, whole.planned, c.reason)
	}
}
