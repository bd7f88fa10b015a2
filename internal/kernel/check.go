package kernel

import "slices"

// The numbers of elements that justify a goroutine: for functions that compute a lot, and for those that wait for
// memory.
const (
	grainSlow = 1 << 11
	grainFast = 1 << 13
)

// rowGrain returns the number of rows of cols elements that have about the given number of elements.
func rowGrain(elements, cols int) int { return 1 + elements/max(cols, 1) }

// columnGrain returns the number of columns that justify a goroutine for the given number of rows, in whole cache
// lines.
func columnGrain(rows int) int { return (1 + grainFast/rows/64) * 64 }

// fit panics unless all lengths are n.
func fit(name string, n int, lengths ...int) {
	for _, length := range lengths {
		if length != n {
			panic("kernel: " + name + ": slices of lengths that do not fit together")
		}
	}
}

// fitOrNil panics unless each slice is nil or has n elements.
func fitOrNil[F Float](name string, n int, slices ...[]F) {
	for _, s := range slices {
		if s != nil {
			fit(name, n, len(s))
		}
	}
}

// fitRows panics unless a slice has whole rows, and returns their number.
func fitRows(name string, n, cols int) (rows int) {
	if n == 0 {
		return 0
	}
	if cols < 1 || n%cols != 0 {
		panic("kernel: " + name + ": a slice that is not made of rows of the given length")
	}
	return n / cols
}

// checkSteps makes sure that pieces of the given width, of which there are counts[i] along axis i with stride steps[i],
// are inside a slice, without overflow.
func checkSteps(name string, length, width int, counts, steps []int) {
	if width == 0 || slices.Contains(counts, 0) {
		return
	}
	room := length - width
	for axis, n := range counts {
		if steps[axis] < 0 {
			panic("kernel: " + name + ": negative stride")
		}
		if steps[axis] > 0 && n > 1 {
			if n-1 > room/steps[axis] {
				room = -1
				break
			}
			room -= (n - 1) * steps[axis]
		}
	}
	if room < 0 {
		panic("kernel: " + name + ": slice is too short")
	}
}
