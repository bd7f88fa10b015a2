package mask

// Reach returns the largest number of keys before its own position that a query sees under sliding windows, alone or
// combined by And and Or. ok is false if there is no such limit.
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

// IsRelative reports whether the keys that a mask shows a query depend only on their distance from the query: All,
// Causal, sliding windows, and combinations of these by And, Or and Not. A nil mask is All.
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
