package layers_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"attention/graph/mask"
	"attention/internal/golden"
	"attention/layers"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

var tripletDistances = []layers.TripletDistanceMetric{layers.Euclidean, layers.Cosine, layers.Manhattan}

// similarity returns the similarities or the loss of a case of similarity.py from its inputs.
func similarity(t *testing.T, c torchCase, b *layers.Build, in G.Nodes) (*G.Node, error) {
	number := func(entry string) float64 {
		for _, found := range c.entries(entry) {
			if found == "" {
				return c.file.Float64(c.prefix + entry)[0]
			}
		}
		return 0
	}
	switch kind := c.file.Int64(c.prefix + "kind")[0]; kind {
	case 0:
		return layers.CosSim(b, in[0], in[1])
	case 1:
		return layers.PairwiseCosSim(b, in[0], in[1])
	case 2:
		var equal mask.Mask
		if len(c.entries("ids")) > 0 {
			ids := func(entry string) *G.Node {
				return input(t, b, entry, of(c.file.Int64(c.prefix+entry), c.file.Shape(c.prefix+entry)...))
			}
			equal = mask.Segments{Query: ids("positives"), Key: ids("ids")}
		}
		return layers.MultipleNegativesRankingLoss{Scale: number("scale")}.Forward(b, in[0], in[1], equal)
	case 3:
		return layers.CoSENTLoss{Scale: number("scale")}.Forward(b, in[0], in[1], in[2])
	default:
		require.EqualValues(t, 4, kind)
		l := layers.TripletLoss{DistanceMetric: tripletDistances[c.file.Int64(c.prefix + "metric")[0]],
			TripletMargin: number("margin")}
		return l.Forward(b, in[0], in[1], in[2])
	}
}

// Similarities, losses and their gradients, as sentence-transformers has them in float64: among them one pair, equal
// vectors, vectors of zeros, scores without an order, huge scales and texts that are no negatives.
func TestSimilaritiesEqualSentenceTransformers(t *testing.T) {
	file, seen := golden.Load(t, "encoders/similarity.safetensors"), 0
	for _, entry := range file.Names() {
		name, isCase := strings.CutSuffix(entry, ".kind")
		if !isCase {
			continue
		}
		seen++
		for dt, tolerance := range map[tensor.Dtype]float64{tensor.Float64: 1e-12, tensor.Float32: 1e-5} {
			for machine, runAll := range map[string]func(testing.TB, ...*G.Node){"": run, " tape": runTape} {
				t.Run(name+" "+dt.String()+machine, func(t *testing.T) {
					testSimilarity(t, torchCase{file, name + ".", dt, tolerance}, runAll)
				})
			}
		}
	}
	require.Equal(t, 44, seen)
}

func testSimilarity(t *testing.T, c torchCase, runAll func(testing.TB, ...*G.Node)) {
	b := layers.NewBuild(layers.NewParams(c.dt, 0), layers.Train)
	var in G.Nodes
	for i := range c.entries("in.") {
		entry := fmt.Sprintf("in.%d", i)
		in = append(in, input(t, b, entry, c.load(entry)))
	}
	out, err := similarity(t, c, b, in)
	require.NoError(t, err)
	loss, got := out, func() []float64 { return []float64{number(out.Value())} }
	if !out.IsScalar() {
		loss = G.Must(G.Sum(G.Must(G.HadamardProd(out, input(t, b, "dout", c.load("dout"))))))
		got = func() []float64 { return golden.Floats(t, out.Value()) }
	}
	grads := must(G.Grad(loss, in[:len(c.entries("grad."))]...))
	runAll(t, append(G.Nodes{out}, grads...)...)
	c.near(t, "out", out, got())
	for i, n := range grads {
		c.near(t, fmt.Sprintf("grad.%d", i), n, golden.Floats(t, n.Value()))
	}
}

// runTape is run on Gorgonia's machine.
func runTape(t testing.TB, nodes ...*G.Node) {
	tape := G.NewTapeMachine(nodes[0].Graph())
	t.Cleanup(func() { require.NoError(t, tape.Close()) })
	require.NoError(t, tape.RunAll())
}

// Each row is a wrong call, and the error.
func TestSimilaritiesRefuse(t *testing.T) {
	const scale = "Scale: got %v, want a number above 0 and at most 3.4e+38, or 0 for 20"
	b := layers.NewBuild(layers.NewParams(tensor.Float32, 0), layers.Train)
	x, y := b.Input("x", 2, 3), b.Input("y", 4, 3)
	wide, line, cube, one := b.Input("wide", 2, 5), b.Input("line", 2), b.Input("cube", 2, 1, 3), b.Input("one", 1, 3)
	double := b.InputOf(tensor.Float64, "double", 2, 3)
	ids, doubles := b.InputOf(tensor.Int, "ids", 2), b.InputOf(tensor.Float64, "doubles", 2)
	ranking := func(s float64, x, y *G.Node, equal mask.Mask) error {
		return failed(layers.MultipleNegativesRankingLoss{Scale: s}.Forward(b, x, y, equal))
	}
	cosent := func(s float64, x, y, scores *G.Node) error {
		return failed(layers.CoSENTLoss{Scale: s}.Forward(b, x, y, scores))
	}
	triplet := func(m layers.TripletDistanceMetric, margin float64, x, y, z *G.Node) error {
		return failed(layers.TripletLoss{DistanceMetric: m, TripletMargin: margin}.Forward(b, x, y, z))
	}
	for _, c := range []struct {
		want string
		err  error
	}{
		{"CosSim: x: got nil, want a node", failed(layers.CosSim(b, nil, y))},
		{"CosSim: x: shape (2), want (B, E)", failed(layers.CosSim(b, line, y))},
		{"CosSim: x: shape (2, 1, 3), want (B, E)", failed(layers.CosSim(b, cube, y))},
		{"CosSim: x: got float64, want float32 as the parameters", failed(layers.CosSim(b, double, y))},
		{"CosSim: y: shape (2, 5), want (M, E=3)", failed(layers.CosSim(b, x, wide))},
		{"PairwiseCosSim: y: shape (4, 3), want (B=2, E=3)", failed(layers.PairwiseCosSim(b, x, y))},
		{"PairwiseCosSim: y: got nil, want a node", failed(layers.PairwiseCosSim(b, x, nil))},
		{"MultipleNegativesRankingLoss: candidates: got 1 rows, want at least the B=2 of anchors", ranking(0, x, one, nil)},
		{"MultipleNegativesRankingLoss: candidates: shape (2, 5), want (M, E=3)", ranking(0, x, wide, nil)},
		{"MultipleNegativesRankingLoss: " + fmt.Sprintf(scale, -1), ranking(-1, x, y, nil)},
		{"MultipleNegativesRankingLoss: " + fmt.Sprintf(scale, "NaN"), ranking(math.NaN(), x, y, nil)},
		{"MultipleNegativesRankingLoss: " + fmt.Sprintf(scale, "+Inf"), ranking(math.Inf(1), x, y, nil)},
		{"MultipleNegativesRankingLoss: " + fmt.Sprintf(scale, "1e+39"), ranking(1e39, x, y, nil)},
		{"MultipleNegativesRankingLoss: graph: MaskFill: key_segments: shape (2), want (B, S) = (4)",
			ranking(0, x, y, mask.Segments{Query: ids})},
		{"CoSENTLoss: " + fmt.Sprintf(scale, -0.5), cosent(-0.5, x, x, line)},
		{"CoSENTLoss: y: shape (4, 3), want (B=2, E=3)", cosent(0, x, y, line)},
		{"CoSENTLoss: scores: shape (2, 3), want (B=2)", cosent(0, x, x, x)},
		{"CoSENTLoss: scores: got nil, want a node", cosent(0, x, x, nil)},
		{"CoSENTLoss: scores: got float64, want float32 as the parameters", cosent(0, x, x, doubles)},
		{`TripletLoss: DistanceMetric: got "dot", want one of euclidean, cosine, manhattan`, triplet("dot", 0, x, x, x)},
		{"TripletLoss: TripletMargin: got -1, want a number above 0 and at most 3.4e+38, or 0 for 5",
			triplet("", -1, x, x, x)},
		{"TripletLoss: positives: shape (4, 3), want (B=2, E=3)", triplet("", 0, x, y, x)},
		{"TripletLoss: negatives: shape (2, 5), want (B=2, E=3)", triplet("", 0, x, x, wide)},
	} {
		require.EqualError(t, c.err, "layers: "+c.want)
	}
	require.NoError(t, b.Err())
}

// Two questions and their answers, and a wrong answer to each, as vectors.
func ExampleMultipleNegativesRankingLoss() {
	p := layers.NewParams(tensor.Float32, 0)
	loss := must(layers.NewFunc(p, func(b *layers.Build, in layers.Inputs) []*G.Node {
		return b.Nodes(layers.MultipleNegativesRankingLoss{}.Forward(b, in["questions"], in["answers"], nil))
	}, layers.FuncConfig{}))
	out := must(loss.Call(context.Background(), layers.Values{
		"questions": of([]float32{1, 0, 0, 1}, 2, 2),
		"answers":   of([]float32{4, 3, 3, 4, 5, 12, 12, 5}, 4, 2),
	}))
	fmt.Printf("%.4f\n", out[0].Data())
	// Output: 2.5449
}
