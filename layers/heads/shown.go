package heads

import (
	"fmt"

	"attention/graph/mask"
	"attention/layers"

	"gorgonia.org/tensor"
)

// Keys are the keys that each query sees: query t sees the ranges Keys[2i] ≤ s < Keys[2i+1] for
// Start[t] ≤ i < Start[t+1].
type Keys struct {
	Start, Keys []uint32
}

// Shown returns the keys that the queries of a head see, from the values that the mask's nodes have after a run. The
// operands are those of one text, without an axis of batches. All queries see the keys that AddBiasKV and AddZeroAttn
// add.
func Shown(o layers.AttentionOperands, head int) (k Keys, err error) {
	defer func() { // of a mask's function
		if r := recover(); r != nil {
			err = fmt.Errorf("heads: shown keys: %w", mask.Recovered(r))
		}
	}()
	r := reader{}
	q, key := r.text(o.Query), r.text(o.Key)
	if r.err != nil {
		return k, r.err
	}
	T, S, extra := q.Shape()[0], key.Shape()[0], o.Config.ExtraKeys
	scores := mask.Scores{Heads: o.Config.Heads > 0, H: max(1, o.Config.Heads), T: T, S: S - extra}
	if err := check(head, scores.H); err != nil {
		return k, err
	}
	m, in, err := mask.Resolve(o.Config.Mask, scores)
	if err != nil {
		return k, fmt.Errorf("heads: shown keys: %w", err)
	}
	values := make([]*tensor.Dense, len(in))
	for i, input := range in {
		if input.Node != nil { // the mask names one without a value
			values[i], _ = input.Node.Value().(*tensor.Dense)
		}
	}
	set, err := mask.Bind(m, values, scores)
	if err != nil {
		return k, fmt.Errorf("heads: shown keys: %w", err)
	}
	set = set.Append(S-extra, extra)
	k.Start = append(k.Start, 0)
	shown := make([]bool, S)
	for t := range T {
		lo, hi, all := set.Span(0, t)
		if lo, hi = max(lo, 0), min(hi, S); all {
			k.add(lo, hi)
		} else {
			set.Fill(0, head, t, lo, shown[lo:hi])
			k.addShown(lo, shown[lo:hi])
		}
		k.Start = append(k.Start, uint32(len(k.Keys)/2))
	}
	return k, nil
}

// add adds a range unless it is empty.
func (k *Keys) add(lo, hi int) {
	if lo < hi {
		k.Keys = append(k.Keys, uint32(lo), uint32(hi))
	}
}

// addShown adds the ranges of true in shown, whose first element is key lo.
func (k *Keys) addShown(lo int, shown []bool) {
	begin := -1
	for i, s := range append(shown[:len(shown):len(shown)], false) {
		switch {
		case s && begin < 0:
			begin = i
		case !s && begin >= 0:
			k.add(lo+begin, lo+i)
			begin = -1
		}
	}
}
