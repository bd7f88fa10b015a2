package main

import (
	"slices"

	"attention/graph"

	G "gorgonia.org/gorgonia"
)

// normOps are norms, activations and what takes tensors apart.
func normOps() []gradcheckCase {
	return slices.Concat(layerNormOps(), rootNormOps(), activationOps(), partOps())
}

func layerNormOps() []gradcheckCase {
	layerNorm := func(about string, bias bool, eps float64, shape ...int) gradcheckCase {
		return opCase("LayerNorm", about, func(g *checkedGraph) (*G.Node, error) {
			width := shape[len(shape)-1]
			x, weight := g.input("x", shape...), g.input("weight", width)
			if !bias {
				return graph.LayerNorm(x, weight, nil, eps)
			}
			return graph.LayerNorm(x, weight, g.input("bias", width), eps)
		})
	}
	return []gradcheckCase{
		layerNorm("bias", true, 1e-5, 2, 3, 5),
		layerNorm("no bias", false, 1e-5, 2, 3, 5),
		layerNorm("one vector", true, 1e-5, 7),
		layerNorm("large eps", true, 0.7, 3, 5),
		layerNorm("E=1", true, 1e-5, 3, 1),
	}
}

func rootNormOps() []gradcheckCase {
	var cases []gradcheckCase
	for _, norm := range []struct {
		name string
		op   func(x, weight *G.Node, eps float64) (*G.Node, error)
	}{{"RMSNorm", graph.RMSNorm}, {"L2Norm", graph.L2Norm}} {
		of := func(eps float64) func(x, weight *G.Node) (*G.Node, error) {
			return func(x, weight *G.Node) (*G.Node, error) { return norm.op(x, weight, eps) }
		}
		cases = append(cases,
			twoInputs(norm.name, "3-D", of(1e-6), []int{2, 3, 5}, []int{5}),
			twoInputs(norm.name, "three heads", of(1e-6), []int{2, 5, 21}, []int{7}),
			twoInputs(norm.name, "one vector", of(1e-6), []int{7}, []int{7}),
			twoInputs(norm.name, "large eps", of(20), []int{3, 5}, []int{5}),
			opCase(norm.name, "x by itself", func(g *checkedGraph) (*G.Node, error) {
				x := g.input("x", 5)
				return norm.op(x, x, 1e-6)
			}))
	}
	return cases
}

func activationOps() []gradcheckCase {
	softcap := func(limit float64) func(*G.Node) (*G.Node, error) {
		return func(x *G.Node) (*G.Node, error) { return graph.Softcap(x, limit) }
	}
	return []gradcheckCase{
		oneInput("GELU", "(2, 3, 5)", graph.GELU, 2, 3, 5),
		oneInput("GELUTanh", "(2, 3, 5)", graph.GELUTanh, 2, 3, 5),
		oneInput("Sigmoid", "(2, 3, 5)", graph.Sigmoid, 2, 3, 5),
		oneInput("SiLU", "(2, 3, 5)", graph.SiLU, 2, 3, 5),
		oneInput("Softcap", "at 0.7", softcap(0.7), 2, 3, 5),
		oneInput("Softcap", "at 30", softcap(30), 2, 3, 5),
		twoInputs("SwiGLU", "(2, 3, 5)", graph.SwiGLU, []int{2, 3, 5}, []int{2, 3, 5}),
		opCase("SwiGLU", "x by itself", func(g *checkedGraph) (*G.Node, error) {
			x := g.input("x", 2, 3)
			return graph.SwiGLU(x, x)
		}),
	}
}

func partOps() []gradcheckCase {
	split := func(about string, chosen ...int) gradcheckCase {
		return oneInput("Split", about, func(x *G.Node) (*G.Node, error) {
			parts, err := graph.Split(x, 2, 1, 4)
			if err != nil {
				return nil, err
			}
			var join G.Nodes
			for _, i := range chosen {
				join = append(join, parts[i])
			}
			return graph.Concat(join...)
		}, 2, 3, 7)
	}
	rows := func(from, n int) func(*G.Node) (*G.Node, error) {
		return func(x *G.Node) (*G.Node, error) { return graph.Rows(x, from, n) }
	}
	return []gradcheckCase{
		split("all parts", 2, 1, 0),
		split("one part", 1),
		split("two parts, one twice", 2, 0, 2),
		oneInput("Rows", "in the middle", rows(1, 2), 5, 2, 3),
		oneInput("Rows", "all", rows(0, 5), 5, 3),
		opCase("Rows", "that overlap", func(g *checkedGraph) (*G.Node, error) {
			x := g.input("x", 5, 3)
			first, err := graph.Rows(x, 0, 3)
			if err != nil {
				return nil, err
			}
			second, err := graph.Rows(x, 2, 3)
			if err != nil {
				return nil, err
			}
			return graph.Mul(first, second)
		}),
		oneInput("Transpose", "(3, 5)", graph.Transpose, 3, 5),
		oneInput("AverageHeads", "4-D", graph.AverageHeads, 2, 3, 5, 7),
		oneInput("AverageHeads", "one head", graph.AverageHeads, 1, 5, 7),
	}
}
