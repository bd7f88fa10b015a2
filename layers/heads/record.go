package heads

import (
	"errors"
	"math"
	"slices"

	"attention/internal/dense"
	"attention/layers"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Record sums up the statistics of calls of one graph head by head, as package train/record records them. numbers
// returns, from the values of nodes, the entropies and largest scores (…, H, T) of call after call:
//
//	entropy.PATH        (H): the mean over the queries of the weights' entropy, in nats
//	largest_score.PATH  (H): the largest score that the softmax sees
//
// Queries that see no key do not count. The numbers of a layer are over all its calls.
//
// A head whose entropy falls towards 0 looks at one key only: attention entropy collapse, which goes with scores that
// grow and with training that breaks down (Zhai et al. 2023, "Stabilizing Transformer Training by Preventing Attention
// Entropy Collapse"). AttentionConfig.QKNorm bounds the scores.
//
// The call of an attention that is not observed costs another forward; see layers.Build.Observe.
func Record(calls []*layers.AttentionCall) (
	nodes G.Nodes, numbers func(values []*tensor.Dense) (map[string][]float64, error), err error,
) {
	if len(calls) == 0 {
		return nil, nil, errors.New("heads: record: got no attention, want at least one of Build.Calls")
	}
	for _, c := range calls {
		if c == nil || c.Input.Query == nil {
			return nil, nil, errors.New("heads: record: got nil or a zero call, want one of Build.Calls")
		}
		stats, err := c.Stats()
		if err != nil {
			return nil, nil, err
		}
		nodes = append(nodes, stats.Entropy, stats.MaxScore)
	}
	return nodes, func(values []*tensor.Dense) (map[string][]float64, error) { return sumUp(calls, nodes, values) }, nil
}

// sumUp returns the numbers of Record.
func sumUp(calls []*layers.AttentionCall, nodes G.Nodes, values []*tensor.Dense) (map[string][]float64, error) {
	if !slices.EqualFunc(values, nodes, isValue) {
		return nil, errors.New("heads: record: got values of other nodes, want those of Record")
	}
	all, queries := map[string][]float64{}, map[string][]float64{}
	for i, c := range calls {
		shape := values[2*i].Shape()
		H, T := shape[shape.Dims()-2], shape[shape.Dims()-1]
		entropy, largest := "entropy."+c.Path, "largest_score."+c.Path
		if all[entropy] == nil {
			all[entropy], all[largest] = make([]float64, H), slices.Repeat([]float64{math.Inf(-1)}, H)
			queries[entropy] = make([]float64, H)
		}
		entropies, scores := dense.Float64s(values[2*i]), dense.Float64s(values[2*i+1])
		for at, score := range scores {
			if h := at / T % H; !math.IsInf(score, -1) {
				queries[entropy][h]++
				all[entropy][h] += entropies[at]
				all[largest][h] = math.Max(all[largest][h], score)
			}
		}
	}
	for name, n := range queries {
		for h := range n {
			all[name][h] /= math.Max(n[h], 1)
		}
	}
	return all, nil
}

// isValue reports whether d is a value of n.
func isValue(d *tensor.Dense, n *G.Node) bool {
	return d != nil && d.Dtype() == n.Dtype() && d.Shape().Eq(n.Shape()) && n.Shape().Dims() >= 2
}
