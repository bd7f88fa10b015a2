package forward

import (
	"math"
	"regexp"
	"strings"
	"sync"
	"unicode"
)

// cellsSide is the most rows and columns of the cells in which heads are compared. It is a multiple of thumbnailSide,
// so that each cell of a thumbnail consists of whole cells.
const cellsSide = 10 * thumbnailSide

// common is the sum of the weights of all heads between two sequences.
type common struct {
	mu    sync.Mutex
	heads int
	sum   []float32 // (rows, columns)
}

func (c *common) add(cells []float32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.heads++; c.sum == nil {
		c.sum = make([]float32, len(cells))
	}
	for i, w := range cells {
		c.sum[i] += w
	}
}

// peak is the cell of a row that may be telling, and the part of its weight that counts.
type peak struct {
	column       int
	weight, part float32
}

// rowPeaks is the number of peaks that are kept for a row.
const rowPeaks = 3

// peaks returns the peaks (rows, rowPeaks) of the cells (rows, columns) of a head.
func (l *Layer) peaks(cells []float32, rows, columns int) []peak {
	all := make([]peak, rows*rowPeaks)
	for r := range rows {
		of := all[r*rowPeaks:][:rowPeaks]
		for c, w := range cells[r*columns:][:columns] {
			p := peak{c, w, l.counts(r, c, rows)}
			for i := range of {
				if p.weight*p.part > of[i].weight*of[i].part {
					of[i], p = p, of[i]
				}
			}
		}
	}
	return all
}

// counts returns the part of a cell's weight that counts. Within one sequence this is (d − 1)/(d + 2) at a distance of d
// tokens, and nothing on the first key, which takes weight that goes nowhere else. A token without a letter or a digit
// tells nothing.
func (l *Layer) counts(r, c, rows int) float32 {
	if rows == l.T && len(l.keyTokens) == l.S && !(spoken(l.queryTokens[r]) && spoken(l.keyTokens[c])) {
		return 0
	}
	if l.Queries != l.Keys {
		return 1
	}
	d := float64(max(r-c, c-r)*l.T) / float64(rows)
	if c == 0 || d < 2 {
		return 0
	}
	return float32((d - 1) / (d + 2))
}

// spoken reports whether a token has a letter or a digit and is not a mark such as <|end|> or [SEP].
func spoken(t Token) bool {
	is := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }
	return strings.ContainsFunc(t.Text, is) && !mark.MatchString(t.Text)
}

var mark = regexp.MustCompile(`^(<.+>|\[.+\])$`)

// repeats returns two means over the queries with earlier equal tokens: of the weight on these tokens, and of the
// weight on the tokens after them. It returns nil if no query has such tokens. The cells are single weights.
func (l *Layer) repeats(cells []float32) (same, after *float64) {
	if len(l.keyTokens) != l.S || l.Queries != l.Keys || len(cells) != l.T*l.S {
		return nil, nil
	}
	var onSame, onAfter, queries float64
	for q, token := range l.queryTokens {
		found := false
		for k, key := range l.keyTokens[:q] {
			if key.ID != token.ID {
				continue
			}
			found = true
			onSame += float64(cells[q*l.S+k])
			if k+1 < q {
				onAfter += float64(cells[q*l.S+k+1])
			}
		}
		if found {
			queries++
		}
	}
	return finite(onSame / queries), finite(onAfter / queries)
}

// leastTold is the least measure with which a head and a token are chosen when a page opens.
const leastTold = 0.1

// Tells is how much each head tells on each token: its weight less the mean weight of the other heads at the same place,
// times (d − 1)/(d + 2) at a distance of d tokens; the most of all keys, without the first. Between two texts it is the
// largest weight.
type Tells struct {
	Rows  []int     `json:"rows"`           // rows of each layer: T, or cellsSide for a longer text
	Best  []int     `json:"best,omitempty"` // most telling layer, head and token; of a translation, between the texts
	Tells []float32 `json:"-"`              // (Heads, Rows) of all layers in their order
}

// Tells computes how telling the heads are, from the summaries of all of them.
func (l *Pass) Tells() (*Tells, error) {
	t := new(Tells)
	most, crosses := float32(leastTold), false
	for _, layer := range l.Layers {
		crosses = crosses || layer.Queries != layer.Keys
		for head := range layer.Heads {
			if _, err := layer.Summary(head); err != nil {
				return nil, err
			}
		}
	}
	for i, layer := range l.Layers {
		rows := min(layer.T, cellsSide)
		t.Rows = append(t.Rows, rows)
		for head := range layer.Heads {
			for r := range rows {
				tell := layer.tell(head, r)
				t.Tells = append(t.Tells, tell)
				if tell > most && (!crosses || layer.Queries != layer.Keys) {
					most, t.Best = tell, []int{i, head, r}
				}
			}
		}
	}
	if len(t.Best) == 0 {
		return t, nil
	}
	at, err := l.Layers[t.Best[0]].tokenOf(t.Best[1], t.Best[2])
	t.Best[2] = at
	return t, err
}

// tell returns how much a head tells in a row of cells.
func (l *Layer) tell(head, r int) (tell float32) {
	columns := min(l.S, cellsSide)
	l.common.mu.Lock()
	defer l.common.mu.Unlock()
	for _, p := range l.summaries[head].peaks[r*rowPeaks:][:rowPeaks] {
		others := float32(0)
		if n := l.common.heads - 1; n > 0 && l.Queries == l.Keys {
			others = (l.common.sum[r*columns+p.column] - p.weight) / float32(n)
		}
		tell = max(tell, (p.weight-others)*p.part)
	}
	return tell
}

// tokenOf returns the token in a row of cells that has the largest weight on a key that counts.
func (l *Layer) tokenOf(head, r int) (token int, err error) {
	rows := min(l.T, cellsSide)
	from, most := (r*l.T+rows-1)/rows, float32(0)
	if rows == l.T || l.Linear {
		return from, nil
	}
	token = from
	for t := from; t < l.T && t*rows/l.T == r; t++ {
		_, weights, err := l.row(t)
		if err != nil {
			return 0, err
		}
		for k, w := range weights[head*l.S:][:l.S] {
			if w > most && !math.IsNaN(float64(w)) && l.counts(t, k, l.T) > 0 {
				token, most = t, w
			}
		}
	}
	return token, nil
}
