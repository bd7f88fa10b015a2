package kernel

import (
	"attention/internal/parallel"
	"attention/internal/simd"
)

// Up to sumBlock elements, or as many rows, are added one after another, in several interleaved sums, in float64; the
// sums of blocks are added pairwise. The blocks depend on the lengths alone.
const sumBlock = 1 << 10

// Sum returns Σ x, summed in float64.
func Sum[F Float](x []F) float64 {
	total := borrow[float64](1)
	defer giveBack(total)
	SumOver(*total, x, Reduction{Outer: 1, N: len(x), Inner: 1}, 1)
	return (*total)[0]
}

// SumOver writes Σ x/divisor over the reduced axes to y, summed in float64.
func SumOver[F, G Float](y []G, x []F, r Reduction, divisor float64) {
	r.fit("sum", len(x), len(y))
	x, room := gather(&r, x)
	defer giveBack(room)
	if r.Inner == 1 {
		sumRuns(y, x, r, divisor)
	} else {
		sumMiddle(y, x, r, divisor)
	}
}

// sumRuns sums runs of N elements.
func sumRuns[F, G Float](y []G, x []F, r Reduction, divisor float64) {
	blocks := max(1, (r.N+sumBlock-1)/sumBlock)
	c := sumRunsCall[F, G]{y: y, x: x, n: r.N, blocks: blocks, divisor: divisor}
	if blocks == 1 {
		parallel.Do(c, r.Outer, rowGrain(grainFast, r.N))
		return
	}
	room := borrow[float64](r.Outer * blocks)
	defer giveBack(room)
	c.sums = *room
	parallel.Do(c, r.Outer*blocks, grainFast/sumBlock)
	for i := range y {
		y[i] = G(pairwise(c.sums[i*blocks:][:blocks], 1) / divisor)
	}
}

type sumRunsCall[F, G Float] struct {
	y         []G
	x         []F
	sums      []float64 // of blocks, if a run has several
	n, blocks int
	divisor   float64
}

func (c sumRunsCall[F, G]) Do(lo, hi int) {
	for i := lo; i < hi; i++ {
		if c.blocks == 1 {
			c.y[i] = G(sumPart(c.x[i*c.n:][:c.n]) / c.divisor)
			continue
		}
		run, from := i/c.blocks, i%c.blocks*sumBlock
		c.sums[i] = sumPart(c.x[run*c.n:][from:min(from+sumBlock, c.n)])
	}
}

// sumPart returns the sum of a part of a run.
func sumPart[F Float](x []F) float64 {
	if len(x) < short {
		return simd.SumShort(x)
	}
	return simd.Sum(x)
}

// short is the number of elements up to which calling assembly does not pay.
const short = 16

// pairwise returns the sum of every step-th element.
func pairwise(x []float64, step int) float64 {
	n := (len(x) + step - 1) / step
	if n <= 2 {
		if n == 2 {
			return x[0] + x[step]
		}
		return x[0]
	}
	half := n / 2 * step
	return pairwise(x[:half], step) + pairwise(x[half:], step)
}

// sumMiddle sums N rows of Inner elements, by blocks of rows and of columns.
func sumMiddle[F, G Float](y []G, x []F, r Reduction, divisor float64) {
	c := sumMiddleCall[F, G]{y: y, x: x, r: r, divisor: divisor,
		blocks: (r.N + sumBlock - 1) / sumBlock, wide: (r.Inner + sumWidth - 1) / sumWidth}
	if c.blocks > 1 {
		room := borrow[float64](r.Outer * c.blocks * r.Inner)
		defer giveBack(room)
		c.sums = *room
	}
	rows, cols := min(r.N, sumBlock), min(r.Inner, sumWidth)
	parallel.Do(c, r.Outer*c.blocks*c.wide, rowGrain(grainFast, rows*cols))
	if c.blocks > 1 {
		parallel.Do(sumBlocksCall[G]{y, c.sums, c.blocks, r.Inner, divisor}, len(y), rowGrain(grainFast, c.blocks))
	}
}

// sumWidth is the number of columns whose sums stay in the first cache.
const sumWidth = 1 << 9

type sumMiddleCall[F, G Float] struct {
	y            []G
	x            []F
	sums         []float64 // of blocks of rows, if there are several
	r            Reduction
	blocks, wide int
	divisor      float64
}

func (c sumMiddleCall[F, G]) Do(lo, hi int) {
	var room [sumWidth]float64
	for i := lo; i < hi; i++ {
		block := i / c.wide // among those of all outer
		outer, k := block/c.blocks, block%c.blocks*sumBlock
		from := i % c.wide * sumWidth
		n, rows := min(sumWidth, c.r.Inner-from), min(sumBlock, c.r.N-k)
		total := room[:]
		x := c.x[(outer*c.r.N+k)*c.r.Inner+from:]
		c.sumRows(total, x, rows, n)
		if c.blocks > 1 {
			copy(c.sums[block*c.r.Inner+from:], total[:n])
			continue
		}
		y := c.y[outer*c.r.Inner+from:][:n]
		for j := range y {
			y[j] = G(total[j] / c.divisor)
		}
	}
}

// sumRows sums n columns of some rows. Several short rows are read together, as one row.
func (c sumMiddleCall[F, G]) sumRows(total []float64, x []F, rows, n int) {
	clear(total)
	if group := sumWidth / 2 / n; group > 1 && n == c.r.Inner && rows >= group {
		long := group * n
		simd.SumColumns(rows/group, long, long, total, x)
		for i, v := range total[n:long] {
			total[i%n] += v
		}
		clear(total[n:long])
		x = x[rows/group*long:]
		rows %= group
	}
	simd.SumColumns(rows, n, c.r.Inner, total, x)
}

// sumBlocksCall adds the sums of the blocks.
type sumBlocksCall[G Float] struct {
	y             []G
	sums          []float64
	blocks, inner int
	divisor       float64
}

func (c sumBlocksCall[G]) Do(lo, hi int) {
	for i := lo; i < hi; i++ {
		outer, at := i/c.inner, i%c.inner
		all := c.sums[outer*c.blocks*c.inner:][:c.blocks*c.inner]
		c.y[i] = G(pairwise(all[at:], c.inner) / c.divisor)
	}
}
