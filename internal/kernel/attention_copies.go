package kernel

import (
	"sync/atomic"

	"attention/internal/simd"
)

// If the stride between the rows of a head is large, each row is on another page, and the rows compete for the same
// sets of the first-level cache. A worker that reads such rows often copies them to contiguous memory.
const (
	copiesFrom = 512     // queries from which copying pays
	copiesMost = 1 << 21 // largest number of elements of a head, which bounds the memory of a worker
)

// headCopy caches the rows of one head contiguously, or packed as pairs of bfloat16. It is filled lazily in blocks of
// keyBlock rows.
type headCopy[F Float] struct {
	run                  uint64 // the call to which the rows belong
	b, head              int
	all                  operandRows[F] // for all rows of the head
	memory               []F
	have, mayBeNonFinite []bool // for each block: whether it has been copied, and its operandRows.mayBeNonFinite
}

// attentionCount numbers the calls, so that copies of one call are not used in another.
var attentionCount atomic.Uint64

// copies reports whether it pays to copy the rows of a head.
func (r *attentionRun[F]) copies(at *HeadLayout, rows, width int) bool {
	return r.T >= copiesFrom && at.Row > width && width >= vector && rows <= copiesMost/width
}

// headRows is the rows of a head in memory.
type headRows[F Float] struct {
	data        []F
	at          *HeadLayout
	b, head     int
	rows, width int
}

func (x *headRows[F]) from(i int) rowsOf[F] {
	return rowsOf[F]{x.data[x.at.at(x.b, x.head, i):], x.at.Row, x.width}
}

func (r *attentionRun[F]) queryRows(b, head int) *headRows[F] {
	return &headRows[F]{r.In.Q, &r.QueryAt, b, head, r.T, r.D}
}

func (r *attentionRun[F]) keyRows(b, head int) *headRows[F] {
	return &headRows[F]{r.In.K, &r.KeyAt, b, head, r.S, r.D}
}

func (r *attentionRun[F]) valueRows(b, head int) *headRows[F] {
	return &headRows[F]{r.In.V, &r.ValueAt, b, head, r.S, r.DV}
}

func (r *attentionRun[F]) outputRows(b, head int) *headRows[F] {
	return &headRows[F]{r.dout, &r.OutputAt, b, head, r.T, r.DV}
}

// operand returns n rows of a head, from the given one on, in the forms that products read. They are copied in
// bfloat16, and if copying pays.
func (r *attentionRun[F]) operand(w *attentionTiles[F], c *headCopy[F], x *headRows[F], first, n int,
	f forms) operandRows[F] {
	rows, full := x.from(first), r.Precision == Full
	switch {
	case full && !r.copies(x.at, x.rows, x.width):
		return asTheyAre(rows)
	case !full && x.rows > copiesMost/max(x.width, 1): // copies only the rows that are read
		c.run = 0
		return w.paired(rows, n, room(&c.memory, pairedLength(n, x.width, f)), f)
	}
	if c.run != r.number || c.b != x.b || c.head != x.head {
		c.run, c.b, c.head = r.number, x.b, x.head
		c.begin(x, r.Precision, f)
	}
	y := c.all.from(first)
	for i := first / keyBlock; i*keyBlock < first+n; i++ {
		if from := i * keyBlock; !c.have[i] {
			c.have[i] = true
			in, part, count := x.from(from), c.all.from(from), min(keyBlock, x.rows-from)
			if full {
				copyRows(part.data, part.row, in.data, in.row, count, x.width)
			} else {
				c.mayBeNonFinite[i] = w.pair(count, in, part.across, part.along)
			}
		}
		y.mayBeNonFinite = y.mayBeNonFinite || c.mayBeNonFinite[i]
	}
	if !full {
		y.rowsOf = rows
	}
	return y
}

// begin allocates memory for the rows of a head.
func (c *headCopy[F]) begin(x *headRows[F], p Precision, f forms) {
	blocks := (x.rows + keyBlock - 1) / keyBlock
	c.have, c.mayBeNonFinite = resize(c.have, blocks), resize(c.mayBeNonFinite, blocks)
	clear(c.have)
	clear(c.mayBeNonFinite)
	if p == Full {
		c.memory = resize(c.memory, x.rows*x.width)
		c.all = asTheyAre(rowsOf[F]{c.memory, x.width, x.width})
		return
	}
	c.memory = resize(c.memory, pairedLength(x.rows, x.width, f))
	c.all = pairedRoom(c.memory, x.rows, x.width, f)
}

// copyRows copies rows. dstRow and srcRow are the strides of the rows.
func copyRows[F Float](dst []F, dstRow int, src []F, srcRow, rows, width int) {
	if _, lanes := simd.TileShape[F](); width%lanes == 0 { // no partial vector, behind which copyPanel would write
		for j := 0; j < width; j += 2 * lanes {
			simd.CopyPanel(rows, min(2*lanes, width-j), src[j:], srcRow, dst[j:], dstRow)
		}
		return
	}
	for i := range rows {
		copy(dst[i*dstRow:][:width], src[i*srcRow:])
	}
}
