package kernel

import "sync/atomic"

// Where the rows of a head lie far apart, each is on a page of its own, and they compete for the same places in a
// first-level cache. A worker that reads them often copies them to where they lie side by side.
const (
	copiesFrom = 512     // queries from which that pays
	copiesMost = 1 << 19 // elements of a head at most, for the memory of a worker is bounded
)

// headCopy holds rows of one head, side by side: those of the blocks of keyBlock rows that were asked for.
type headCopy[F Float] struct {
	run     uint64 // the call whose rows they are
	b, head int
	data    []F
	have    []bool // of each block
}

// attentionCount numbers the calls, so that a worker's copies are not taken for those of another.
var attentionCount atomic.Uint64

// copies reports whether it pays to copy the rows of a head.
func (r *attentionRun[F]) copies(at *HeadLayout, rows, width int) bool {
	return r.T >= copiesFrom && at.Row > width && width >= vector && rows <= copiesMost/width
}

// rows returns n rows of a head, from the given one on, of the head's total. They are copies if that pays.
func (r *attentionRun[F]) rows(c *headCopy[F], in []F, at *HeadLayout, b, head, first, n, total, width int) rowsOf[F] {
	if !r.copies(at, total, width) {
		return rowsOf[F]{in[at.at(b, head, first):], at.Row, width}
	}
	if c.run != r.number || c.b != b || c.head != head {
		c.run, c.b, c.head = r.number, b, head
		c.have = resize(c.have, (total+keyBlock-1)/keyBlock)
		clear(c.have)
		c.data = resize(c.data, total*width)
	}
	for i := first / keyBlock; i*keyBlock < first+n; i++ {
		if !c.have[i] {
			c.have[i] = true
			from := i * keyBlock
			copyRows(c.data[from*width:], width, in[at.at(b, head, from):], at.Row, min(keyBlock, total-from), width)
		}
	}
	return rowsOf[F]{c.data[first*width:], width, width}
}

// copyRows copies rows; src's and dst's begin the given distances apart.
func copyRows[F Float](dst []F, dstRow int, src []F, srcRow, rows, width int) {
	if _, lanes := tileShape[F](chosenPath); width%lanes == 0 { // no rest, behind which copyPanel would write
		for j := 0; j < width; j += 2 * lanes {
			copyPanel(chosenPath, rows, min(2*lanes, width-j), src[j:], srcRow, dst[j:], dstRow)
		}
		return
	}
	for i := range rows {
		copy(dst[i*dstRow:][:width], src[i*srcRow:])
	}
}
