package follow

// most is how many values a thinned list holds.
const most = 4096

// thinned holds the first and the last of many values, and some between them, evenly spread.
type thinned[T any] struct {
	kept  []T
	every int // the number of a kept value is a multiple of this; the last value is kept, too
	last  int // number of the last value, from 0
}

// add adds a value.
func (l *thinned[T]) add(v T) {
	n := len(l.kept)
	if n == 0 {
		*l = thinned[T]{kept: []T{v}, every: 1}
		return
	}
	if l.last%l.every != 0 {
		l.kept = l.kept[:n-1]
	}
	l.last++
	if l.kept = append(l.kept, v); len(l.kept) <= most {
		return
	}
	l.every *= 2
	half := l.kept[:0]
	for i, v := range l.kept {
		if i%2 == 0 || i == len(l.kept)-1 {
			half = append(half, v)
		}
	}
	l.kept = half
}

// end returns the last value, or false if there is none.
func (l *thinned[T]) end() (v T, ok bool) {
	if len(l.kept) == 0 {
		return v, false
	}
	return l.kept[len(l.kept)-1], true
}

// setEnd replaces the last value.
func (l *thinned[T]) setEnd(v T) { l.kept[len(l.kept)-1] = v }
