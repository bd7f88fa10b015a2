package graph

import G "gorgonia.org/gorgonia"

// AverageHeads returns the mean over the heads of attention weights (…, H, T, S), as
// (…, T, S) (torch's average_attn_weights).
func AverageHeads(weights *G.Node) (*G.Node, error) {
	in, err := checked("AverageHeads", named("weights"), weights)
	if err != nil {
		return nil, err
	}
	if s := in[0].Shape(); s.Dims() < 3 {
		return nil, &ShapeError{"AverageHeads", "weights", s, "(…, H, T, S)"}
	}
	return Mean(in[0], ReduceConfig{Dim: []int{-3}})
}
