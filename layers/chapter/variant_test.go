package chapter_test

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"attention/graph/mask"
	"attention/internal/golden"
	"attention/layers"
	"attention/layers/chapter"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// built is a variant's graph with the gradients of its parameters.
type built struct {
	layer        *chapter.VariantLayer
	params       *layers.Params
	build        *layers.Build
	x            *G.Node
	out, weights *G.Node
	gradients    G.Nodes // of b.Learnables()
}

// newVariant builds a variant of B2 T5 E6 H3 with the weights of a state.
func newVariant(t *testing.T, v chapter.Variant, dt tensor.Dtype, state map[string]*tensor.Dense) built {
	p := layers.NewParams(dt, 1)
	l, err := v.New(p.Scope("attn"), 6, 3)
	require.NoError(t, err)
	if state != nil {
		require.NoError(t, l.SetState(layers.Book, state))
	}
	b := layers.NewBuild(p, layers.Train)
	x := input(t, b, "x", golden.Numbers(dt, 2, 5, 6))
	out, weights, err := l.Forward(b, x)
	require.NoError(t, err)
	upstream := input(t, b, "upstream", golden.Numbers(dt, 2, 5, 6))
	gradients, err := G.Backpropagate(G.Nodes{out}, G.Nodes{upstream}, b.Learnables())
	require.NoError(t, err)
	return built{layer: l, params: p, build: b, x: x, out: out, weights: weights, gradients: gradients}
}

// From equal weights all variants give equal outputs, weights and gradients.
func TestVariantsAgree(t *testing.T) {
	for dt, tol := range map[tensor.Dtype]float64{tensor.Float32: 1e-6, tensor.Float64: 1e-14} {
		first := newVariant(t, chapter.Variants()[0], dt, nil)
		state, err := first.layer.State(layers.Book)
		require.NoError(t, err)
		p := layers.NewBlankParams(dt)
		a, err := layers.NewAttention(p.Scope("attn"), chapter.MultiHead(6, 6, 3))
		require.NoError(t, err)
		require.NoError(t, a.SetState(layers.Book, state))
		b := layers.NewBuild(p, layers.Eval)
		in := layers.AttentionInput{Query: input(t, b, "x", golden.Numbers(dt, 2, 5, 6))}
		want := values(t, b.Of(a.Attend(b, in)), b.Of(a.Weights(b, in)))
		var gradients map[string]*tensor.Dense
		for _, v := range chapter.Variants() {
			got := newVariant(t, v, dt, state)
			golden.Close(t, v.Name, want[0], values(t, got.out)[0], tol, tol)
			switch {
			case got.weights == nil:
			case got.weights.Dims() == 4:
				golden.Close(t, v.Name+" weights", want[1], values(t, got.weights)[0], tol, tol)
			default: // averaged over the heads
				golden.Close(t, v.Name+" weights", averaged(want[1], 2, 3, 25), values(t, got.weights)[0], tol, tol)
			}
			grads := got.gradientsAsBook(t)
			if gradients == nil {
				gradients = grads
			}
			for name, g := range gradients {
				golden.Close(t, v.Name+" gradient of "+name, golden.Floats(t, g), golden.Floats(t, grads[name]), 10*tol, 10*tol)
			}
		}
	}
}

// averaged returns the means over the middle one of three axes.
func averaged(x []float64, outer, middle, inner int) []float64 {
	means := make([]float64, outer*inner)
	for i, v := range x {
		means[i/(middle*inner)*inner+i%inner] += v / float64(middle)
	}
	return means
}

// gradientsAsBook runs the gradients and returns them in the layout Book.
func (v built) gradientsAsBook(t *testing.T) map[string]*tensor.Dense {
	all := values(t, v.gradients...)
	for i, n := range v.build.Learnables() {
		require.NoError(t, v.params.Set(n.Name(), golden.Dense(v.params.Dtype(), all[i], n.Shape()...)))
	}
	state, err := v.layer.State(layers.Book)
	require.NoError(t, err)
	return state
}

// No two variants have the same graph: the numbers of their ops differ, or an op's mask, as in PyTorch between the
// product of scaled_dot_product_attention and of FlexAttention.
func TestVariantsDiffer(t *testing.T) {
	want := map[string]string{
		"wrapper":    "Concat 1, Linear 11, MaskFill 3, MatMul 3, Scale 3, Scores 3, Softmax 3",
		"multi_head": "Linear 5, MaskFill 1, MatMul 1, MergeHeads 1, Scale 1, Scores 1, Softmax 1, SplitHeads 3",
		"combined_qkv": "Add 1, MaskFill 1, MatMul 3, MergeHeads 1, Scale 1, Scores 1, Softmax 1, Split 4, " +
			"SplitHeads 3",
		"einsum": "A 2, Aᵀ 5, Linear 5, MaskFill 1, Reshape 4, Scale 1, Softmax 1", // A is a product
		"sdpa":   "FusedAttention 2, Linear 5",
		"sdpa_weights": "FusedAttention 2, Linear 5, MaskFill 1, MatMul 1, MergeHeads 1, Scale 1, Scores 1, Softmax 1, " +
			"SplitHeads 3",
		"torch_mha": "AverageHeads 1, Linear 3, MaskFill 1, MatMul 1, MergeHeads 1, Scale 1, Scores 1, Softmax 1, " +
			"Split 4, SplitHeads 3",
		"flex":   "FusedAttention 2, Linear 5",
		"packed": "Add 1, FusedAttention 2, MatMul 2",
	}
	counts, graphs := map[string]string{}, map[string]string{}
	for _, v := range chapter.Variants() {
		p := layers.NewParams(tensor.Float32, 1)
		l, err := v.New(p.Scope(""), 6, 3)
		require.NoError(t, err)
		b := layers.NewBuild(p, layers.Eval)
		_, _, err = l.Forward(b, b.Input("x", 2, 5, 6))
		require.NoError(t, err)
		count, graph := ops(b, opName), ops(b, func(op G.Op) string { return fmt.Sprint(opName(op), op.Hashcode()) })
		require.Equal(t, want[v.Name], count, v.Name)
		require.Empty(t, graphs[graph], v.Name)
		graphs[graph] = v.Name
		if same := counts[count]; same != "" {
			require.Equal(t, []string{"sdpa", "flex"}, []string{same, v.Name})
		}
		counts[count] = v.Name
	}
}

func opName(op G.Op) string { return regexp.MustCompile(`^[^{( ]+`).FindString(fmt.Sprint(op)) }

// ops counts the ops of a graph by what tells them apart.
func ops(b *layers.Build, kind func(G.Op) string) string {
	counts := map[string]int{}
	for _, n := range b.Graph().AllNodes() {
		if n.Op() != nil {
			counts[kind(n.Op())]++
		}
	}
	var list []string
	for name, n := range counts {
		list = append(list, fmt.Sprintf("%s %d", name, n))
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

// Blocks of keys that the mask of flex hides from all queries of a block are outside their range.
func TestFlexSkipsBlocks(t *testing.T) {
	const T = 512
	s := mask.Scores{Batch: []int{1}, T: T, S: T}
	m, inputs, err := mask.Resolve(mask.Or(mask.SlidingWindow{Left: 127}, mask.Causal{}), s)
	require.NoError(t, err)
	require.Empty(t, inputs)
	keys, err := mask.Bind(m, nil, s)
	require.NoError(t, err)
	for i := range T {
		lo, hi, _ := keys.Span(0, i)
		require.Equal(t, []int{0, i + 1}, []int{lo, hi})
	}
}

// The fused variants neither read nor multiply keys and values that the mask hides from a block of queries: numbers
// that are none do not reach what comes before them.
func TestFusedVariantsSkipHiddenKeys(t *testing.T) {
	const T, hidden = 512, 256
	x := golden.Numbers(tensor.Float32, 1, T, 6)
	for i := hidden * 6; i < T*6; i++ {
		x.Float32s()[i] = float32(math.NaN())
	}
	for _, v := range chapter.Variants() {
		p := layers.NewParams(tensor.Float32, 1)
		l, err := v.New(p.Scope(""), 6, 3)
		require.NoError(t, err)
		b := layers.NewBuild(p, layers.Eval)
		out, _, err := l.Forward(b, input(t, b, "x", x))
		require.NoError(t, err)
		seen := slices.ContainsFunc(values(t, out)[0][:hidden*6], math.IsNaN)
		fused := v.Name == "sdpa" || v.Name == "sdpa_weights" || v.Name == "flex" || v.Name == "packed"
		require.Equal(t, !fused, seen, v.Name)
	}
}

func TestVariantRefuses(t *testing.T) {
	p := layers.NewParams(tensor.Float32, 1)
	_, err := chapter.Variant{Name: "mine"}.New(p.Scope(""), 6, 3)
	require.EqualError(t, err, `chapter: variant "mine": got one that is not of Variants`)
	_, err = chapter.Variants()[0].New(p.Scope(""), 6, 4)
	require.ErrorContains(t, err, "NumHeads: got 4, want a divisor of OutDim=6")
	for _, v := range chapter.Variants() {
		p := layers.NewParams(tensor.Float32, 1)
		l, err := v.New(p.Scope(""), 6, 3)
		require.NoError(t, err)
		b := layers.NewBuild(p, layers.Eval)
		_, _, err = l.Forward(b, b.Input("x", 2, 5, 7))
		require.EqualError(t, err, "chapter: variant: x: got (2, 5, 7), want (B, T, 6)")
		_, _, err = l.Forward(b, nil)
		require.EqualError(t, err, "chapter: variant: x: got <nil>, want (B, T, 6)")
		_, _, err = l.Forward(nil, b.Input("y", 2, 5, 6))
		require.EqualError(t, err, "chapter: build: got nil or its zero value, want one of layers.NewBuild")
		other := layers.NewBuild(layers.NewParams(tensor.Float32, 1), layers.Eval)
		_, _, err = l.Forward(other, other.Input("x", 2, 5, 6))
		require.ErrorContains(t, err, "got a parameter of another set")
	}
}
