package simd

import "math"

// ReadsEvenFirst reports whether the dot kernel for rows of k bfloat16 numbers expects x deinterleaved by EvenFirst.
func ReadsEvenFirst[F Float](k int) bool {
	_, lanes := TileShape[F]()
	return k%(2*lanes) == 0
}

// EvenFirst copies x to y, and moves the even elements of every two vectors before the odd ones.
func EvenFirst[F Float](y, x []F) {
	_, lanes := TileShape[F]()
	for ; len(x) > 0; x, y = x[2*lanes:], y[2*lanes:] {
		even, odd, from := y[:lanes], y[lanes:2*lanes], x[:2*lanes]
		for i := range even {
			even[i], odd[i] = from[2*i], from[2*i+1]
		}
	}
}

// Widen sets y to as many numbers of x.
func Widen[F Float](y []F, x []uint16) { WidenTo(1, len(y), y, 0, x, 0) }

// WidenTo widens n numbers of each of k rows.
func WidenTo[F Float](k, n int, y []F, yRow int, x []uint16, xRow int) {
	_, lanes := TileShape[F]()
	whole := n / lanes * lanes
	WidenVectors(k, whole, y, yRow, x, xRow)
	if whole < n {
		widenVectorsGo(k, n-whole, y[whole:], yRow, x[whole:], xRow)
	}
}

func widenVectorsGo[F Float](k, n int, y []F, yRow int, x []uint16, xRow int) {
	for i := range k {
		to := y[i*yRow:][:n]
		for j, v := range x[i*xRow:][:n] {
			to[j] = widened[F](v)
		}
	}
}

func widened[F Float](x uint16) F { return F(math.Float32frombits(uint32(x) << 16)) }

// dotStoredGo adds in the order of dotGo.
func dotStoredGo[F Float](a []uint16, aRow int, x, y []F) {
	for i := range y {
		row := a[i*aRow:][:len(x)]
		var s0, s1, s2, s3 F
		for q := 0; q+goColumns <= len(x); q += goColumns {
			r, v := row[q:][:goColumns], x[q:][:goColumns]
			s0 += widened[F](r[0]) * v[0]
			s1 += widened[F](r[1]) * v[2]
			s2 += widened[F](r[2]) * v[1]
			s3 += widened[F](r[3]) * v[3]
		}
		y[i] = (s0 + s1) + (s2 + s3)
	}
}

func weighStoredGo[F Float](alpha F, a []uint16, aRow int, x, y []F) {
	for i, v := range x {
		w := alpha * v
		row := a[i*aRow:][:len(y)]
		for j, v := range row {
			y[j] += w * widened[F](v)
		}
	}
}
