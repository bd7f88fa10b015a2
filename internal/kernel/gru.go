package kernel

import (
	"attention/internal/parallel"
	"attention/internal/simd"
)

// GRU is a run of gated recurrent units (Cho et al. 2014) over B sequences of T tokens, with states of H elements:
//
//	r, z = σ(x + W·h + b)
//	n = tanh(x + r⊙(W·h + b))
//	h ← (1 − z)⊙n + z⊙h
//
// where the rows of x, W and b are those of r, z and n one after another, as in torch.nn.GRU.
type GRU struct {
	B, T, H int
	Reverse bool    // from the last token to the first
	Lengths []int64 // of the sequences; nil means T. A token beyond leaves the state unchanged.
	// Precision of the products with W and of its gradient. That of float64 is Full.
	Precision Precision
}

// GRUForward writes the states after each token to out (B, T, H) and what the backward needs to gates (B, T, 4·H),
// for x (B, T, 3·H), the first state h0 (B, H), weight (3·H, H) and bias (3·H). A nil h0 or bias is 0.
func GRUForward[F Float](g GRU, out, gates, x, h0, weight, bias []F) {
	compiledFor[F]().gruForward(g, out, gates, x, h0, weight, bias)
}

func (compiledHere[F]) gruForward(g GRU, out, gates, x, h0, weight, bias []F) {
	g.check()
	fit("gru", g.B*g.T*g.H, len(out), len(gates)/4, len(x)/3)
	fit("gru", 3*g.H*g.H, len(weight))
	fitOrNil("gru", g.B*g.H, h0)
	fitOrNil("gru", 3*g.H, bias)
	for i := range g.T {
		t := g.token(i)
		h, ld := before(g, i, out, h0)
		Product[F]{M: g.B, N: 3 * g.H, K: width(h, g.H), Alpha: 1, A: Rows(h, ld), B: Transposed(weight, g.H),
			C: Rows(gates[4*t*g.H:], 4*g.T*g.H), Precision: g.Precision}.Compute()
		parallel.Do(gruStep[F]{g, t, ld, h, out, gates, x, bias}, g.B, rowGrain(grainSlow, g.H))
	}
}

// width returns the number of elements of a state h, 0 for nil, which means zeros.
func width[F Float](h []F, all int) int {
	if h == nil {
		return 0
	}
	return all
}

func (g GRU) check() {
	if min(g.B, g.T, g.H) < 1 {
		panic("kernel: gru: a size below 1")
	}
	if g.Lengths != nil {
		fit("gru", g.B, len(g.Lengths))
	}
}

// token returns the token of step i.
func (g GRU) token(i int) int {
	if g.Reverse {
		return g.T - 1 - i
	}
	return i
}

// beyond reports whether a token is behind the end of sequence b.
func (g GRU) beyond(b, t int) bool { return g.Lengths != nil && int64(t) >= g.Lengths[b] }

// before returns the states before step i, which lie ld elements apart; nil means 0.
func before[F Float](g GRU, i int, out, h0 []F) (h []F, ld int) {
	if i == 0 {
		return h0, g.H
	}
	return out[g.token(i-1)*g.H:], g.T * g.H
}

// gruStep computes the states of a token from W·h, which gates holds.
type gruStep[F Float] struct {
	GRU
	t, ld               int
	h, out, gates, x, b []F
}

func (s gruStep[F]) Do(lo, hi int) {
	for b := lo; b < hi; b++ {
		row, n := b*s.T+s.t, s.H
		out, gates, x := s.out[row*n:][:n], s.gates[4*row*n:][:4*n], s.x[3*row*n:][:3*n]
		if s.beyond(b, s.t) {
			clear(out)
			clear(gates)
			if s.h != nil {
				copy(out, s.h[b*s.ld:])
			}
			continue
		}
		if s.b != nil {
			for j, v := range s.b {
				gates[j] += v
			}
		}
		for j, v := range x[:2*n] {
			gates[j] += v
		}
		simd.Sigmoid(gates[:2*n], gates[:2*n])
		r, z, of, tanned := gates[:n], gates[n:2*n], gates[2*n:3*n], gates[3*n:]
		for j, v := range x[2*n:] {
			tanned[j] = v + r[j]*of[j]
		}
		simd.Tanh(tanned, tanned)
		for j, v := range tanned {
			out[j] = (1 - z[j]) * v
		}
		if s.h != nil {
			for j, v := range s.h[b*s.ld:][:n] {
				out[j] += z[j] * v
			}
		}
	}
}

// GRUGradients is the memory to which GRUBackward writes: the gradients of x, h0, weight and bias, which may be nil,
// and scratch memory of the size of X.
type GRUGradients[F Float] struct{ X, H0, Weight, Bias, Scratch []F }

// GRUBackward writes the gradients, given dout (B, T, H) and the operands and results of GRUForward.
func GRUBackward[F Float](g GRU, d GRUGradients[F], dout, out, gates, h0, weight []F) {
	compiledFor[F]().gruBackward(g, d, dout, out, gates, h0, weight)
}

func (compiledHere[F]) gruBackward(g GRU, d GRUGradients[F], dout, out, gates, h0, weight []F) {
	g.check()
	fit("gru", g.B*g.T*g.H, len(out), len(dout), len(gates)/4, len(d.X)/3, len(d.Scratch)/3)
	fit("gru", 3*g.H*g.H, len(weight), len(d.Weight))
	fit("gru", g.B*g.H, len(d.H0))
	fitOrNil("gru", g.B*g.H, h0)
	fitOrNil("gru", 3*g.H, d.Bias)
	clear(d.H0)
	for i := g.T - 1; i >= 0; i-- {
		t := g.token(i)
		h, ld := before(g, i, out, h0)
		parallel.Do(gruStepBackward[F]{g, t, ld, d, h, dout, gates}, g.B, rowGrain(grainSlow, g.H))
		Product[F]{M: g.B, N: g.H, K: 3 * g.H, Alpha: 1, A: Rows(d.Scratch[3*t*g.H:], 3*g.T*g.H), B: Rows(weight, g.H),
			Beta: 1, C: Rows(d.H0, g.H), Precision: g.Precision}.Compute()
	}
	// The gradient for W: the gradients for W·h of all steps, times h.
	first := g.token(0)
	dw := Product[F]{M: 3 * g.H, N: g.H, Alpha: 1, C: Rows(d.Weight, g.H), Precision: g.Precision}
	dw.K, dw.A, dw.B = width(h0, g.B), Transposed(d.Scratch[3*first*g.H:], 3*g.T*g.H), Rows(h0, g.H)
	dw.Compute()
	from, before := 1, 0
	if g.Reverse {
		from, before = 0, 1
	}
	for b := range g.B {
		dw.K, dw.A = g.T-1, Transposed(d.Scratch[3*(b*g.T+min(from, g.T-1))*g.H:], 3*g.H)
		dw.B, dw.Beta = Rows(out[(b*g.T+min(before, g.T-1))*g.H:], g.H), 1
		dw.Compute()
	}
	if d.Bias != nil {
		SumRows(d.Bias, d.Scratch)
	}
}

// gruStepBackward computes the gradients for a token's gates and, in H0, the part of the gradient for the previous
// state that does not pass through W.
type gruStepBackward[F Float] struct {
	GRU
	t, ld          int
	d              GRUGradients[F]
	h, dout, gates []F
}

// With dh the gradient of the token's state and w = W·h + b in n:  dn = dh·(1 − z)·(1 − n²), dz = dh·(h − n)·z·(1 − z),
// dr = dn·w·r·(1 − r), dw = dn·r, and dh·z for the state before.
func (s gruStepBackward[F]) Do(lo, hi int) {
	for b := lo; b < hi; b++ {
		row, n := b*s.T+s.t, s.H
		dh, dout := s.d.H0[b*n:][:n], s.dout[row*n:][:n]
		dx, dwh := s.d.X[3*row*n:][:3*n], s.d.Scratch[3*row*n:][:3*n]
		for j, v := range dout {
			dh[j] += v
		}
		if s.beyond(b, s.t) {
			clear(dx)
			clear(dwh)
			continue
		}
		gates := s.gates[4*row*n:][:4*n]
		for j, v := range dh {
			var h F
			if s.h != nil {
				h = s.h[b*s.ld+j]
			}
			r, z, w, tanned := gates[j], gates[n+j], gates[2*n+j], gates[3*n+j]
			dn := v * (1 - z) * (1 - tanned*tanned)
			dz := v * (h - tanned) * z * (1 - z)
			dr := dn * w * r * (1 - r)
			dx[j], dx[n+j], dx[2*n+j] = dr, dz, dn
			dwh[j], dwh[n+j], dwh[2*n+j] = dr, dz, dn*r
			dh[j] = v * z
		}
	}
}
