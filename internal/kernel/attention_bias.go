package kernel

import "attention/internal/simd"

// relativeAt returns the index of the relative bias of query t0+i and key s0.
func (r *attentionRun[F]) relativeAt(x *scores[F], i int) int {
	return x.h*r.RelativeAt.Head + r.RelativeAt.Zero + x.query(i) - x.s0
}

// addRelative adds the relative bias to a tile.
func (r *attentionRun[F]) addRelative(x *scores[F]) {
	if x.queryStep == 1 && x.of == nil {
		at := r.relativeAt(x, 0)
		for j := range x.keys {
			line := x.data[j*x.keyStep:][:x.queries]
			for i, v := range r.In.Relative[at-j:][:len(line)] {
				line[i] += v
			}
		}
		return
	}
	for i := range x.queries {
		line, at := x.data[i*x.queryStep:], r.relativeAt(x, i)
		if x.keyStep > 1 {
			for j := range x.keys {
				line[j*x.keyStep] += r.In.Relative[at-j]
			}
			continue
		}
		line = line[:x.keys]
		for j := range line {
			line[j] += r.In.Relative[at-j]
		}
	}
}

// addBias adds the bias to a tile, or sets the tile to the bias if all its keys have one.
func (r *attentionRun[F]) addBias(x *scores[F], set bool) {
	at := &r.BiasAt
	switch {
	case x.keys == 0:
	case set && at.Key == 1 && x.queryStep == 1 && x.of == nil:
		simd.TransposePanel(x.keys, x.queries, r.In.Bias[r.biasAt(x, 0):], at.Query, x.data, x.keyStep)
	case set && at.Key == 1 && x.keyStep == 1:
		for i := range x.queries {
			copy(x.data[i*x.queryStep:][:x.keys], r.In.Bias[r.biasAt(x, i):])
		}
	default:
		for i := range x.queries {
			bias, line := r.In.Bias[r.biasAt(x, i):], x.data[i*x.queryStep:]
			for j := range x.keys {
				v := bias[j*at.Key]
				if !set {
					v += line[j*x.keyStep]
				}
				line[j*x.keyStep] = v
			}
		}
	}
}

// biasAt returns the index of the bias of query t0+i and key s0.
func (r *attentionRun[F]) biasAt(x *scores[F], i int) int {
	at := &r.BiasAt
	return x.b*at.Batch + x.h*at.Head + x.query(i)*at.Query + x.s0*at.Key
}

// addBiasGradients adds the gradients of the scores, one query in each row, to the gradients of the biases.
func (r *attentionRun[F]) addBiasGradients(tile *scores[F]) {
	x := tile.biased(&r.Attention)
	if r.grad.Relative != nil {
		for i := range x.queries {
			at := r.relativeAt(&x, i)
			for j, v := range x.data[i*x.queryStep:][:x.keys] {
				r.relativeSums[at-j] += float64(v)
			}
		}
	}
	switch {
	case r.grad.Bias == nil || x.keys == 0:
	case r.sumsBias():
		addTo(r, r.biasSums, &x)
	default:
		addTo(r, r.grad.Bias, &x)
	}
}

// addTo adds the gradients of the scores to an array like the bias.
func addTo[F, G Float](r *attentionRun[F], sums []G, x *scores[F]) {
	for i := range x.queries {
		bias, line := sums[r.biasAt(x, i):], x.data[i*x.queryStep:][:x.keys]
		if r.BiasAt.Key == 1 {
			bias = bias[:len(line)]
			for j, v := range line {
				bias[j] += G(v)
			}
			continue
		}
		for j, v := range line {
			bias[j*r.BiasAt.Key] += G(v)
		}
	}
}

// sumsBias reports whether many scores share an element of the bias: if so, its gradient is summed in float64.
func (r *attentionRun[F]) sumsBias() bool { return r.BiasAt.Query == 0 || r.BiasAt.Key == 0 }

// beginBias clears the sums of the gradients of the biases.
func (r *attentionRun[F]) beginBias() {
	r.relativeSums, r.biasSums = resize(r.relativeSums, len(r.grad.Relative)), r.biasSums[:0]
	clear(r.relativeSums)
	if r.grad.Bias == nil {
		return
	}
	if r.sumsBias() {
		r.biasSums = resize(r.biasSums, len(r.grad.Bias))
	}
	r.eachBias(func(i int) {
		r.grad.Bias[i] = 0
		if r.sumsBias() {
			r.biasSums[i] = 0
		}
	})
}

// endBias writes the gradients that were added up in float64.
func (r *attentionRun[F]) endBias() {
	for i, sum := range r.relativeSums {
		r.grad.Relative[i] = F(sum)
	}
	if len(r.biasSums) > 0 {
		r.eachBias(func(i int) { r.grad.Bias[i] = F(r.biasSums[i]) })
	}
}

// eachBias calls f with the index of every element of the bias, but not of the gaps between them.
func (r *attentionRun[F]) eachBias(f func(i int)) {
	once := func(n, step int) int {
		if step == 0 {
			return min(n, 1)
		}
		return n
	}
	at := &r.BiasAt
	for b := range once(r.B, at.Batch) {
		for h := range once(r.H, at.Head) {
			for t := range once(r.T, at.Query) {
				for s := range once(r.biased(), at.Key) {
					f(b*at.Batch + h*at.Head + t*at.Query + s*at.Key)
				}
			}
		}
	}
}
