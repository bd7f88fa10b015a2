package record

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// Head is a head of an attention with one of its statistics.
type Head struct {
	Layer  string
	Head   int // from 0
	Number float64
}

// Heads returns all heads in the order of a statistic of layers.HeadStats, such as entropy. NaN comes first.
func (r Record) Heads(statistic string) (all []Head) {
	for _, name := range slices.Sorted(maps.Keys(r.Numbers)) {
		if layer, ok := strings.CutPrefix(name, statistic+"."); ok {
			for h, v := range r.Numbers[name] {
				all = append(all, Head{layer, h, float64(v)})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Head) int { return cmp.Compare(a.Number, b.Number) })
	return all
}
