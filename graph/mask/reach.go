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
