package graph_test

import (
	"math"

	"attention/graph"

	G "gorgonia.org/gorgonia"
)

func layerNorm(in G.Nodes) (*G.Node, error) {
	if len(in) == 2 {
		return layerNormBy(in[0], in[1], nil)
	}
	return layerNormBy(in[0], in[1], in[2])
}

func layerNormBy(x, weight, bias *G.Node) (*G.Node, error) {
	return graph.LayerNorm(x, weight, bias, 1e-5)
}

func naiveLayerNorm(in []array) array {
	y := in[0].like()
	x, to := in[0].rows(), y.rows()
	for r := range x.shape[0] {
		n := float64(x.shape[1])
		var mean, variance float64
		for c := range x.shape[1] {
			mean += x.at(r, c) / n
		}
		for c := range x.shape[1] {
			variance += (x.at(r, c) - mean) * (x.at(r, c) - mean) / n
		}
		for c := range x.shape[1] {
			to.v[to.i(r, c)] = (x.at(r, c) - mean) / math.Sqrt(variance+1e-5) * in[1].at(c)
			if len(in) > 2 {
				to.v[to.i(r, c)] += in[2].at(c)
			}
		}
	}
	return y
}

func layerNormCases() []opCase {
	return []opCase{
		{name: "layer_norm", op: layerNorm, want: naiveLayerNorm, in: shapes(s{2, 3, 7}, s{7}, s{7})},
		{name: "layer_norm_no_bias", op: layerNorm, want: naiveLayerNorm, in: shapes(s{5, 7}, s{7})},
		{name: "layer_norm_vector", op: layerNorm, want: naiveLayerNorm, in: shapes(s{7}, s{7}, s{7})},
		{name: "layer_norm_width_one", op: layerNorm, want: naiveLayerNorm, in: shapes(s{3, 1}, s{1}, s{1})},
	}
}
