package simd

import "math"

// A pair is two numbers of bfloat16 that are neighbours along k, the first in the lower half of a float32. The
// functions here give in plain Go the bits of AVX512-BF16, except for the bits of a NaN.

const (
	PairWidth     = 32 // columns of a tile
	PairRowsTall  = 12 // rows of the tallest tile
	pairsTogether = 16 // rows that are written together
)

// PairsOf returns how many pairs n neighbours take, padded.
func PairsOf(n int) int { return (n + 2*pairsTogether - 1) / (2 * pairsTogether) * pairsTogether }

// WholePanels returns the least multiple of pairWidth that holds n columns.
func WholePanels(n int) int { return (n + PairWidth - 1) / PairWidth * PairWidth }

// pairTileGo is tileGo for pairs: the sums add the products in the order of k, the second of each pair first.
func pairTileGo(m, n, k int, alpha float32, a []float32, aRow, aCol, aPanel int, b []float32, bRow int, beta float32,
	c []float32, cRow int) {
	for i := range m {
		ai, ci := a[i/PairRowsTall*aPanel+i%PairRowsTall*aRow:], c[i*cRow:][:n]
		for j := range ci {
			sum := float32(0)
			for q := range k {
				sum = pairDot(sum, ai[q*aCol], b[q*bRow+j])
			}
			sum *= alpha
			if beta != 0 {
				sum = float32(oddSum(float64(beta)*float64(ci[j]), sum))
			}
			ci[j] = sum
		}
	}
}

// pairDot returns sum + x₁·y₁ + x₀·y₀, rounded after each product is added.
func pairDot(sum, x, y float32) float32 {
	const upper = 0xffff << 16
	p, q := math.Float32bits(x), math.Float32bits(y)
	sum = addFlushed(flush(sum), math.Float32frombits(p&upper), math.Float32frombits(q&upper))
	return addFlushed(sum, math.Float32frombits(p<<16), math.Float32frombits(q<<16))
}

// addFlushed returns sum + x·y rounded to float32, and 0 for results below the smallest normal number.
func addFlushed(sum, x, y float32) float32 {
	const tiny = 0x1p-126 - 0x1p-151
	s := oddSum(float64(flush(x))*float64(flush(y)), sum)
	if s < tiny && s > -tiny {
		return float32(math.Copysign(0, s))
	}
	return float32(s)
}

// flush returns 0 for a number below the smallest normal one.
func flush(x float32) float32 {
	const exponent, sign = 0xff << 23, 1 << 31
	if bits := math.Float32bits(x); bits&exponent == 0 {
		return math.Float32frombits(bits & sign)
	}
	return x
}

// oddSum returns product + x rounded to odd. Rounding this to float32 gives the same as rounding the exact sum (Boldo
// and Melquiond 2008).
func oddSum(product float64, x float32) float64 {
	sum, low := TwoSum(product, float64(x))
	if low == 0 || math.IsInf(sum, 0) || sum != sum {
		return sum
	}
	bits := math.Float64bits(sum)
	if bits&1 == 0 {
		if (low > 0) == (sum > 0) {
			bits++
		} else {
			bits--
		}
	}
	return math.Float64frombits(bits)
}

func pairRowsGo(rows, n int, x, y []float32, xRow int, pairs []float32, pairsRow, panel int) {
	for i := range rows {
		to, y := pairs[i*pairsRow:], y[i*xRow:]
		for j, v := range x[i*xRow:][:n] {
			to[j/PairWidth*panel+j%PairWidth] = pairOf(v, y[j])
		}
	}
}

func pairElementsGo(rows, n int, x []float32, xRow int, pairs []float32, pairsRow int) {
	for i := range rows {
		x, to := x[i*xRow:][:n], pairs[i*pairsRow:][:PairsOf(n)]
		for q := range to {
			var pair [2]float32
			if 2*q < n {
				copy(pair[:], x[2*q:])
			}
			to[q] = pairOf(pair[0], pair[1])
		}
	}
}

// pairOf returns the pair of two numbers, rounded.
func pairOf(x, y float32) float32 {
	return math.Float32frombits(math.Float32bits(RoundBF16(x))>>16 | math.Float32bits(RoundBF16(y)))
}
