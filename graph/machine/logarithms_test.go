package machine_test

import (
	"math"
	"testing"

	"attention/graph"
	"attention/graph/machine"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// readersOfSoftmax lists losses of a softmax p and a target y: the loss computed by hand, and whether ForGraph can
// detect that a node expects probabilities where Gorgonia's Log has left logarithms.
var readersOfSoftmax = []struct {
	name    string
	loss    func(p, y *G.Node) *G.Node
	want    func(p, y float64) float64 // the term of one element
	refused bool
}{
	{"binary cross entropy", func(p, y *G.Node) *G.Node { return G.Must(G.BinaryXent(p, y)) },
		func(p, y float64) float64 { return -y*math.Log(p) - (1-y)*math.Log(1-p) }, true},
	{"entropy", func(p, _ *G.Node) *G.Node { return G.Must(G.HadamardProd(p, G.Must(G.Log(p)))) },
		func(p, _ float64) float64 { return p * math.Log(p) }, true},
	{"entropy with its sign", func(p, _ *G.Node) *G.Node {
		return G.Must(G.HadamardProd(G.Must(G.Neg(G.Must(G.Log(p)))), p))
	}, func(p, _ float64) float64 { return -p * math.Log(p) }, true},
	{"divergence", func(p, y *G.Node) *G.Node { return G.Must(G.HadamardProd(p, G.Must(G.Sub(G.Must(G.Log(p)), y)))) },
		func(p, y float64) float64 { return p * (math.Log(p) - y) }, true},
	{"focal loss", func(p, y *G.Node) *G.Node {
		rest := G.Must(G.Square(G.Must(G.Sub(G.NewConstant(1.0), p))))
		return G.Must(G.HadamardProd(y, G.Must(G.HadamardProd(rest, G.Must(G.Log(p))))))
	}, func(p, y float64) float64 { return y * (1 - p) * (1 - p) * math.Log(p) }, true},
	{"root", func(p, _ *G.Node) *G.Node { return G.Must(G.Add(G.Must(G.Sqrt(p)), G.Must(G.Log(p)))) },
		func(p, _ float64) float64 { return math.Sqrt(p) + math.Log(p) }, true},
	{"cross entropy", func(p, y *G.Node) *G.Node { return G.Must(G.HadamardProd(y, G.Must(G.Neg(G.Must(G.Log(p)))))) },
		func(p, y float64) float64 { return -y * math.Log(p) }, false},
	{"distance of logarithms", func(p, y *G.Node) *G.Node {
		off := G.Must(G.Sub(G.Must(G.Log(p)), y))
		return G.Must(G.HadamardProd(off, off))
	}, func(p, y float64) float64 { return (math.Log(p) - y) * (math.Log(p) - y) }, false},
	{"square of logarithms", func(p, _ *G.Node) *G.Node { return G.Must(G.Square(G.Must(G.Log(p)))) },
		func(p, _ float64) float64 { return math.Log(p) * math.Log(p) }, false},
	{"cube of logarithms", func(p, _ *G.Node) *G.Node { return G.Must(G.Cube(G.Must(G.Log(p)))) },
		func(p, _ float64) float64 { return math.Pow(math.Log(p), 3) }, false},
	{"many sums of the same term", func(p, y *G.Node) *G.Node { // 3³⁰ paths from the last node to the first
		for range 30 {
			y = G.Must(G.Sub(G.Must(G.Add(y, y)), y))
		}
		return G.Must(G.HadamardProd(G.Must(G.Log(p)), y))
	}, func(p, y float64) float64 { return y * math.Log(p) }, false},
	{"probabilities alone", func(p, _ *G.Node) *G.Node {
		return G.Must(G.HadamardProd(p, G.Must(G.Sub(G.NewConstant(1.0), p))))
	}, func(p, _ float64) float64 { return p * (1 - p) }, false},
}

// TestForGraphKnowsLogarithmsOfSoftmax: ForGraph refuses each loss that Gorgonia's Log makes wrong and accepts the
// others, with their gradients. With graph.Softmax all of them are correct.
func TestForGraphKnowsLogarithmsOfSoftmax(t *testing.T) {
	scores, target := []float64{0.1, 0.7, 1.3, -2.2}, []float64{0, 1, 0.5, 0.25}
	for _, r := range readersOfSoftmax {
		sum := 0.0
		for _, s := range scores {
			sum += math.Exp(s)
		}
		want := 0.0
		for i, s := range scores {
			want += r.want(math.Exp(s)/sum, target[i])
		}
		for name, softmax := range map[string]func(x *G.Node) (*G.Node, error){
			"gorgonia": func(x *G.Node) (*G.Node, error) { return G.SoftMax(x, 1) },
			"graph":    graph.Softmax,
		} {
			g := G.NewGraph()
			node := func(name string, v []float64) *G.Node {
				return G.NewMatrix(g, tensor.Float64, G.WithShape(1, 4), G.WithName(name),
					G.WithValue(tensor.New(tensor.WithShape(1, 4), tensor.WithBacking(v))))
			}
			x, y := node("x", scores), node("y", target)
			loss := G.Must(G.Sum(r.loss(G.Must(softmax(x)), y)))
			_, err := G.Grad(loss, x)
			require.NoError(t, err)
			m, err := machine.ForGraph(g)
			if r.refused && name == "gorgonia" {
				require.ErrorContains(t, err, "want probabilities: take graph.Softmax", r.name)
				continue
			}
			require.NoError(t, err, r.name)
			require.NoError(t, m.RunAll())
			require.InDelta(t, want, loss.Value().Data(), 1e-12, "%s of %s", r.name, name)
		}
	}
}
