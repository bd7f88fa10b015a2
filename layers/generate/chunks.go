package generate

import (
	"slices"

	"attention/internal/expr"
)

// maxGraphs is how many compiled graphs are kept.
const maxGraphs = 8

// keptChunks are the most recently used graphs for chunks, each of another length, the last used first.
type keptChunks[C interface{ length() int }] []C

// of returns the graph for n tokens, which it compiles if it is not kept.
func (k *keptChunks[C]) of(n int, compile func(n int) (C, error)) (C, error) {
	all := *k
	at := slices.IndexFunc(all, func(c C) bool { return c.length() == n })
	if at < 0 {
		var c C
		if err := expr.Building(func() (err error) { c, err = compile(n); return err }); err != nil {
			return c, err
		}
		at = min(len(all), maxGraphs-1)
		all = append(all[:at], c)
	}
	c := all[at]
	copy(all[1:], all[:at])
	all[0], *k = c, all
	return c, nil
}
