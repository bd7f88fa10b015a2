package kernel

import (
	"math"
	"unsafe"
)

// RoundBF16 writes x rounded to bfloat16 to y, to nearest, of two equally near ones to the even one. Numbers below the
// smallest normal one become 0, those above the largest infinite.
func RoundBF16(y, x []float32) {
	fit("bf16", len(y), len(x))
	split(roundCall{y, x}, len(x), grainFast)
}

type roundCall struct{ y, x []float32 }

func (c roundCall) do(lo, hi int) {
	roundElements(c.x[lo:hi], c.y[lo:hi])
}

func roundElementsGo(x, y []float32) {
	y = y[:len(x)]
	for i, v := range x {
		y[i] = roundBF16(v)
	}
}

func roundBF16(v float32) float32 {
	const (
		sign, exponent, quiet = 1 << 31, 0xff << 23, 1 << 22
		lost                  = 1<<16 - 1
	)
	bits := math.Float32bits(v)
	switch {
	case v != v:
		bits |= quiet
	case bits&exponent == 0:
		bits &= sign
	default:
		bits += lost>>1 + bits>>16&1
	}
	return math.Float32frombits(bits &^ lost)
}

// rounded returns a rounded copy, to be given back.
func rounded(x []float32) *[]float32 {
	room := borrow[float32](len(x))
	RoundBF16(*room, x)
	return room
}

// operandsIn returns what an attention multiplies in a precision, and the memory of copies. They are rounded before
// they are multiplied, so that what becomes infinite counts as that where it is hidden. Of more than one slice that
// share memory, as packed ones do, each is copied by itself.
func operandsIn[F Float](p Precision, in QKV[F], dout []F) (QKV[F], []F, copiesOf) {
	var copies copiesOf
	if p == BFloat16 {
		for _, x := range []*[]F{&in.Q, &in.K, &in.V, &dout} {
			room := rounded(singles(*x))
			copies = append(copies, room)
			*x = unsafe.Slice((*F)(unsafe.Pointer(unsafe.SliceData(*room))), len(*room))
		}
	}
	return in, dout, copies
}

// copiesOf is the memory of copies.
type copiesOf []*[]float32

func (c copiesOf) giveBack() {
	for _, room := range c {
		giveBack(room)
	}
}

// singles returns a slice of float32 as such.
func singles[F Float](x []F) []float32 {
	if sizeOf[F]() != 4 {
		panic("kernel: bf16 of float64")
	}
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(x))), len(x))
}
