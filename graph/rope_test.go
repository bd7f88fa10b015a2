package graph_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"attention/graph"
	"attention/graph/machine"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

func rotate(c graph.RoPEConfig) func(in G.Nodes) (*G.Node, error) {
	return func(in G.Nodes) (*G.Node, error) { return graph.RoPE(in[0], second(in), c) }
}

// naiveRoPE multiplies each head by the paper's matrix, element by element.
func naiveRoPE(c graph.RoPEConfig) func(in []array) array {
	return func(in []array) array {
		x, at := in[0].rows(), positionsOf(in)
		heads := max(c.Heads, 1)
		d := x.shape[1] / heads
		dims, base := c.Dims, c.Base
		if dims == 0 {
			dims = d
		}
		if base == 0 {
			base = 10000
		}
		if c.Scaling == graph.NTKScaling {
			base *= math.Pow(c.Factor, float64(dims)/float64(dims-2))
		}
		length := 1.0
		if c.Scaling == graph.YaRNScaling {
			if length = c.AttentionFactor; length == 0 {
				length = 0.1*math.Log(c.Factor) + 1
			}
		}
		y := array{in[0].shape, append([]float64{}, x.v...)}
		for row := range x.shape[0] {
			p := at(row)
			if c.Scaling == graph.LinearScaling {
				p /= c.Factor
			}
			for h := range heads {
				for i := range dims / 2 {
					a, b := h*d+i, h*d+i+dims/2
					if c.Interleaved {
						a, b = h*d+2*i, h*d+2*i+1
					}
					if c.AtEnd {
						a, b = a+d-dims, b+d-dims
					}
					w := naiveFrequency(c, i, dims, math.Pow(base, -2*float64(i)/float64(dims)))
					cos, sin := length*math.Cos(p*w), length*math.Sin(p*w)
					y.v[x.i(row, a)] = cos*x.at(row, a) - sin*x.at(row, b)
					y.v[x.i(row, b)] = sin*x.at(row, a) + cos*x.at(row, b)
				}
			}
		}
		return y
	}
}

// naiveFrequency returns the frequency of pair i, w before the scaling, by the cases of Hugging Face's code.
func naiveFrequency(c graph.RoPEConfig, i, dims int, w float64) float64 {
	or := func(v, other float64) float64 {
		if v == 0 {
			return other
		}
		return v
	}
	original := float64(c.OriginalLength)
	switch c.Scaling {
	case graph.Llama3Scaling:
		low, high := or(c.LowFreqFactor, 1), or(c.HighFreqFactor, 4)
		wave := 2 * math.Pi / w
		switch {
		case wave < original/high:
			return w
		case wave > original/low:
			return w / c.Factor
		}
		smooth := (original/wave - low) / (high - low)
		return (1-smooth)*w/c.Factor + smooth*w
	case graph.YaRNScaling:
		pair := func(turns float64) float64 {
			return float64(dims) * math.Log(original/(turns*2*math.Pi)) / (2 * math.Log(or(c.Base, 10000)))
		}
		first := math.Max(math.Floor(pair(or(c.BetaFast, 32))), 0)
		last := math.Min(math.Ceil(pair(or(c.BetaSlow, 1))), float64(dims-1))
		switch {
		case float64(i) <= first:
			return w
		case float64(i) >= last:
			return w / c.Factor
		}
		slowed := (float64(i) - first) / (last - first)
		return w/c.Factor*slowed + w*(1-slowed)
	}
	return w
}

// far is a position far beyond the training's.
func far(width int, at float64) func(r *rand.Rand) []input {
	return then(shapes(s{2, 5, width}), key(at))
}

func ropeCases() []opCase {
	var cases []opCase
	add := func(name string, c graph.RoPEConfig, in func(r *rand.Rand) []input) {
		cases = append(cases, opCase{name: name, op: rotate(c), want: naiveRoPE(c), in: in})
	}
	linear := graph.RoPEConfig{Scaling: graph.LinearScaling, Factor: 2.5}
	ntk := graph.RoPEConfig{Scaling: graph.NTKScaling, Factor: 2.5}
	with := func(c graph.RoPEConfig, heads, dims int, interleaved bool) graph.RoPEConfig {
		c.Heads, c.Dims, c.Interleaved = heads, dims, interleaved
		return c
	}
	three := graph.RoPEConfig{Heads: 3}
	add("rope", graph.RoPEConfig{}, place("", 14))
	add("rope_heads", three, place("", 3*14))
	add("rope_part", with(three, 3, 4, false), place("start", 3*7))
	add("rope_base", graph.RoPEConfig{Base: 500000}, place("rows", 14))
	add("rope_linear", with(linear, 3, 0, false), place("batches", 3*14))
	add("rope_ntk", with(ntk, 3, 10, false), place("start", 3*11))
	add("rope_interleaved", with(three, 1, 0, true), place("", 14))
	add("rope_interleaved_heads", with(three, 3, 0, true), place("negative start", 3*14))
	add("rope_interleaved_part", with(three, 3, 4, true), place("rows", 3*7))
	add("rope_interleaved_linear", with(linear, 0, 0, true), place("", 14))
	add("rope_interleaved_ntk", with(ntk, 0, 0, true), place("rows", 14))
	add("rope_start", three, place("start", 3*14))
	add("rope_huge_start", three, place("", 3*14)) // only in the comparison with PyTorch
	add("rope_negative_start", with(three, 3, 0, true), place("negative start", 3*14))
	add("rope_rows", graph.RoPEConfig{}, place("rows", 14))
	add("rope_batches", three, place("batches", 3*14))
	add("rope_interleaved_batches", with(three, 3, 6, true), place("batches", 3*7))
	add("rope_llama3", graph.RoPEConfig{Heads: 3, Base: 500000, Scaling: graph.Llama3Scaling, Factor: 8,
		OriginalLength: 8192}, far(3*26, 1700))
	add("rope_llama3_factors", graph.RoPEConfig{Interleaved: true, Scaling: graph.Llama3Scaling, Factor: 32,
		OriginalLength: 512, LowFreqFactor: 2, HighFreqFactor: 16}, far(14, 700))
	add("rope_yarn", graph.RoPEConfig{Heads: 3, Scaling: graph.YaRNScaling, Factor: 4, OriginalLength: 4096},
		far(3*26, 1700))
	add("rope_yarn_factors", graph.RoPEConfig{Base: 100, Interleaved: true, Scaling: graph.YaRNScaling, Factor: 2.5,
		OriginalLength: 64, BetaSlow: 2, BetaFast: 8, AttentionFactor: 0.75}, far(14, 99))
	add("rope_yarn_short", graph.RoPEConfig{Scaling: graph.YaRNScaling, Factor: 4, OriginalLength: 3}, far(14, 5))
	add("rope_one_row", graph.RoPEConfig{}, then(shapes(s{3, 1, 2}), key(7)))
	add("rope_large", with(three, 3, 22, false), then(shapes(s{2, 211, 3 * 26}), key(5))) // several blocks
	add("rope_large_batches", with(three, 3, 22, true), func(r *rand.Rand) []input {
		p := zeros(2, 211)
		for i := range p.v {
			p.v[i] = float64(r.IntN(1000))
		}
		return append(inputs(normal(r, 2, 211, 3*26)), input{array: p, integer: true})
	})
	return cases
}

// The score of a query and a key depends on their distance alone, however far out.
func TestRoPEScoresDependOnDistance(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	q, k := normal(r, 1, 14), normal(r, 1, 14)
	for _, c := range []graph.RoPEConfig{{}, {Interleaved: true}, {Dims: 6}, {Scaling: graph.NTKScaling, Factor: 4}} {
		score := func(at, from float64) float64 {
			a := express(t, rotate(c), append(inputs(q), key(at)), tensor.Float64).onOurs(t).out
			b := express(t, rotate(c), append(inputs(k), key(from)), tensor.Float64).onOurs(t).out
			return naiveMatMul(a, naiveTranspose(b)).v[0]
		}
		want := score(3, 0)
		for _, far := range []float64{-1e6, -5, 1, 1000, 1e6} {
			require.InDelta(t, want, score(far+3, far), 1e-8)
		}
		require.Greater(t, math.Abs(want-score(4, 0)), 1e-3, "and on the distance it does")
	}
}

// Position 0 leaves x unchanged, and elements outside the dims stay unchanged everywhere.
func TestRoPELeavesAlone(t *testing.T) {
	for _, dt := range []tensor.Dtype{tensor.Float32, tensor.Float64} {
		x := normal(rand.New(rand.NewPCG(3, 4)), 1, 2*7)
		x = arrayOf(t, x.value(dt))
		for i := range 4 {
			c := graph.RoPEConfig{Heads: 2, Dims: 4, Interleaved: i%2 == 1, AtEnd: i > 1}
			at := func(p float64) array { return express(t, rotate(c), append(inputs(x), key(p)), dt).onOurs(t).out }
			require.Equal(t, bits(x), bits(at(0)))
			far := at(1e6)
			for j := range 14 {
				require.Equal(t, c.AtEnd && j%7 < 3 || !c.AtEnd && j%7 >= 4, x.v[j] == far.v[j], "element %d", j)
			}
		}
	}
}

// For float32 input, an angle of a million is as exact as any other: it is not computed in float32, in which adjacent
// numbers are 0.06 apart there.
func TestRoPEOfHugePositionsInFloat32(t *testing.T) {
	for _, p := range []float64{1e6, 1e6 + 1, 16777217, -1e6, 1e9 + 1} {
		in := append(inputs(of([]float64{1, 0}, 1, 2)), key(p))
		got := express(t, rotate(graph.RoPEConfig{}), in, tensor.Float32).onOurs(t).out
		near(t, "turned", of([]float64{math.Cos(p), math.Sin(p)}, 1, 2), got, 1e-6)
	}
}

// Each row gets the bits that it gets alone, although the angles of a position that several rows share are computed
// once.
func TestRoPEOfRepeatedPositions(t *testing.T) {
	const rows, width = 12, 2 * 6
	for _, dt := range []tensor.Dtype{tensor.Float32, tensor.Float64} {
		x := arrayOf(t, normal(rand.New(rand.NewPCG(5, 6)), 2, rows/2, width).value(dt))
		for _, c := range []graph.RoPEConfig{
			{Heads: 2}, {Heads: 2, Interleaved: true, Scaling: graph.LinearScaling, Factor: 3},
		} {
			for _, first := range []float64{-2, 0, 7, 1e9} {
				positions := zeros(2, rows/2)
				for i := range positions.v {
					positions.v[i] = first + float64(i%3)
				}
				got := express(t, rotate(c), append(inputs(x), input{array: positions, integer: true}), dt).onOurs(t).out
				for i, at := range positions.v {
					row := of(x.v[i*width:][:width], 1, width)
					want := express(t, rotate(c), append(inputs(row), key(at)), dt).onOurs(t).out
					require.Equal(t, bits(want), bits(of(got.v[i*width:][:width], 1, width)), "row %d from %v", i, first)
				}
			}
		}
	}
}

// Any two settings on one input are two nodes, and a zero equals the default that it means.
func TestRoPEsOfOneNodeAreTold(t *testing.T) {
	g := G.NewGraph()
	x, p := bench{g}.f(2, 3, 12), bench{g}.ids(3)
	made := map[*G.Node]int{}
	add := func(positions *G.Node, c graph.RoPEConfig) *G.Node {
		n, err := graph.RoPE(x, positions, c)
		require.NoError(t, err)
		return n
	}
	settings := []graph.RoPEConfig{{}, {Heads: 2}, {Heads: 3}, {Dims: 4}, {Dims: 4, AtEnd: true}, {Base: 5},
		{Interleaved: true}, {Scaling: graph.LinearScaling, Factor: 2}, {Scaling: graph.NTKScaling, Factor: 2}, {Scaling: graph.NTKScaling, Factor: 3}}
	for i, c := range settings {
		for _, positions := range []*G.Node{nil, p, bench{g}.ids()} {
			n := add(positions, c)
			require.NotContains(t, made, n, "%+v", c)
			made[n] = i
			require.Same(t, n, add(positions, c))
		}
	}
	require.Same(t, add(p, graph.RoPEConfig{}), add(p, graph.RoPEConfig{Heads: 1, Dims: 12, Base: 10000}))
	require.Same(t, add(p, graph.RoPEConfig{}), add(p, graph.RoPEConfig{Scaling: graph.LinearScaling, Factor: 1}))
}

// valueOf runs the node on our machine.
func valueOf(t *testing.T, n *G.Node) array {
	t.Helper()
	m, err := machine.New(n)
	require.NoError(t, err)
	defer m.Close()
	require.NoError(t, m.RunAll())
	return arrayOf(t, n.Value())
}
