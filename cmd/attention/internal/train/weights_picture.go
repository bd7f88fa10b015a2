package train

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"attention/cmd/attention/internal/plot"
	"attention/cmd/attention/internal/run"
	"attention/graph/machine"
	"attention/internal/tensorprint"
	"attention/layers"

	"gonum.org/v1/plot/vg"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// shownTokens is the maximum number of tokens of a window in a picture of attention weights.
const shownTokens = 32

// shown returns the tokens of a window that the picture shows: the first ones of a long window, or the last if a layer
// sees it as a whole, since training uses only its last query.
func shown(m run.ModelConfig) (first, n int) {
	n = min(m.Context(), shownTokens)
	if !m.Causal() {
		first = m.Context() - n
	}
	return first, n
}

// drawWeights draws the attention weights of each head on the first window of the
// validation split: a row for each query, a column for each key, all heads in one
// scale of colours.
func (r *training) drawWeights(w io.Writer, m run.Watchable) error {
	window := r.corpus.Validation[:r.model.Context()]
	weights, err := weightsOf(m, window)
	if err != nil {
		return err
	}
	t := len(window)
	first, n := shown(r.model.ModelConfig)
	labels, err := r.labels(window[first : first+n])
	if err != nil {
		return err
	}
	heads := len(weights) / (t * t)
	picture := plot.HeatMaps{X: "key", Y: "query", Width: 4.5 * vg.Inch, Height: 4.8 * vg.Inch}
	for h := range min(heads, plot.MaxHeatMaps) {
		title := fmt.Sprintf("attention weights, head %d of %d", h+1, heads)
		if heads == 1 {
			title = "attention weights"
		}
		picture.Maps = append(picture.Maps, plot.HeatMap{Title: title, Columns: labels, Rows: labels,
			Values: cutSquare(weights[h*t*t:(h+1)*t*t], t, first, n)})
	}
	return picture.Write(w)
}

// weightsOf returns the attention weights ([H,] T, T) of a window, without dropout.
func weightsOf(m run.Watchable, window []int) ([]float64, error) {
	b := layers.NewBuild(m.Params(), layers.Eval)
	ids, err := b.InputOf(tensor.Int, "ids", len(window)), b.Err()
	if err != nil {
		return nil, err
	}
	weights, err := m.Weights(b, ids)
	if err != nil {
		return nil, err
	}
	vm, err := machine.New(weights)
	if err != nil {
		return nil, err
	}
	if err := G.Let(ids, tensor.New(tensor.WithShape(len(window)), tensor.WithBacking(window))); err != nil {
		return nil, err
	}
	err = vm.RunAll()
	return tensorprint.Float64s(weights.Value().(*tensor.Dense)), err
}

// cutSquare copies n rows and columns, starting at first, of a square of t rows and
// columns.
func cutSquare(square []float64, t, first, n int) []float64 {
	var cut []float64
	for row := first; row < first+n; row++ {
		cut = append(cut, square[row*t+first:][:n]...)
	}
	return cut
}

// labels returns the first character of each token, or a substitute that the picture's font has.
func (r *training) labels(ids []int) ([]string, error) {
	var labels []string
	for _, id := range ids {
		token, err := r.corpus.Tokenizer.Decode([]int{id})
		if err != nil {
			return nil, err
		}
		if len(token) > 1 {
			token = strings.TrimPrefix(token, " ")
		}
		c, _ := utf8.DecodeRuneInString(token)
		switch {
		case c == '\n':
			c = '¶'
		case c == ' ':
			c = '·'
		case !plot.HasGlyph(c) || !unicode.IsGraphic(c) || unicode.IsSpace(c):
			c = '¤'
		}
		labels = append(labels, string(c))
	}
	return labels, nil
}
