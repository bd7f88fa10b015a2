package mask

// Reach returns the most keys before its own position that a query sees under windows, alone or among what And and Or
// join. ok is false if there is no such number.
func Reach(m Mask) (before int, ok bool) {
	switch m := m.(type) {
	case SlidingWindow:
		return m.Left, true
	case either:
		a, inA := Reach(m.A)
		b, inB := Reach(m.B)
		switch {
		case inA && inB && m.Or:
			return max(a, b), true
		case inA && inB:
			return min(a, b), true
		case m.Or:
			return 0, false
		}
		return max(a, b), inA || inB
	}
	return 0, false
}

// IsRelative reports whether a mask shows each query the same keys before and after its own wherever in a sequence it
// is: All, Causal, a sliding window, and what And, Or and Not make of these. A nil mask is All.
func IsRelative(m Mask) bool {
	switch m := m.(type) {
	case nil, All, Causal, SlidingWindow:
		return true
	case either:
		return IsRelative(m.A) && IsRelative(m.B)
	case not:
		return IsRelative(m.Of)
	}
	return false
}
