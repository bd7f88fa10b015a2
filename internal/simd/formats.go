package simd

import (
	"encoding/binary"
	"math"
)

// BlockKind is the storage format of a block of 32 numbers. A block begins with d in half precision, then m, if there
// is one.
type BlockKind int

const (
	SignedBytes BlockKind = iota + 1 // d times signed bytes
	Nibbles                          // d times values of a table; the low halves of 16 bytes come first
	NibblesPlus                      // the same, plus m
	Fifths                           // d times numbers minus a value; their fifth bits are in a word before the nibbles
	FifthsPlus                       // the same, plus m
	Halves                           // numbers in half precision, without d
)

// Blocks is a format of blocks of 32 numbers. Values is the table for nibbles, or 16 times the number that is
// subtracted from numbers with fifth bits.
type Blocks struct {
	Kind   BlockKind
	Values [16]int8
}

const BlockNumbers = 32

// bytes returns the size of a block.
func (b *Blocks) bytes() int {
	return [...]int{SignedBytes: 34, Nibbles: 18, NibblesPlus: 20, Fifths: 22, FifthsPlus: 24, Halves: 64}[b.Kind]
}

// unpackGo sets y to the numbers of whole blocks.
func (b *Blocks) unpackGo(y []float32, x []byte) {
	if b.Kind == Halves {
		for i := range y {
			y[i] = halfAt(x[2*i:])
		}
		return
	}
	for ; len(y) > 0; x, y = x[b.bytes():], y[BlockNumbers:] {
		d, m, q := halfAt(x), float32(math.Copysign(0, -1)), x[2:]
		if b.Kind == NibblesPlus || b.Kind == FifthsPlus {
			m, q = halfAt(q), q[2:]
		}
		fifths := uint32(0)
		if b.Kind >= Fifths {
			fifths, q = binary.LittleEndian.Uint32(q), q[4:]
		}
		for i := range BlockNumbers {
			y[i] = float32(d*float32(b.number(q, i, fifths))) + m
		}
	}
}

func (b *Blocks) number(q []byte, i int, fifths uint32) int8 {
	if b.Kind == SignedBytes {
		return int8(q[i])
	}
	v := q[i%16] >> (i / 16 * 4) & 15
	if b.Kind >= Fifths {
		return int8(v|byte(fifths>>i&1)<<4) - b.Values[0]
	}
	return b.Values[v]
}

func halfAt(x []byte) float32 { return Half(binary.LittleEndian.Uint16(x)) }

// Half returns a half-precision number. Its exponent is 112 less than that of its float32, also for subnormal numbers.
func Half(h uint16) float32 {
	const exponent = 0x1f << 10
	v := math.Float32frombits(uint32(h)&0x7fff<<13) * 0x1p112
	if h&exponent == exponent {
		v = math.Float32frombits(0xff<<23 | uint32(h)&0x3ff<<13)
	}
	return math.Float32frombits(math.Float32bits(v) | uint32(h)>>15<<31)
}

// Layout is the arrangement of the bits in a block of 256 numbers, which are unpacked 16 at a time.
type Layout struct {
	lowMask, highMask, values [16]byte
	up                        [2]uint64
	runs                      [16]struct{ low, lowShift, high, highShift uint32 }
	kind                      layoutKind
	reach                     int // number of bytes that are read
}

type layoutKind int

const (
	fromTable layoutKind = iota + 1 // whether the low bits are indices of values
	withHigh                        // whether high bits are added and a value is subtracted
)

// Run is the place of 16 numbers: the offset of the bytes with their low bits, the right shift of these bits, and the
// same for their high bits.
type Run struct{ Low, LowShift, High, HighShift int }

// FromTable returns the layout of numbers whose bits are indices of a table. run returns the place of 16 of them.
func FromTable(bits int, table [16]int8, run func(j int) Run) *Layout {
	l := newLayout(fromTable, run)
	for i, v := range table {
		l.lowMask[i], l.values[i] = 1<<bits-1, byte(v)
	}
	return l
}

// WithHigh returns the layout of numbers with low bits and high bits, from which a value is subtracted.
func WithHigh(low, high, less int, run func(j int) Run) *Layout {
	l := newLayout(withHigh, run)
	for i := range l.values {
		l.lowMask[i], l.highMask[i], l.values[i] = 1<<low-1, (1<<high-1)<<low, byte(less)
	}
	l.up[0] = uint64(low)
	return l
}

func newLayout(kind layoutKind, run func(j int) Run) *Layout {
	l := &Layout{kind: kind}
	for j := range l.runs {
		at, to := run(j), &l.runs[j]
		to.low, to.lowShift, to.high, to.highShift = uint32(at.Low), uint32(at.LowShift), uint32(at.High), uint32(at.HighShift)
		l.reach = max(l.reach, at.Low+16, at.High+16)
	}
	return l
}

func (l *Layout) unpackGo(y []float32, x []byte, scale, plus *[16]float32) {
	for i := range 16 * len(l.runs) {
		at := l.runs[i/16]
		v := x[int(at.low)+i%16] >> at.lowShift & l.lowMask[0]
		if l.kind == fromTable {
			v = l.values[v]
		} else {
			v |= x[int(at.high)+i%16] >> at.highShift << l.up[0] & l.highMask[0]
			v -= l.values[0]
		}
		y[i] = float32(scale[i/16]*float32(int8(v))) + plus[i/16]
	}
}
