package heads_test

import (
	"cmp"
	"math"
	"testing"

	"attention/layers"
	"attention/layers/gradcases"
	"attention/layers/heads"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
)

// The operands of each head, and the keys that its queries see, give the weights and the heads' outputs.
func TestOperandsOfHeads(t *testing.T) {
	for _, a := range gradcases.Attentions() {
		name, c := a.About, a.Config
		if !a.OfX() || c.Score != nil || c.Differential != nil { // whose weights are no function of one score
			continue
		}
		b, call := attend(t, c, 7, 5)
		o, nodes := operandsOf(t, call)
		w := b.Of(call.Weights())
		require.NoError(t, b.Err(), name)
		want := values(t, append(G.Nodes{w}, nodes...)...)[0]
		T, S, D := 7, o.Key.Shape()[0], o.Query.Shape()[1]/o.Config.Heads
		for head := range o.Config.Heads {
			h, err := heads.Of(o, head)
			require.NoError(t, err, name)
			shown, err := heads.Shown(o, head)
			require.NoError(t, err, name)
			turned := c.QKNorm != "" || c.RoPE != nil || c.Latent != nil || S > 7
			require.Equal(t, turned, h.ProjectedQuery != nil, name)
			require.Len(t, h.Value, S*o.Value.Shape()[1]/cmp.Or(o.Config.KVHeads, o.Config.Heads), name)
			for q := range T {
				keys := shown.Keys[2*shown.Start[q] : 2*shown.Start[q+1]]
				require.InDeltaSlice(t, want[(head*T+q)*S:][:S], weightsOfHead(o, h, keys, q, S, D), 1e-5,
					"%s: head %d, query %d", name, head, q)
			}
		}
		_, err := heads.Of(o, o.Config.Heads)
		require.ErrorContains(t, err, "heads: head: got ")
	}
}

// weightsOfHead returns the weights (S) of query q from the operands of a head.
func weightsOfHead(o layers.AttentionOperands, h heads.Operands, shown []uint32, q, S, D int) []float64 {
	weights, total := make([]float64, S), 0.0
	if h.Sink != nil {
		total = math.Exp(*h.Sink)
	}
	scale := o.Config.Scale
	if scale == 0 {
		scale = 1 / math.Sqrt(float64(D))
	}
	for i := 0; i < len(shown); i += 2 {
		for s := int(shown[i]); s < int(shown[i+1]); s++ {
			score := 0.0
			for d := range D {
				score += scale * float64(h.Query[q*D+d]) * float64(h.Key[s*D+d])
			}
			if o.Config.Softcap > 0 {
				score = o.Config.Softcap * math.Tanh(score/o.Config.Softcap)
			}
			if h.Bias != nil {
				score += float64(h.Bias[q-s+S-1])
			}
			for i := s + 1; i <= q && h.LogGates != nil; i++ {
				score += float64(h.LogGates[i])
			}
			weights[s] = math.Exp(score)
			total += weights[s]
			if o.Config.Sigmoid {
				weights[s] = 1 / (1 + math.Exp(-score-o.Config.SigmoidBias))
			}
		}
	}
	if o.Config.Sigmoid || total == 0 {
		return weights
	}
	for s := range weights {
		weights[s] /= total
	}
	return weights
}

// Operands without values, and those of several texts, have no numbers of a head.
func TestOperandsOfHeadsRefused(t *testing.T) {
	_, call := attend(t, layers.AttentionConfig{EmbedDim: 5, NumHeads: 3, HeadDim: 4}, 2, 7, 5)
	o, nodes := operandsOf(t, call)
	for _, want := range []string{"heads: got one without a value, want those of a run", "heads: got one of shape (2, 7, "} {
		_, err := heads.Of(o, 0)
		require.ErrorContains(t, err, want)
		_, err = heads.Shown(o, 0)
		require.ErrorContains(t, err, want)
		values(t, nodes...)
	}
}
