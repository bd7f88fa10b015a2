package forward

import (
	"math"
	"slices"

	"attention/graph"

	G "gorgonia.org/gorgonia"
)

// Summary has the statistics of a head, without its weights.
type Summary struct {
	LSE        []float32 // (T) log-sum-exp of each query's scores, with the sink; −∞ for a query that sees no key
	Most       []float32 // (T) the largest weight of each query
	Statistics Statistics
	Rows, Cols int
	Thumbnail  []float32 // (Rows, Cols) the largest weight of each block; −1 where the mask hides the whole block

	peaks []peak
}

// Statistics are means over the queries that see a key, except for Largest. A statistic that the layer does not have is
// nil. For a linear layer the implied weights are replaced by their absolute values, divided by the row's sum.
type Statistics struct {
	Entropy  *float64 `json:"entropy,omitempty"`  // of the weights, in nats
	First    *float64 `json:"first,omitempty"`    // weight on the first key
	Self     *float64 `json:"self,omitempty"`     // weight on the query's own position
	Previous *float64 `json:"previous,omitempty"` // weight on the position before
	Largest  *float64 `json:"largest,omitempty"`  // the largest score
	Distance *float64 `json:"distance,omitempty"` // mean distance from the query, by weight, in positions

	Same  *float64 `json:"same,omitempty"`  // weight on earlier tokens that equal the query's token
	After *float64 `json:"after,omitempty"` // weight on the tokens after these

	// Telling is how much the head shows about the text: the mean of (1 − entropy/ln n)·(1 − first − self) over the
	// queries that see n ≥ 5 keys. It is high where few keys get the weight, neither the first one nor the query itself.
	Telling *float64 `json:"telling,omitempty"`
}

// fewestTold is how many keys a query sees that counts for Telling.
const fewestTold = 5

// thumbnailSide is the most rows and columns of a thumbnail.
const thumbnailSide = 48

// Summary returns the summary of a head, which is computed once.
func (l *Layer) Summary(head int) (*Summary, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.summaries[head] != nil {
		return l.summaries[head], nil
	}
	if l.graph == nil {
		g, err := l.newHeadGraph(head, func(s *graph.AttentionStats) (*G.Node, error) {
			return s.LargestTo(cellsSide, cellsSide)
		})
		if err != nil {
			return nil, err
		}
		l.graph = g
	}
	g := l.graph
	if err := g.run(head); err != nil {
		return nil, err
	}
	s := &Summary{LSE: slices.Clone(float32sOf(g.stats.LogSumExp)), Most: mostOf(g.stats), Statistics: l.statistics(head, g),
		Rows: min(l.T, thumbnailSide), Cols: min(l.S, thumbnailSide)}
	cells, rows, columns := float32sOf(g.largest), min(l.T, cellsSide), min(l.S, cellsSide)
	s.Thumbnail = make([]float32, s.Rows*s.Cols)
	for i, w := range cells {
		at := i/columns*s.Rows/rows*s.Cols + i%columns*s.Cols/columns
		s.Thumbnail[at] = max(s.Thumbnail[at], w)
	}
	s.Statistics.Same, s.Statistics.After = l.repeats(cells)
	s.peaks = l.peaks(cells, rows, columns)
	l.common.add(cells)
	row, column := func(t int) int { return t * s.Rows / l.T }, func(key int) int { return key * s.Cols / l.S }
	l.hide(head, s.Thumbnail, -1, s.Cols, row, column)
	l.summaries[head] = s
	if l.Linear || !slices.Contains(l.summaries, nil) {
		l.graph = nil
	}
	return s, nil
}

// statistics returns the statistics of the head that the graph has computed.
func (l *Layer) statistics(head int, g *headGraph) Statistics {
	scores := float32sOf(g.stats.MaxScore)
	mean := func(n *G.Node) *float64 {
		sum, queries := 0.0, 0.0
		for t, v := range float32sOf(n) {
			if !math.IsInf(float64(scores[t]), -1) {
				sum, queries = sum+float64(v), queries+1
			}
		}
		return finite(sum / queries)
	}
	s := Statistics{Entropy: mean(g.stats.Entropy), First: mean(g.stats.First)}
	if !l.Linear {
		s.Largest = finite(float64(slices.Max(scores)))
	}
	if l.Queries == l.Keys {
		s.Self, s.Previous, s.Distance = mean(g.stats.Own), mean(g.stats.Previous), mean(g.stats.Distance)
	}
	s.Telling = l.telling(head, g.stats)
	return s
}

// telling returns the Telling of a head.
func (l *Layer) telling(head int, of *graph.AttentionStats) *float64 {
	entropy, first, own := float32sOf(of.Entropy), float32sOf(of.First), float32sOf(of.Own)
	sum, queries := 0.0, 0.0
	for t := range l.T {
		keys := l.seen(head, t)
		n := 0
		for i := 0; i < len(keys); i += 2 {
			n += int(keys[i+1] - keys[i])
		}
		if n < fewestTold {
			continue
		}
		taken := float64(first[t])
		if l.Queries == l.Keys && t > 0 { // the first query's own key is the first one
			taken += float64(own[t])
		}
		sum, queries = sum+(1-float64(entropy[t])/math.Log(float64(n)))*(1-taken), queries+1
	}
	return finite(sum / queries)
}

// mostOf returns the largest weight of each query.
func mostOf(of *graph.AttentionStats) []float32 {
	scores, sums := float32sOf(of.MaxScore), float32sOf(of.LogSumExp)
	most := make([]float32, len(scores))
	for t, score := range scores {
		if !math.IsInf(float64(score), -1) {
			most[t] = float32(math.Exp(float64(score) - float64(sums[t])))
		}
	}
	return most
}

// finite returns a number in the form of JSON: nil for NaN and ∞.
func finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// hide sets those cells of a head to a value in which the mask hides every key from every query. row and column return
// the row of a query and the column of a key in the cells.
func (l *Layer) hide(head int, cells []float32, value float32, columns int, row, column func(at int) int) {
	shown := make([]bool, columns) // of a row of cells
	for t := range l.T {
		keys := l.seen(head, t)
		for i := 0; i < len(keys); i += 2 {
			for c := column(int(keys[i])); c <= column(int(keys[i+1])-1); c++ {
				shown[c] = true
			}
		}
		if t+1 < l.T && row(t+1) == row(t) {
			continue
		}
		for c, is := range shown {
			if !is {
				cells[row(t)*columns+c] = value
			}
		}
		clear(shown)
	}
}

// Overview is the weights of a head at the scale of a screen: the largest weight of each block of 2^Level queries and
// keys, NaN where the mask hides all of the block.
type Overview struct {
	Level   int       `json:"level"`
	Rows    int       `json:"rows"`
	Cols    int       `json:"cols"`
	Weights []float32 `json:"-"` // (Rows, Cols)
}

// Overview computes the overview of the weights of a head with at most side rows and columns.
func (l *Layer) Overview(head, side int) (*Overview, error) {
	o := new(Overview)
	for max(l.T, l.S) > side<<o.Level {
		o.Level++
	}
	block := 1 << o.Level
	o.Rows, o.Cols = (l.T+block-1)/block, (l.S+block-1)/block
	g, err := l.newHeadGraph(head, func(s *graph.AttentionStats) (*G.Node, error) { return s.Largest(block, block) })
	if err != nil {
		return nil, err
	}
	defer g.machine.Close() // it is not kept, since it is as large as the weights
	if err := g.run(head); err != nil {
		return nil, err
	}
	o.Weights = float32sOf(g.largest)
	of := func(at int) int { return at >> o.Level }
	l.hide(head, o.Weights, float32(math.NaN()), o.Cols, of, of)
	return o, nil
}
