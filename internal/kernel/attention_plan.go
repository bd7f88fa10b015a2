package kernel

// attentionPlan says which keys the queries of a call see.
type attentionPlan struct {
	lo, hi   []int  // the keys lo ≤ s < hi that Visible leaves to every query (B,T)
	spans    []span // of every block of queries (B,blocks)
	gathered chosenQueries
}

// span is the range lo ≤ s < hi of the keys that any query of a block sees; it is empty if lo = hi. All queries see
// the keys allLo ≤ s < allHi.
type span struct {
	lo, hi, allLo, allHi int
	alone                bool // whether a query sees only one key
}

// blocks returns the number of blocks of queries.
func (r *attentionRun[F]) blocks() int { return (r.T + r.height() - 1) / r.height() }

// height returns the number of queries of every block except the last, which may have fewer.
func (r *attentionRun[F]) height() int {
	if r.T <= shortLength {
		return lowBlock
	}
	return queryBlock
}

// spanOf returns the span of the queries [t0,t1).
func (r *attentionRun[F]) spanOf(b, t0, t1 int) span {
	if r.Visible == nil {
		return span{0, r.S, 0, r.S, r.S == 1}
	}
	return r.spanOver(r.lo[b*r.T+t0:b*r.T+t1], r.hi[b*r.T+t0:b*r.T+t1])
}

// spanOver returns the span of queries; query i sees the keys los[i] ≤ s < his[i].
func (r *attentionRun[F]) spanOver(los, his []int) span {
	s := span{allHi: r.S}
	for i, lo := range los {
		hi := his[i]
		switch {
		case lo == hi:
		case s.lo == s.hi:
			s.lo, s.hi = lo, hi
		default:
			s.lo, s.hi = min(s.lo, lo), max(s.hi, hi)
		}
		s.allLo, s.allHi = max(s.allLo, lo), min(s.allHi, hi)
		s.alone = s.alone || hi-lo == 1
	}
	if r.Precision == BFloat16 { // pairs of keys
		s.lo, s.hi = wholePairs(s.lo, s.hi, r.S)
	}
	return s
}

// seeing returns the range of queries, among the first rows, outside which no query sees any of the keys [s0,s1), and
// whether all queries inside it see all these keys.
func (w *attentionTiles[F]) seeing(s *span, rows, s0, s1 int) (t0, t1 int, all bool) {
	if s.allLo <= s0 && s1 <= s.allHi {
		return 0, rows, true
	}
	t0, all = rows, true
	for t := range rows {
		if w.lo[t] < s1 && w.hi[t] > s0 {
			t0, t1 = min(t0, t), t+1
		}
	}
	for t := t0; t < t1; t++ {
		all = all && w.lo[t] <= s0 && w.hi[t] >= s1
	}
	return t0, t1, all
}
