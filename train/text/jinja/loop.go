package jinja

type loop struct {
	to              expression // a target
	of              expression
	where           expression // nil for all items
	body, otherwise []statement
}

func (s loop) execute(r *run) jump {
	items := r.iterate(r.eval(s.of))
	if s.where != nil {
		all := items
		items = nil
		for _, item := range all {
			r.within(r.scope, func() {
				r.spend(nodeCost + itemCost)
				if r.assign(s.to, item); truth(r.eval(s.where)) {
					items = append(items, item)
				}
			})
		}
	}
	if len(items) == 0 {
		r.within(r.scope, func() { r.execute(s.otherwise) })
	}
	state := &loopState{items: items}
	r.items = append(r.items, nil)
	for i, item := range items {
		r.items[len(r.items)-1] = item
		state.i = i
		j := ends
		r.within(r.scope, func() {
			r.set("loop", state)
			r.assign(s.to, item)
			from := r.out.Len()
			j = r.execute(s.body)
			r.pass(item, from)
		})
		if j == leaves {
			break
		}
	}
	r.items = r.items[:len(r.items)-1]
	return ends
}

// pass records the span that a pass of a loop has rendered.
func (r *run) pass(item any, from int) {
	if _, ok := item.(*Dict); ok && r.captured == 0 {
		r.spend(3 * itemCost)
		r.spans = append(r.spans, Span{From: from, To: r.out.Len(), Items: []any{item}, Pass: true})
	}
}

// loopState is the variable loop: the position of a loop.
type loopState struct {
	items []any
	i     int
}

// member returns a member of the variable loop.
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
	case "cycle":
		return function(func(_ *run, args []any, _ *Dict) any {
			if len(args) == 0 {
				fail("cycle: got no values, want some")
			}
			return args[l.i%len(args)]
		})
	}
	return undefined{"loop." + name}
}
