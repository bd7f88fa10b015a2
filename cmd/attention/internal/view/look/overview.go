package look

import (
	"math"
	"runtime"
	"sync"

	"attention/internal/kernel"
)

// Overview is a matrix of weights as one sees it whole: of each block of 2^Level queries and keys the largest weight,
// NaN where the mask hides all of the block.
type Overview struct {
	Level, Rows, Cols int
	Weights           []float32 // (Rows, Cols)
}

// Overview computes the overview of a head's weights with at most side rows and columns.
func (l *Layer) Overview(head, side int) *Overview {
	lse := l.Summary(head).LSE
	o := new(Overview)
	for max(l.T, l.S) > side<<o.Level {
		o.Level++
	}
	block := 1 << o.Level
	o.Rows, o.Cols = (l.T+block-1)/block, (l.S+block-1)/block
	o.Weights = make([]float32, o.Rows*o.Cols)
	for i := range o.Weights {
		o.Weights[i] = float32(math.NaN())
	}
	step := max(blockRows, block) // queries; a block's are held by one goroutine
	var wait sync.WaitGroup
	limit := make(chan struct{}, runtime.GOMAXPROCS(0))
	for t := 0; t < l.T; t += step {
		limit <- struct{}{}
		wait.Go(func() {
			l.look(o, head, t, min(t+step, l.T), lse)
			<-limit
		})
	}
	wait.Wait()
	return o
}

// look computes the rows of an overview that hold the queries from t0 to t1.
func (l *Layer) look(o *Overview, head, t0, t1 int, lse []float32) {
	scores := l.Scores(head, t0, t1)
	for t := t0; t < t1; t++ {
		row, out := scores[(t-t0)*l.S:][:l.S], o.Weights[t>>o.Level*o.Cols:][:o.Cols]
		shown := l.shown.of(t)
		for i := 0; i < len(shown); i += 2 {
			for s := shown[i]; s < shown[i+1]; s++ {
				if w := row[s] - lse[t]; !(out[s>>o.Level] >= w) { // the logarithm of a weight; NaN is none yet
					out[s>>o.Level] = w
				}
			}
		}
	}
	rows := o.Weights[t0>>o.Level*o.Cols : min(o.Rows, (t1+1<<o.Level-1)>>o.Level)*o.Cols]
	kernel.Exp(rows, rows)
}
