package kernel

import (
	"slices"

	"attention/internal/parallel"
)

// A Reduction describes how the elements of a row-major array are combined along some of its axes. The array is read as
// (Outer, N, Inner), and the results are (Outer, Inner). If the reduced axes are not adjacent, the array is first
// copied with those axes last.
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

// gather returns x as (Outer, N, Inner), and the memory of the copy, if it made one.
func gather[F Float](r *Reduction, x []F) ([]F, *[]F) {
	if !r.copied {
		return x, nil
	}
	room := borrow[F](len(x))
	Permute(*room, x, r.there)
	return *room, room
}

// scatter calls fill for memory of shape (Outer, N, Inner), and copies the result into the order of x.
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

// runs calls f for the parts of [lo,hi) that lie in one run of N elements each, with the run's number.
func (r *Reduction) runs(lo, hi int, f func(outer, lo, hi int)) {
	for lo < hi {
		outer := lo / r.N
		end := min(hi, (outer+1)*r.N)
		f(outer, lo, end)
		lo = end
	}
}

// borrow returns memory with undefined contents.
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

// Repeat writes y/divisor to every element of x that was reduced to it: the gradient of SumOver.
func Repeat[F Float](x, y []F, r Reduction, divisor float64) {
	r.fit("repeat", len(x), len(y))
	scatter(&r, x, func(x []F) {
		parallel.Do(repeatCall[F]{x, y, r, F(divisor)}, r.Outer*r.N, rowGrain(grainFast, r.Inner))
	})
}

type repeatCall[F Float] struct {
	x, y    []F
	r       Reduction
	divisor F
}

func (c repeatCall[F]) Do(lo, hi int) {
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
