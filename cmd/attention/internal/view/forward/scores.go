package forward

import (
	"math"

	"attention/layers/heads"
)

// row returns the scores and the weights (H, S) of a query, in which hidden keys are NaN.
func (l *Layer) row(t int) (scores, weights []float32, err error) {
	for head := range l.Heads {
		of, _, err := l.Head(head)
		if err != nil {
			return nil, nil, err
		}
		summary, err := l.Summary(head)
		if err != nil {
			return nil, nil, err
		}
		s, w := make([]float32, l.S), make([]float32, l.S)
		for k := range s {
			s[k], w[k] = float32(l.score(of, t, k)), float32(math.NaN())
		}
		seen := l.seen(head, t)
		for i := 0; i < len(seen); i += 2 {
			for k := seen[i]; k < seen[i+1]; k++ {
				w[k] = float32(l.weight(l.score(of, t, int(k)), float64(summary.LSE[t])))
			}
		}
		scores, weights = append(scores, s...), append(weights, w...)
	}
	return scores, weights, nil
}

// score returns the input of the softmax for a query and a key, even if the mask hides the key.
func (l *Layer) score(h heads.Operands, t, key int) (score float64) {
	q, k := h.Query[t*l.Width:][:l.Width], h.Key[key*l.Width:][:l.Width]
	for d := range q {
		if l.Additive {
			score += float64(h.Additive[d]) * math.Tanh(float64(q[d])+float64(k[d]))
		} else {
			score += float64(q[d]) * float64(k[d])
		}
	}
	score *= l.Scale
	if l.Softcap > 0 {
		score = l.Softcap * math.Tanh(score/l.Softcap)
	}
	if h.Bias != nil {
		score += float64(h.Bias[t-key+l.S-1])
	}
	n := len(h.LogGates) // the last l.T positions are those of the queries
	own := n - l.T + t
	for i := min(key, own) + 1; i <= max(key, own) && key < n; i++ {
		score += math.Copysign(1, float64(own-key)) * float64(h.LogGates[i])
	}
	return score
}

// weight computes the weight of a score from the log-sum-exp of its query.
func (l *Layer) weight(score, lse float64) float64 {
	if l.Sigmoid {
		return 1 / (1 + math.Exp(-score-l.SigmoidBias))
	}
	return math.Exp(score - lse)
}
