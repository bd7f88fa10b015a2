// Package shapes caches values, such as graphs, for combinations of types and shapes of named tensors.
package shapes

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"attention/internal/dense"

	"gorgonia.org/tensor"
)

// Cache holds values by the names, types and shapes of tensors. The zero value is empty.
type Cache[T any] struct{ entries []entry[T] } // the most recently used one comes first

type entry[T any] struct {
	forms map[string]form
	value T
}

type form struct {
	dtype tensor.Dtype
	shape tensor.Shape
}

func (e *entry[T]) fits(v map[string]*tensor.Dense) bool {
	for name, d := range v {
		f, ok := e.forms[name]
		if !ok || !dense.IsTensor(d) || d.Dtype() != f.dtype || !slices.Equal(d.Shape(), f.shape) {
			return false
		}
	}
	return len(v) == len(e.forms)
}

// Get returns the value for tensors, and whether there is one. It allocates nothing.
func (c *Cache[T]) Get(v map[string]*tensor.Dense) (value T, ok bool) {
	for i := range c.entries {
		if !c.entries[i].fits(v) {
			continue
		}
		used := c.entries[i]
		copy(c.entries[1:], c.entries[:i])
		c.entries[0] = used
		return used.value, true
	}
	return value, false
}

// Add adds the value for tensors that have none. If more than limit values would remain, it drops the least recently
// used one and returns it.
func (c *Cache[T]) Add(v map[string]*tensor.Dense, value T, limit int) (dropped T, ok bool) {
	forms := map[string]form{}
	for name, d := range v {
		forms[name] = form{d.Dtype(), d.Shape().Clone()}
	}
	if n := len(c.entries); n >= limit {
		dropped, ok = c.entries[n-1].value, true
		c.entries = slices.Delete(c.entries, n-1, n)
	}
	c.entries = slices.Insert(c.entries, 0, entry[T]{forms, value})
	return dropped, ok
}

// Text returns the names, types and shapes of tensors for an error, as in "ids int (2, 9), x float32 (2, 3)".
func Text(v map[string]*tensor.Dense) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(v)) {
		all = append(all, fmt.Sprint(name, " ", dense.Form(v[name])))
	}
	return cmp.Or(strings.Join(all, ", "), "no values")
}
