package kernel

import (
	"attention/internal/parallel"
	"attention/internal/simd"
)

// Format is a format that stores numbers in blocks.
type Format struct {
	Numbers, Bytes int                               // of a block
	Decode         func(to []float32, blocks []byte) // sets the numbers of whole blocks
	Dot            *simd.Blocks                      // multiplies rows of blocks with a vector, if it is not nil
}

// Blocks is float32 numbers in blocks of a format.
type Blocks struct {
	*Format
	Data []byte
}

// BlockRows is Rows of numbers in blocks.
func BlockRows[F Float](b *Blocks, ld int) Matrix[F] { return Matrix[F]{Blocks: b, Row: ld, Col: 1} }

// stored reports whether x is stored in another type than F.
func (x *Matrix[F]) stored() bool { return x.Stored != nil || x.Blocks != nil }

// count returns how many numbers there are.
func (b *Blocks) count() int {
	if b == nil {
		return 0
	}
	return len(b.Data) / b.Bytes * b.Numbers
}

// Take sets y to the numbers from an index on.
func (b *Blocks) Take(y []float32, at int) {
	fit("blocks", len(y), min(len(y), b.count()-at))
	parallel.Do(takeCall{b, y, at}, (len(y)+b.Numbers-1)/b.Numbers, 1+grainFast/b.Numbers)
}

type takeCall struct {
	*Blocks
	y  []float32
	at int
}

func (c takeCall) Do(lo, hi int) {
	lo, hi = lo*c.Numbers, min(hi*c.Numbers, len(c.y))
	c.take(c.y[lo:hi], c.at+lo)
}

// rows sets y to n numbers of each of some rows, which lie row numbers apart.
func (b *Blocks) rows(y []float32, at, rows, n, row int) {
	for i := range rows {
		b.take(y[i*n:][:n], at+i*row)
	}
}

// take is Take in the calling goroutine. It may need only a part of the first and the last block.
func (b *Blocks) take(y []float32, at int) {
	for len(y) > 0 {
		place, skip := at/b.Numbers*b.Bytes, at%b.Numbers
		n := len(y) / b.Numbers * b.Numbers
		if skip == 0 && n > 0 {
			b.Decode(y[:n], b.Data[place:])
		} else {
			block := borrow[float32](b.Numbers)
			b.Decode(*block, b.Data[place:])
			n = copy(y, (*block)[skip:])
			giveBack(block)
		}
		y, at = y[n:], at+n
	}
}

// dots sets y to the products of rows, which begin row numbers apart from a first one, with x. Rows that assembly does
// not read are decoded, a few at a time.
func (b *Blocks) dots(first, row int, x, y []float32) {
	if k := len(x); b.Dot != nil && simd.ReadsBlocks() && row == k && k%simd.BlockNumbers == 0 && first%b.Numbers == 0 {
		b.Dot.Dot(b.Data[first/b.Numbers*b.Bytes:], x, y)
		return
	}
	const most = 1 << 12 // numbers that fit into the first-level cache
	together := max(1, min(len(y), most/len(x)))
	room := borrow[float32](together * len(x))
	for i := 0; i < len(y); i += together {
		n := min(together, len(y)-i)
		if row == len(x) {
			b.take((*room)[:n*row], first+i*row)
		} else {
			b.rows(*room, first+i*row, n, len(x), row)
		}
		simd.Dot(*room, len(x), x, y[i:i+n])
	}
	giveBack(room)
}
