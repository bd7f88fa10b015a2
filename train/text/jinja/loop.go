package jinja

type loop struct {
	names           []string
	of              expression
	where           expression // nil for all items
	body, otherwise []statement
}

func (s loop) execute(r *run) jump {
	r.within(func(vars map[string]any) {
		set := func(item any) {
			if len(s.names) == 1 {
				vars[s.names[0]] = item
				return
			}
			unpack(vars, s.names, item)
		}
		var items []any
		for _, item := range r.itemsOf(s.of.evaluate(r)) {
			if s.where != nil {
				if set(item); !truth(s.where.evaluate(r)) {
					continue
				}
			}
			items = append(items, item)
		}
		if len(items) == 0 {
			r.execute(s.otherwise)
		}
		state := &loopState{items: items}
		vars["loop"] = state
		r.items = append(r.items, nil)
		for i, item := range items {
			r.items[len(r.items)-1] = item
			set(item)
			state.i = i
			from := r.out.Len()
			j := r.execute(s.body)
			r.pass(item, from)
			if j == leaves {
				break
			}
		}
		r.items = r.items[:len(r.items)-1]
	})
	return ends
}

// pass keeps the span that a pass of a loop has rendered.
func (r *run) pass(item any, from int) {
	if _, ok := item.(*Dict); ok && r.captured == 0 {
		r.took(4)
		r.spans = append(r.spans, Span{From: from, To: r.out.Len(), Items: []any{item}, Pass: true})
	}
}

// loopState is the variable loop: where a loop is.
type loopState struct {
	items []any
	i     int
}

// member returns what a template asks of a loop.
func (l *loopState) member(name string) any {
	n := len(l.items)
	switch name {
	case "index":
		return l.i + 1
	case "index0":
		return l.i
	case "revindex":
		return n - l.i
	case "revindex0":
		return n - l.i - 1
	case "first":
		return l.i == 0
	case "last":
		return l.i == n-1
	case "length":
		return n
	case "previtem":
		if l.i > 0 {
			return l.items[l.i-1]
		}
	case "nextitem":
		if l.i < n-1 {
			return l.items[l.i+1]
		}
	}
	return undefined{}
}

// itemsOf returns the items of a list, or the names of a dict.
func (r *run) itemsOf(x any) []any {
	switch x := x.(type) {
	case []any:
		r.took(len(x))
		return x
	case *Dict:
		return r.keys(x)
	}
	fail("got a loop over %s, want a list or a dict", typeName(x))
	return nil
}
