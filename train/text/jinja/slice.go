package jinja

// slice is x[from:to:step].
type slice struct {
	of    expression
	parts [3]expression
}

func (e slice) evaluate(r *run) any {
	x := e.of.evaluate(r)
	var parts [3]*int
	for i, part := range e.parts {
		if part == nil {
			continue
		}
		n, ok := part.evaluate(r).(int)
		if !ok {
			fail("got a slice whose bounds are no whole numbers, want those")
		}
		parts[i] = &n
	}
	switch x := x.(type) {
	case []any:
		return cut(r, x, parts)
	case string:
		return string(cut(r, []rune(r.long(x)), parts))
	}
	fail("got a slice of %s, want one of a list or a string", typeName(x))
	return nil
}

// cut returns the items of a slice as Python does.
func cut[T any](r *run, all []T, parts [3]*int) (items []T) {
	n, step := len(all), 1
	if parts[2] != nil {
		step = *parts[2]
	}
	if step == 0 {
		fail("got a slice with steps of 0, want others")
	}
	least, most := 0, n
	if step < 0 {
		least, most = -1, n-1
	}
	bound := func(part *int, otherwise int) int {
		if part == nil {
			return otherwise
		}
		i := *part
		if i < 0 {
			i += n
		}
		return min(max(i, least), most)
	}
	from, to := bound(parts[0], least), bound(parts[1], most)
	if step < 0 {
		from, to = bound(parts[0], most), bound(parts[1], least)
	}
	for i := from; step > 0 && i < to || step < 0 && i > to; i += min(max(step, -n), n) {
		items = append(items, all[i])
	}
	r.took(1 + len(items)/2)
	return items
}
