package look

import (
	"math"
	"runtime"
	"sync"

	"attention/graph/blas"

	gonum "gonum.org/v1/gonum/blas"
)

// Summary is what is known of a head without its weights.
type Summary struct {
	LSE        []float32 // (T) log-sum-exp of each query's scores, with the sink; −∞ for one that sees no key
	Statistics Statistics
	Rows, Cols int
	Thumbnail  []float32 // (Rows, Cols) the largest weight of each part; −1 where the mask hides all of it
}

// Statistics are means over the queries that see a key, except Largest. NaN stands for what the layer does not have.
type Statistics struct {
	Entropy  float64 // of the weights, in nats
	First    float64 // weight on the first key
	Self     float64 // weight on the query's own position
	Previous float64 // weight on the position before
	Largest  float64 // the largest score
	Distance float64 // mean distance of what a query looks at, in positions
}

// thumbnailSide is the most rows and columns of a thumbnail.
const thumbnailSide = 48

// Summary returns the summary of a head. It is computed once, in memory of a few rows.
func (l *Layer) Summary(head int) *Summary {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.summaries[head] == nil {
		l.summaries[head] = l.summarize(head)
	}
	return l.summaries[head]
}

// summarize computes the summary of a head, blocks of rows at a time on all processors.
func (l *Layer) summarize(head int) *Summary {
	s := &Summary{LSE: make([]float32, l.T), Rows: min(l.T, thumbnailSide), Cols: min(l.S, thumbnailSide)}
	s.Thumbnail = make([]float32, s.Rows*s.Cols)
	for i := range s.Thumbnail {
		s.Thumbnail[i] = -1
	}
	parts := make(chan sums, s.Rows) // as many as there can be
	var wait sync.WaitGroup
	// A block holds whole rows of the thumbnail, so that no two write to one.
	perBlock := max(1, blockRows*s.Rows/l.T)
	limit := make(chan struct{}, runtime.GOMAXPROCS(0))
	for row := 0; row < s.Rows; row += perBlock {
		from, to := first(row, s.Rows, l.T), first(min(row+perBlock, s.Rows), s.Rows, l.T)
		limit <- struct{}{}
		wait.Go(func() {
			parts <- l.summarizeRows(head, from, to, s)
			<-limit
		})
	}
	wait.Wait()
	close(parts)
	total := sums{largest: math.Inf(-1)}
	for p := range parts {
		total.add(p)
	}
	s.Statistics = total.statistics(l.Queries == l.Keys)
	return s
}

// blockRows is how many rows of scores are held at once.
const blockRows = 64

// first returns the first of n things that lie in the i-th of parts.
func first(i, parts, n int) int { return (i*n + parts - 1) / parts }

// sums are sums over some queries.
type sums struct {
	queries                                  int
	entropy, first, self, previous, distance float64
	largest                                  float64
}

func (a *sums) add(b sums) {
	a.queries += b.queries
	a.entropy += b.entropy
	a.first += b.first
	a.self += b.self
	a.previous += b.previous
	a.distance += b.distance
	a.largest = max(a.largest, b.largest)
}

func (a sums) statistics(self bool) Statistics {
	n := float64(a.queries)
	s := Statistics{a.entropy / n, a.first / n, a.self / n, a.previous / n, a.largest, a.distance / n}
	if !self {
		s.Self, s.Previous, s.Distance = math.NaN(), math.NaN(), math.NaN()
	}
	return s
}

// summarizeRows computes the rows from t0 to t1 of a summary.
func (l *Layer) summarizeRows(head, t0, t1 int, s *Summary) sums {
	total := sums{largest: math.Inf(-1)}
	scores := l.Scores(head, t0, t1)
	for t := t0; t < t1; t++ {
		row := scores[(t-t0)*l.S:][:l.S]
		shown := l.shown.of(t)
		largest, sum := math.Inf(-1), 0.0
		eachKey(shown, func(at int) { largest = max(largest, float64(row[at])) })
		if math.IsInf(largest, -1) {
			s.LSE[t] = float32(math.Inf(-1))
			continue
		}
		top := largest
		if l.sinks != nil {
			top = max(top, float64(l.sinks[head]))
			sum = math.Exp(float64(l.sinks[head]) - top)
		}
		eachKey(shown, func(at int) { sum += math.Exp(float64(row[at]) - top) })
		lse := top + math.Log(sum)
		s.LSE[t] = float32(lse)
		total.queries++
		total.largest = max(total.largest, largest)
		thumbnail := s.Thumbnail[(t*s.Rows/l.T)*s.Cols:][:s.Cols]
		eachKey(shown, func(at int) {
			d := float64(row[at]) - lse
			w := math.Exp(d)
			total.entropy -= w * max(d, -1e3)
			total.distance += w * math.Abs(float64(t-at))
			c := at * s.Cols / l.S
			thumbnail[c] = max(thumbnail[c], float32(w))
			switch {
			case at == t:
				total.self += w
			case at == t-1:
				total.previous += w
			}
			if at == 0 {
				total.first += w
			}
		})
	}
	return total
}

// eachKey calls f for the keys of some ranges.
func eachKey(ranges []uint32, f func(at int)) {
	for i := 0; i < len(ranges); i += 2 {
		for at := ranges[i]; at < ranges[i+1]; at++ {
			f(int(at))
		}
	}
}

// Scores returns the scores (t1−t0, S) of some queries of a head, those of hidden keys too.
func (l *Layer) Scores(head, t0, t1 int) []float32 {
	D, E, K := l.Width, l.Heads*l.Width, l.KeyHeads*l.Width
	scores := make([]float32, (t1-t0)*l.S)
	q, k := l.q[t0*E+head*D:], l.k[head*l.KeyHeads/l.Heads*D:]
	if l.Additive {
		l.additive(scores, q, k, t1-t0, E, K)
	} else {
		blas.Implementation{}.Sgemm(gonum.NoTrans, gonum.Trans, t1-t0, l.S, D, float32(l.Scale), q, E, k, K, 0, scores, l.S)
	}
	for i, x := range scores {
		if l.Softcap > 0 {
			x = float32(l.Softcap * math.Tanh(float64(x)/l.Softcap))
		}
		if l.bias != nil {
			all := l.T + l.S - 1
			x += l.bias[head*all%len(l.bias)+t0+i/l.S-i%l.S+l.S-1]
		}
		scores[i] = x
	}
	return scores
}

// additive computes the scores of additive attention.
func (l *Layer) additive(scores, q, k []float32, T, E, K int) {
	for i := range T * l.S {
		sum := 0.0
		for d, v := range l.vector {
			sum += float64(v) * math.Tanh(float64(q[i/l.S*E+d]+k[i%l.S*K+d]))
		}
		scores[i] = float32(sum)
	}
}
