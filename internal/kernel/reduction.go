package kernel

import "slices"

// A Reduction describes how the elements of a row-major array are combined along some of its axes. They are read as
// (Outer, N, Inner), of which the results are (Outer, Inner). Where the reduced axes are no neighbours, the array is
// copied with those axes last first.
type Reduction struct {
	Outer, N, Inner int
	there, back     Permutation // of the copy
	copied          bool
}

// NewReduction returns the reduction of a shape along axes, which must be distinct and in [0, len(shape)). Axes of
// length 1 count for nothing.
func NewReduction(shape, axes []int) Reduction {
	var lengths []int
	var reduced []bool
	for i, n := range shape {
		last, is := len(lengths)-1, slices.Contains(axes, i)
		switch {
		case n == 1:
		case last >= 0 && reduced[last] == is:
			lengths[last] *= n
		default:
			lengths, reduced = append(lengths, n), append(reduced, is)
		}
	}
	r := Reduction{Outer: 1, N: 1, Inner: 1}
	first, last := slices.Index(reduced, true), len(reduced)
	for last > 0 && !reduced[last-1] {
		last--
	}
	if first < 0 { // every element on its own
		r.Outer = countOf(lengths)
		return r
	}
	if last == first+1 {
		r.Outer, r.N, r.Inner = countOf(lengths[:first]), lengths[first], countOf(lengths[last:])
		return r
	}
	var order, sorted, back []int
	for _, which := range []bool{false, true} {
		for i, is := range reduced {
			if is == which {
				order, sorted = append(order, i), append(sorted, lengths[i])
			}
			if is && which {
				r.N *= lengths[i]
			}
		}
	}
	for i := range order {
		back = append(back, slices.Index(order, i))
	}
	r.Outer, r.copied = countOf(lengths)/r.N, true
	r.there, r.back = NewPermutation(lengths, order), NewPermutation(sorted, back)
	return r
}

func countOf(lengths []int) int {
	n := 1
	for _, d := range lengths {
		n *= d
	}
	return n
}

// fit panics unless x and y have the lengths of what is reduced and of the results.
func (r *Reduction) fit(name string, x, y int) {
	fit(name, r.Outer*r.N*r.Inner, x)
	fit(name, r.Outer*r.Inner, y)
}

// gather returns x as (Outer, N, Inner), and the memory of the copy, if it is one.
func gather[F Float](r *Reduction, x []F) ([]F, *[]F) {
	if !r.copied {
		return x, nil
	}
	room := borrow[F](len(x))
	Permute(*room, x, r.there)
	return *room, room
}

// scatter calls fill for memory that is (Outer, N, Inner), and puts what it has filled in into the order of x.
func scatter[F Float](r *Reduction, x []F, fill func(x []F)) {
	if !r.copied {
		fill(x)
		return
	}
	room := borrow[F](len(x))
	fill(*room)
	Permute(x, *room, r.back)
	giveBack(room)
}

// borrow returns memory that holds anything.
func borrow[F Float](n int) *[]F {
	room, _ := poolOf[F](&rooms).Get().(*[]F)
	if room == nil {
		room = new([]F)
	}
	*room = resize(*room, n)
	return room
}

func giveBack[F Float](room *[]F) {
	if room != nil {
		poolOf[F](&rooms).Put(room)
	}
}

var rooms pools

// Sums of up to sumBlock elements, or as many rows, are added one after the other in several places at a time, in
// float64; the sums of blocks pairwise. The blocks depend on the lengths alone.
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
		return
	}
	sumMiddle(y, x, r, divisor)
}

// sumRuns sums runs of N elements.
func sumRuns[F, G Float](y []G, x []F, r Reduction, divisor float64) {
	blocks := max(1, (r.N+sumBlock-1)/sumBlock)
	c := sumRunsCall[F, G]{y: y, x: x, n: r.N, blocks: blocks, divisor: divisor}
	if blocks == 1 {
		split(c, r.Outer, rowGrain(grainFast, r.N))
		return
	}
	room := borrow[float64](r.Outer * blocks)
	defer giveBack(room)
	c.sums = *room
	split(c, r.Outer*blocks, grainFast/sumBlock)
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

func (c sumRunsCall[F, G]) do(lo, hi int) {
	for i := lo; i < hi; i++ {
		if c.blocks == 1 {
			run := c.x[i*c.n:][:c.n]
			if c.n < short {
				c.y[i] = G(sumGo(run) / c.divisor)
			} else {
				c.y[i] = G(sum(chosenPath, run) / c.divisor)
			}
			continue
		}
		run, from := i/c.blocks, i%c.blocks*sumBlock
		c.sums[i] = sum(chosenPath, c.x[run*c.n:][from:min(from+sumBlock, c.n)])
	}
}

// short is the number of elements that are not worth calling assembly.
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
	split(c, r.Outer*c.blocks*c.wide, rowGrain(grainFast, rows*cols))
	if c.blocks > 1 {
		split(sumBlocksCall[G]{y, c.sums, c.blocks, r.Inner, divisor}, len(y), rowGrain(grainFast, c.blocks))
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

func (c sumMiddleCall[F, G]) do(lo, hi int) {
	var room [sumWidth]float64
	for i := lo; i < hi; i++ {
		block := i / c.wide // among those of all outer
		outer, k := block/c.blocks, block%c.blocks*sumBlock
		from := i % c.wide * sumWidth
		n, rows := min(sumWidth, c.r.Inner-from), min(sumBlock, c.r.N-k)
		total := room[:]
		c.sumRows(total, c.x[(outer*c.r.N+k)*c.r.Inner+from:], rows, n)
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

// sumRows sums n columns of some rows. Short rows are read several at a time, as one.
func (c sumMiddleCall[F, G]) sumRows(total []float64, x []F, rows, n int) {
	clear(total)
	if group := sumWidth / 2 / n; group > 1 && n == c.r.Inner && rows >= group {
		long := group * n
		sumColumns(chosenPath, rows/group, long, long, total, x)
		for i, v := range total[n:long] {
			total[i%n] += v
		}
		clear(total[n:long])
		x = x[rows/group*long:]
		rows %= group
	}
	sumColumns(chosenPath, rows, n, c.r.Inner, total, x)
}

// sumBlocksCall adds the sums of the blocks.
type sumBlocksCall[G Float] struct {
	y             []G
	sums          []float64
	blocks, inner int
	divisor       float64
}

func (c sumBlocksCall[G]) do(lo, hi int) {
	for i := lo; i < hi; i++ {
		outer, at := i/c.inner, i%c.inner
		all := c.sums[outer*c.blocks*c.inner:][:c.blocks*c.inner]
		c.y[i] = G(pairwise(all[at:], c.inner) / c.divisor)
	}
}

func sumGo[F Float](x []F) float64 {
	var s [4]float64 // that do not wait for each other
	for ; len(x) >= 4; x = x[4:] {
		s[0] += float64(x[0])
		s[1] += float64(x[1])
		s[2] += float64(x[2])
		s[3] += float64(x[3])
	}
	for i, v := range x {
		s[i] += float64(v)
	}
	return (s[0] + s[1]) + (s[2] + s[3])
}

func sumColumnsGo[F Float](rows, n, ld int, y []float64, x []F) {
	y = y[:n]
	for i := range rows {
		for j, v := range x[i*ld:][:n] {
			y[j] += float64(v)
		}
	}
}

// MaxOver writes the largest x along the reduced axes to y: NaN if one is (torch.amax).
func MaxOver[F Float](y, x []F, r Reduction) {
	r.fit("max", len(x), len(y))
	x, room := gather(&r, x)
	defer giveBack(room)
	if r.Inner > 1 {
		wide := (r.Inner + sumWidth - 1) / sumWidth
		split(maxMiddleCall[F]{y, x, r, wide}, r.Outer*wide, rowGrain(grainSlow, r.N*min(r.Inner, sumWidth)))
		return
	}
	if blocks := r.N / sumBlock; r.Outer == 1 && blocks > 1 {
		tops := borrow[F](blocks)
		defer giveBack(tops)
		whole := blocks * sumBlock
		split(maxRunsCall[F]{*tops, x[:whole], sumBlock}, blocks, rowGrain(grainSlow, sumBlock))
		y[0] = larger(maxOf(*tops), maxOf(x[whole:]))
		return
	}
	split(maxRunsCall[F]{y, x, r.N}, r.Outer, rowGrain(grainSlow, r.N))
}

type maxRunsCall[F Float] struct {
	y, x []F
	n    int
}

func (c maxRunsCall[F]) do(lo, hi int) {
	for i := lo; i < hi; i++ {
		c.y[i] = maxOf(c.x[i*c.n:][:c.n])
	}
}

type maxMiddleCall[F Float] struct {
	y, x []F
	r    Reduction
	wide int
}

func (c maxMiddleCall[F]) do(lo, hi int) {
	for i := lo; i < hi; i++ {
		outer, from := i/c.wide, i%c.wide*sumWidth
		n := min(sumWidth, c.r.Inner-from)
		y := c.y[outer*c.r.Inner+from:][:n]
		for k := range c.r.N {
			row := c.x[(outer*c.r.N+k)*c.r.Inner+from:][:n]
			if k == 0 {
				copy(y, row)
				continue
			}
			for j, v := range row {
				if v > y[j] || v != v {
					y[j] = v
				}
			}
		}
	}
}

// maxOf returns the largest x, −∞ for none, in four that do not wait for each other.
func maxOf[F Float](x []F) F {
	a := lowest[F]()
	b, c, d := a, a, a
	for ; len(x) >= 4; x = x[4:] {
		a, b, c, d = larger(a, x[0]), larger(b, x[1]), larger(c, x[2]), larger(d, x[3])
	}
	for _, v := range x {
		a = larger(a, v)
	}
	return larger(larger(a, b), larger(c, d))
}

// larger is max, but for the sign of zero: faster.
func larger[F Float](top, v F) F {
	if v > top || v != v {
		return v
	}
	return top
}

// Repeat writes y/divisor to every element of x that was reduced to it: the gradient of SumOver.
func Repeat[F Float](x, y []F, r Reduction, divisor float64) {
	r.fit("repeat", len(x), len(y))
	scatter(&r, x, func(x []F) {
		split(repeatCall[F]{x, y, r, F(divisor)}, r.Outer*r.N, rowGrain(grainFast, r.Inner))
	})
}

type repeatCall[F Float] struct {
	x, y    []F
	r       Reduction
	divisor F
}

func (c repeatCall[F]) do(lo, hi int) {
	for i := lo; i < hi; {
		outer := i / c.r.N
		end := min(hi, (outer+1)*c.r.N)
		x, y := c.x[i*c.r.Inner:end*c.r.Inner], c.y[outer*c.r.Inner:][:c.r.Inner]
		for j, v := range y {
			x[j] = v / c.divisor
		}
		if c.r.Inner == 1 && len(x) < short {
			for j := range x {
				x[j] = x[0]
			}
		} else {
			for done := c.r.Inner; done < len(x); done *= 2 {
				copy(x[done:], x[:done])
			}
		}
		i = end
	}
}
