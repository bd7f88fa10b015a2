package look

import (
	"math"
	"runtime"
	"slices"
	"sync"

	"attention/graph/blas"
	"attention/internal/kernel"

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
	scores, weights := l.Scores(head, t0, t1), make([]float32, l.S)
	for t := t0; t < t1; t++ {
		row, shown := scores[(t-t0)*l.S:][:l.S], l.shown.of(t)
		largest := float32(math.Inf(-1))
		for i := 0; i < len(shown); i += 2 {
			for _, x := range row[shown[i]:shown[i+1]] {
				largest = max(largest, x)
			}
		}
		if math.IsInf(float64(largest), -1) {
			s.LSE[t] = largest
			continue
		}
		top, sum := largest, 0.0
		if l.sinks != nil {
			top = max(top, l.sinks[head])
			sum = math.Exp(float64(l.sinks[head] - top))
		}
		for i := 0; i < len(shown); i += 2 {
			exps := weights[shown[i]:shown[i+1]]
			for j, x := range row[shown[i]:shown[i+1]] {
				exps[j] = x - top
			}
			kernel.Exp(exps, exps)
			for _, e := range exps {
				sum += float64(e)
			}
		}
		lse := float64(top) + math.Log(sum)
		s.LSE[t] = float32(lse)
		total.queries++
		total.largest = max(total.largest, float64(largest))
		thumbnail := s.Thumbnail[(t*s.Rows/l.T)*s.Cols:][:s.Cols]
		for i := 0; i < len(shown); i += 2 {
			total.addWeights(t, int(shown[i]), row[shown[i]:shown[i+1]], weights[shown[i]:shown[i+1]], lse, 1/sum)
			l.addThumbnail(thumbnail, int(shown[i]), weights[shown[i]:shown[i+1]], float32(1/sum))
		}
	}
	return total
}

// addWeights adds the weights of neighbouring keys for query t: exps times scale.
func (a *sums) addWeights(t, from int, scores, exps []float32, lse, scale float64) {
	for i, e := range exps {
		w := float64(e) * scale
		a.entropy -= w * max(float64(scores[i])-lse, -1e3)
		a.distance += w * math.Abs(float64(t-from-i))
	}
	weight := func(at int) float64 {
		if at < from || at >= from+len(exps) {
			return 0
		}
		return float64(exps[at-from]) * scale
	}
	a.first += weight(0)
	a.self += weight(t)
	a.previous += weight(t - 1)
}

// addThumbnail adds the weights of neighbouring keys to a row of a thumbnail.
func (l *Layer) addThumbnail(row []float32, from int, exps []float32, scale float32) {
	for len(exps) > 0 {
		c := from * len(row) / l.S
		n := min(len(exps), first(c+1, len(row), l.S)-from)
		row[c] = max(row[c], scale*slices.Max(exps[:n]))
		from, exps = from+n, exps[n:]
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
