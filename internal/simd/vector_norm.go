package simd

import "math"

func normRowsGo[F Float](rows, cols int, y, mean, rstd, x, gamma, beta []F, eps F) {
	for r := range rows {
		xr, yr := x[r*cols:][:cols], y[r*cols:][:cols]
		var sum, square float64 // a sum in F, one number at a time, would lose digits of a mean far from 0
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

func normBackwardRowsGo[F Float](rows, cols int, dx, dy, x, gamma, mean, rstd []F) {
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

func normColumnsGo[F Float](rows, cols int, dgamma, dbeta, dy, x, mean, rstd []F) {
	for r := range rows {
		dyr, xr := dy[r*cols:][:cols], x[r*cols:][:cols]
		for i, v := range dyr {
			dgamma[i] += v * ((xr[i] - mean[r]) * rstd[r])
			dbeta[i] += v
		}
	}
}

func rootRowsGo[F Float](rows, cols int, y, x, weight, factor []F) {
	for i := range rows {
		y, x := y[i*cols:][:cols], x[i*cols:][:cols]
		for j, v := range x {
			y[j] = v * factor[i] * weight[j]
		}
	}
}

func rootBackwardRowsGo[F Float](rows, cols int, dx, dweight, dy, x, weight, factor, along []F) {
	for i := range rows {
		dx, dy, x := dx[i*cols:][:cols], dy[i*cols:][:cols], x[i*cols:][:cols]
		for j, v := range x {
			dweight[j] += F(F(dy[j]*v) * factor[i])
			dx[j] = factor[i] * (F(dy[j]*weight[j]) - F(v*along[i]))
		}
	}
}

func sumProductsGo[F Float](x, y, weight []F) (sum float64) {
	for i, v := range x {
		sum += float64(v * y[i] * weight[i])
	}
	return sum
}
