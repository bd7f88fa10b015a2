package kernel

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// products returns the multiply-adds of a pass with gradients of the form in chunks of n tokens, without what the
// backward computes again.
func (l LinearAttention) products(delta bool) float64 {
	n, D, DV := float64(l.Chunk()), float64(l.D), float64(l.DV)
	rows := float64(l.H/l.K) * n
	queries := rows
	triangles := 0.0
	if delta {
		rows += n
		triangles = n * n * DV // both solutions
	}
	forward := rows*n*D + rows*D*DV + queries*n*DV + n*D*DV
	backward := queries*n*DV + n*D*DV + rows*n*DV + rows*D*DV + n*D*DV + 2*rows*n*D + rows*D*DV
	return (forward + backward + triangles) * float64(l.T) / n * float64(l.K*l.B)
}

func BenchmarkLinearAttention(b *testing.B) {
	for _, T := range []int{4096, 16384} {
		for _, form := range []string{"plain", "gated", "channels", "delta", "gated delta"} {
			c := linearCase{LinearAttention: LinearAttention{B: 1, T: T, H: 12, K: 12, D: 64, DV: 64, Scale: 0.125},
				strength: 0.1}
			c.decay, c.beta = form != "plain" && form != "delta", form == "delta" || form == "gated delta"
			c.Channels = form == "channels"
			b.Run(fmt.Sprintf("T=%d/%s", T, form), func(b *testing.B) { benchmarkLinear(b, c) })
		}
	}
}

func benchmarkLinear(b *testing.B, c linearCase) {
	in := narrowLinear(c.draw(rand.New(rand.NewPCG(1, 2))))
	out, states := make([]float32, c.B*c.T*c.H*c.DV), make([]float32, c.States()*c.stateSize())
	grad := in.like()
	b.ResetTimer()
	for range b.N {
		LinearForward(c.LinearAttention, out, states, in)
		LinearBackward(c.LinearAttention, grad, out, states, in)
	}
	seconds := b.Elapsed().Seconds() / float64(b.N)
	b.ReportMetric(2*c.products(c.beta)/seconds/1e9, "GFLOP/s")
}
