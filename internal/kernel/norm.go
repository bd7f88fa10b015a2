package kernel

import "math"

// LayerNorm writes y = (x − mean)·rstd·gamma + beta for every row of cols elements, with the
// row's mean and rstd = 1/√(variance + eps), the variance without Bessel's correction (torch's layer_norm).
// gamma and beta have cols elements, or are nil. mean and rstd have one element for each row; y may be x.
func LayerNorm[F Float](y, mean, rstd, x, gamma, beta []F, cols int, eps float64) {
	const name = "layer norm"
	rows := fitRows(name, len(x), cols)
	fit(name, len(x), len(y))
	fit(name, rows, len(mean), len(rstd))
	fitOrNil(name, cols, gamma, beta)
	vectorTask[F]{kind: taskNorm, a: y, b: mean, c: rstd, d: x, e: gamma, f: beta, cols: cols, x: F(eps)}.start(rows, rowGrain(grainFast, cols))
}

func fitOrNil[F Float](name string, n int, x, y []F) {
	for _, s := range [2][]F{x, y} {
		if s != nil {
			fit(name, n, len(s))
		}
	}
}

func normRowsPlain[F Float](rows, cols int, y, mean, rstd, x, gamma, beta []F, eps F) {
	for r := range rows {
		xr, yr := x[r*cols:][:cols], y[r*cols:][:cols]
		var sum, square float64 // one number at a time, a sum in F would lose digits of a mean far from 0
		for _, v := range xr {
			sum += float64(v)
		}
		m := F(sum / float64(cols))
		for _, v := range xr {
			square += float64((v - m) * (v - m))
		}
		s := F(1 / math.Sqrt(square/float64(cols)+float64(eps)))
		mean[r], rstd[r] = m, s
		for i, v := range xr {
			v = (v - m) * s
			if gamma != nil {
				v *= gamma[i]
			}
			if beta != nil {
				v += beta[i]
			}
			yr[i] = v
		}
	}
}

// LayerNormBackward writes the gradients of LayerNorm for the gradient dy of y, with the mean and rstd that it
// gave. Any of dx, dgamma and dbeta may be nil, which leaves it out; gamma is nil if it was. dx may be dy.
//
//	x̂ = (x − mean)·rstd, g = dy⊙gamma:  dx = rstd·(g − mean(g) − x̂·mean(g⊙x̂)), dgamma = Σ dy⊙x̂, dbeta = Σ dy
//
// The rows are done in shares, each with sums for dgamma and dbeta of its own, which are added up in the end. The
// shares depend on the sizes alone, and so do the bits of the result.
func LayerNormBackward[F Float](dx, dgamma, dbeta, dy, x, gamma, mean, rstd []F, cols int) {
	const name = "layer norm backward"
	rows := fitRows(name, len(x), cols)
	fit(name, len(x), len(dy))
	fit(name, rows, len(mean), len(rstd))
	fitOrNil(name, cols, gamma, nil)
	fitOrNil(name, cols, dgamma, dbeta)
	fitOrNil(name, len(x), dx, nil)
	clear(dgamma)
	clear(dbeta)
	if rows == 0 {
		return
	}
	pool := workspacePool[F]()
	w := pool.Get().(*workspace[F])
	defer pool.Put(w)
	shares := normShares(rows, cols)
	t := vectorTask[F]{kind: taskNormBackward, a: dx, b: dy, c: x, d: gamma, e: mean, f: rstd, cols: cols}
	if dgamma != nil || dbeta != nil {
		t.sums = room(&w.a, shares*2*cols)
		clear(t.sums)
	}
	t.start(shares, 1)
	for s := range shares {
		for i, d := range [2][]F{dgamma, dbeta} {
			if d != nil {
				addRows(chosenPath, 1, cols, d, d, t.sums[(2*s+i)*cols:][:cols])
			}
		}
	}
}

// normShares is in how many shares rows are done that are summed up: enough for many cores.
func normShares(rows, cols int) int { return min(1+rows*cols/grainFast, 16, rows) }

// normBackward does the shares [lo,hi).
func (t *vectorTask[F]) normBackward(p path, lo, hi int) {
	cols, rows := t.cols, len(t.e)
	shares := normShares(rows, cols)
	for s := lo; s < hi; s++ {
		first, end := block(s, shares, rows), block(s+1, shares, rows)
		from, to := first*cols, end*cols
		if t.sums != nil {
			sums := t.sums[2*s*cols:][:2*cols]
			normColumns(p, end-first, cols, sums[:cols], sums[cols:], t.b[from:to], t.c[from:to], t.e[first:end], t.f[first:end])
		}
		if t.a != nil {
			normBackwardRows(p, end-first, cols, t.a[from:to], t.b[from:to], t.c[from:to], t.d, t.e[first:end], t.f[first:end])
		}
	}
}

func normBackwardRowsPlain[F Float](rows, cols int, dx, dy, x, gamma, mean, rstd []F) {
	gradient := func(v F, i int) F {
		if gamma != nil {
			v *= gamma[i]
		}
		return v
	}
	for r := range rows {
		xr, dyr, dxr := x[r*cols:][:cols], dy[r*cols:][:cols], dx[r*cols:][:cols]
		var sum, product F
		for i, v := range xr {
			g := gradient(dyr[i], i)
			sum += g
			product += g * ((v - mean[r]) * rstd[r])
		}
		sum, product = sum/F(cols), product/F(cols)
		for i, v := range xr {
			dxr[i] = rstd[r] * (gradient(dyr[i], i) - sum - (v-mean[r])*rstd[r]*product)
		}
	}
}

func normColumnsPlain[F Float](rows, cols int, dgamma, dbeta, dy, x, mean, rstd []F) {
	for r := range rows {
		dyr, xr := dy[r*cols:][:cols], x[r*cols:][:cols]
		for i, v := range dyr {
			dgamma[i] += v * ((xr[i] - mean[r]) * rstd[r])
			dbeta[i] += v
		}
	}
}
