package mask

import "math"

// A KeySet knows which keys each query sees in one run. The methods of a zero KeySet must not be called. Several
// goroutines may read a KeySet. If a function of a Func panics, Fill and Glance panic; Recovered turns this into an
// error.
type KeySet struct {
	// Span returns a range outside which query t of batch b sees no key in any head,
	// and whether it sees all keys inside it in all heads.
	Span func(b, t int) (lo, hi int, all bool)
	// Fill sets which of the keys s0, s0+1, … query t of head h of batch b sees.
	Fill func(b, h, t, s0 int, shown []bool)

	// glance returns how much query t of batch b sees of the n keys from index s0, in all heads. If glance is nil, only
	// Span gives information.
	glance func(b, t, s0, n int) Sight

	ranges bool // each query sees all keys of its range, in all heads
	alike  bool // the range does not depend on the batch
}

// A Sight says whether a query sees all, some or none of several keys.
type Sight int

const (
	SeesSome Sight = iota // or the number is not known
	SeesNone
	SeesAll
)

// opposite returns the sight of the mask Not.
func (s Sight) opposite() Sight {
	switch s {
	case SeesNone:
		return SeesAll
	case SeesAll:
		return SeesNone
	}
	return SeesSome
}

// Glance returns what query t of batch b sees of the n keys from s0 on, in all heads, as far as this is known without
// checking each key.
func (k KeySet) Glance(b, t, s0, n int) Sight {
	lo, hi, all := k.Span(b, t)
	switch {
	case lo >= hi || hi <= s0 || lo >= s0+n:
		return SeesNone
	case all && lo <= s0 && s0+n <= hi:
		return SeesAll
	case !all && k.glance != nil:
		return k.glance(b, t, s0, n)
	}
	return SeesSome
}

// ranges returns the set in which query t of batch b sees the keys lo ≤ s < hi. If there is one batch, its ranges hold
// for all batches.
func ranges(batches int, of func(b, t int) (lo, hi int)) KeySet {
	return KeySet{
		ranges: true,
		alike:  batches == 1,
		Span: func(b, t int) (lo, hi int, all bool) {
			lo, hi = of(b, t)
			return lo, hi, true
		},
		Fill: func(b, _, t, s0 int, shown []bool) {
			lo, hi := of(b, t)
			clear(shown)
			setRange(lo, hi, s0, shown)
		},
	}
}

// AllRanges reports whether each query sees all keys of one range, in all heads.
func (k KeySet) AllRanges(batches, queries int) bool {
	if k.Span == nil || k.ranges {
		return true
	}
	for b := range batches {
		for t := range queries {
			if _, _, all := k.Span(b, t); !all {
				return false
			}
		}
	}
	return true
}

// Alike reports whether Span is known not to depend on the batch.
func (k KeySet) Alike() bool { return k.alike }

// First returns the first n keys of a set.
func (k KeySet) First(n int) KeySet {
	return KeySet{
		Span: func(b, t int) (lo, hi int, all bool) {
			lo, hi, all = k.Span(b, t)
			return lo, min(hi, n), all
		},
		Fill:   k.Fill,
		glance: k.glance,
		ranges: k.ranges,
		alike:  k.alike,
	}
}

// Append returns the set with more keys, which all queries see, after its own n keys.
func (k KeySet) Append(n, more int) KeySet {
	return KeySet{
		Span: func(b, t int) (lo, hi int, all bool) {
			lo, hi, all = k.Span(b, t)
			lo, hi = max(lo, 0), min(hi, n)
			if lo >= hi {
				return n, n + more, true
			}
			return lo, n + more, all && hi == n
		},
		Fill: func(b, h, t, s0 int, shown []bool) {
			own := min(max(n-s0, 0), len(shown))
			if own > 0 {
				k.Fill(b, h, t, s0, shown[:own])
			}
			setRange(own, len(shown), 0, shown)
		},
		glance: k.glanceIf(func(s0, keys int) bool { return s0+keys <= n }),
	}
}

// OfHead returns the set in which every head sees the keys of one head.
func (k KeySet) OfHead(head int) KeySet {
	return KeySet{
		Span: k.Span,
		Fill: func(b, _, t, s0 int, shown []bool) { k.Fill(b, head, t, s0, shown) },

		glance: k.glance,
	}
}

// glanceIf returns the set's glance for keys that ok accepts, and SeesSome for others.
func (k KeySet) glanceIf(ok func(s0, n int) bool) func(b, t, s0, n int) Sight {
	if k.glance == nil {
		return nil
	}
	return func(b, t, s0, n int) Sight {
		if !ok(s0, n) {
			return SeesSome
		}
		return k.Glance(b, t, s0, n)
	}
}

// At returns the set for keys that are stored in another order: key i has the set's position positions[i].
func (k KeySet) At(positions []int) KeySet {
	return KeySet{
		Span: func(int, int) (lo, hi int, all bool) { return 0, len(positions), false },
		Fill: func(b, h, t, s0 int, shown []bool) {
			at := positions[s0:][:len(shown)]
			for len(at) > 0 { // one run of adjacent positions at a time
				n := 1
				for n < len(at) && at[n] == at[n-1]+1 {
					n++
				}
				k.Fill(b, h, t, at[0], shown[:n])
				at, shown = at[n:], shown[n:]
			}
		},
	}
}

// setRange shows the keys lo ≤ s < hi and leaves the other keys unchanged.
func setRange(lo, hi, s0 int, shown []bool) {
	for lo, hi = max(lo-s0, 0), min(hi-s0, len(shown)); lo < hi; {
		lo += copy(shown[lo:hi], allShown[:])
	}
}

// clearOutside hides the keys outside lo ≤ s < hi and leaves the other keys unchanged.
func clearOutside(lo, hi, s0 int, shown []bool) {
	lo = min(max(lo-s0, 0), len(shown))
	hi = min(max(hi-s0, lo), len(shown))
	clear(shown[:lo])
	clear(shown[hi:])
}

// allShown is what ranges are copied from.
var allShown = func() (all [128]bool) {
	for i := range all {
		all[i] = true
	}
	return all
}()

// Unlimited is larger than any distance of a key, and small enough that sums do not overflow.
const Unlimited = math.MaxInt / 4
