package stock_test

import (
	"fmt"
	"math"
	"testing"

	tensors "attention/internal/dense"
	"attention/internal/stock"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// A binaryCase is one of Gorgonia's functions of two numbers.
type binaryCase struct {
	build    func(x, y *G.Node) (*G.Node, error)
	of       func(x, y float64) float64
	by       stock.By
	noNumber bool // both inputs are of one shape
	noGrad   bool
}

func binaries() map[string]binaryCase {
	cases := map[string]binaryCase{
		"Add":          {build: G.Add, of: func(x, y float64) float64 { return x + y }, by: stock.Kernel},
		"Sub":          {build: G.Sub, of: func(x, y float64) float64 { return x - y }, by: stock.Kernel},
		"HadamardProd": {build: G.HadamardProd, of: func(x, y float64) float64 { return x * y }, by: stock.Kernel},
		"HadamardDiv":  {build: G.HadamardDiv, of: func(x, y float64) float64 { return x / y }, by: stock.Kernel},
		"Pow":          {build: G.Pow, of: math.Pow, by: stock.Loop, noGrad: true},
		"MinBetween": {build: G.MinBetween, of: better(func(x, y float64) bool { return x < y }), by: stock.Loop,
			noNumber: true},
		"MaxBetween": {build: G.MaxBetween, of: better(func(x, y float64) bool { return x > y }), by: stock.Kernel,
			noNumber: true},
	}
	for name, c := range map[string]struct {
		build func(x, y *G.Node, retSame bool) (*G.Node, error)
		of    func(x, y float64) bool
	}{
		"Lt":  {build: G.Lt, of: func(x, y float64) bool { return x < y }},
		"Gt":  {build: G.Gt, of: func(x, y float64) bool { return x > y }},
		"Lte": {build: G.Lte, of: func(x, y float64) bool { return x <= y }},
		"Gte": {build: G.Gte, of: func(x, y float64) bool { return x >= y }},
		"Eq":  {build: G.Eq, of: func(x, y float64) bool { return x == y }},
		"Ne":  {build: G.Ne, of: func(x, y float64) bool { return x != y }},
	} {
		for _, same := range []bool{true, false} {
			cases[fmt.Sprint(name, ", numbers: ", same)] = binaryCase{
				build: func(x, y *G.Node) (*G.Node, error) { return c.build(x, y, same) },
				of: func(x, y float64) float64 {
					if c.of(x, y) {
						return 1
					}
					return 0
				},
				by: stock.Loop, noGrad: true,
			}
		}
	}
	return cases
}

// better returns y if it is better or NaN, otherwise x.
func better(is func(x, y float64) bool) func(x, y float64) float64 {
	return func(x, y float64) float64 {
		if is(y, x) || y != y {
			return y
		}
		return x
	}
}

func TestBinary(t *testing.T) {
	var cases []stockCase
	for name, c := range binaries() {
		for _, shapes := range [][]tensor.Shape{
			{{5}, {5}}, {{1}, {1}}, {{3, 4}, {3, 4}}, {{1, 4}, {1, 4}}, {{2, 3, 4}, {2, 3, 4}}, {{70, 300}, {70, 300}},
			{{2, 1, 3, 2}, {2, 1, 3, 2}}, {{3, 4}, {}}, {{}, {3, 4}}, {{70, 300}, {}}, {{}, {70, 300}},
		} {
			if c.noNumber && len(shapes[0]) != len(shapes[1]) {
				continue
			}
			cases = append(cases, stockCase{
				name: fmt.Sprint(name, shapes), shapes: shapes, by: c.by, noGrad: c.noGrad, naive: c.naive,
				build: func(in G.Nodes) (*G.Node, error) { return c.build(in[0], in[1]) },
			})
		}
	}
	checkAll(t, cases)
}

// naive computes the case; either input may be a single number.
func (c binaryCase) naive(in [][]float64) []float64 {
	z := make([]float64, max(len(in[0]), len(in[1])))
	for i := range z {
		z[i] = c.of(in[0][i%len(in[0])], in[1][i%len(in[1])])
	}
	return z
}

// An operation gives the zeros, infinities and NaNs of Go; the smaller and the larger of two numbers are NaN if one is,
// as in torch.minimum and torch.maximum.
func TestBinaryOfExtremes(t *testing.T) {
	var all [2][]float64
	for _, x := range extremes {
		for _, y := range extremes {
			all[0], all[1] = append(all[0], x), append(all[1], y)
		}
	}
	n := len(all[0])
	for name, c := range binaries() {
		for _, dt := range []tensor.Dtype{tensor.Float32, tensor.Float64} {
			g := G.NewGraph()
			values := map[*G.Node]G.Value{}
			var in [2]*G.Node
			var given [2][]float64
			for i, v := range all {
				in[i] = G.NewVector(g, dt, G.WithShape(n), G.WithName(fmt.Sprint("x", i)))
				values[in[i]] = dense(dt, v, n)
				given[i] = tensors.Float64s(values[in[i]])
			}
			got := tensors.Float64s(evaluate(t, G.Must(c.build(in[0], in[1])), values))
			for i := range n {
				x, y := given[0][i], given[1][i]
				requireLike(t, dt, rounded(dt, c.of(x, y)), got[i], "%s of %v and %v", name, x, y)
			}
		}
	}
}
