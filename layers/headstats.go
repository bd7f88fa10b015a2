package layers

import (
	"errors"
	"math"
	"slices"

	"attention/internal/dense"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// HeadStats sums up the statistics of attentions head by head, as package train/record
// records them:
//
//	entropy.PATH        (H): the mean over the queries of the weights' entropy, in nats
//	largest_score.PATH  (H): the largest score that the softmax sees
//
// A head whose entropy falls towards 0 looks at one key only: attention entropy collapse,
// which goes with scores that grow and with training that breaks down (Zhai et al. 2023,
// "Stabilizing Transformer Training by Preventing Attention Entropy Collapse"). AttentionConfig.QKNorm
// bounds the scores.
type HeadStats struct {
	Nodes G.Nodes // to be computed for Numbers: entropies and largest scores (…, H, T), call by call
	paths []string
}

// NewHeadStats returns the statistics of calls of one graph. The call of an attention that is
// not observed costs another forward of it; see Build.Observe.
func NewHeadStats(calls []*AttentionCall) (*HeadStats, error) {
	if len(calls) == 0 {
		return nil, errors.New("layers: head stats: got no attention, want at least one of Build.Calls")
	}
	s := &HeadStats{}
	for _, c := range calls {
		if c == nil || c.build == nil {
			return nil, errors.New("layers: attention call: got nil or its zero value, want one of Build.Calls")
		}
		stats, err := c.Stats()
		if err != nil {
			return nil, err
		}
		s.Nodes, s.paths = append(s.Nodes, stats.Entropy, stats.MaxScore), append(s.paths, c.Path)
	}
	return s, nil
}

// Numbers returns the statistics by their names, from the values of Nodes. Queries that see
// no key do not count. Of several calls of a layer they are over all.
func (s *HeadStats) Numbers(values []*tensor.Dense) (map[string][]float64, error) {
	if len(values) != len(s.Nodes) {
		return nil, errors.New("layers: head stats: got values of other nodes, want those of Nodes")
	}
	all, queries := map[string][]float64{}, map[string][]float64{}
	for i, path := range s.paths {
		entropy, score := values[2*i], values[2*i+1]
		if !sameRows(entropy, s.Nodes[2*i]) || !sameRows(score, s.Nodes[2*i+1]) {
			return nil, errors.New("layers: head stats: got values of other nodes, want those of Nodes")
		}
		shape := entropy.Shape()
		H, T := shape[shape.Dims()-2], shape[shape.Dims()-1]
		if all["entropy."+path] == nil {
			all["entropy."+path], all["largest_score."+path] = make([]float64, H),
				slices.Repeat([]float64{math.Inf(-1)}, H)
			queries[path] = make([]float64, H)
		}
		entropies, scores := dense.Float64s(entropy), dense.Float64s(score)
		for at, largest := range scores {
			h := at / T % H
			if math.IsInf(largest, -1) {
				continue
			}
			queries[path][h]++
			all["entropy."+path][h] += entropies[at]
			all["largest_score."+path][h] = math.Max(all["largest_score."+path][h], largest)
		}
	}
	for path, n := range queries {
		for h := range n {
			all["entropy."+path][h] /= math.Max(n[h], 1)
		}
	}
	return all, nil
}

// sameRows reports whether d is a value of n.
func sameRows(d *tensor.Dense, n *G.Node) bool {
	return d != nil && d.Dtype() == n.Dtype() && d.Shape().Eq(n.Shape()) && n.Shape().Dims() >= 2
}
