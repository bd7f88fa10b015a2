package generate

import "slices"

// maxGraphs is how many compiled graphs are kept.
const maxGraphs = 8

// keptChunks are the graphs for chunks of different lengths that were used last, the last one first.
type keptChunks[C interface{ length() int }] []C

// of returns the graph for n tokens. It is compiled unless it is kept.
func (k *keptChunks[C]) of(n int, compile func(n int) (C, error)) (C, error) {
	all := *k
	at := slices.IndexFunc(all, func(c C) bool { return c.length() == n })
	if at < 0 {
		c, err := compile(n)
		if err != nil {
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
