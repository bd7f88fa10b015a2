package kernel

// ScoreFunc is a function of the score of query t and key s in head h of batch b. Several goroutines call it, also for
// pairs that do not see each other.
type ScoreFunc func(score float64, b, h, t, s int) float64

// change applies Score to a tile of capped scores. slope, unless it is nil, is a tile like x with the derivative of the
// cap, and is multiplied by that of Score.
func (r *attentionRun[F]) change(x *scores[F], slope []F) {
	if slope != nil && r.Softcap == 0 {
		count, n, step := x.lines()
		for i := range count {
			for j := range n {
				slope[i*step+j] = 1
			}
		}
	}
	y := x.biased(&r.Attention)
	for i := range y.queries {
		for j := range y.keys {
			at := i*x.queryStep + j*x.keyStep
			score := float64(x.data[at])
			x.data[at] = F(r.Score(score, x.b, x.h, x.query(i), x.s0+j))
			if slope != nil {
				slope[at] *= F(r.ScoreSlope(score, x.b, x.h, x.query(i), x.s0+j))
			}
		}
	}
}
