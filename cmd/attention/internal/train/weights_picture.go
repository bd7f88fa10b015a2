package train

import (
	"fmt"
	"io"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"attention/cmd/attention/internal/plot"
	"attention/cmd/attention/internal/run"
	"attention/graph/machine"
	"attention/internal/stock"
	"attention/internal/tensorprint"
	"attention/layers"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// shownTokens is the maximum number of tokens of a window in a picture of attention weights.
const shownTokens = 32

// pictured returns the window of tokens that the picture is about, and the index of the first one that it shows: the
// prompt, or else validation text from a word's start. A long text is cut to its beginning, or to its end if a layer
// sees the window as a whole, since training uses only its last query.
func (r *training) pictured() (window []int, first int, err error) {
	context, given := r.model.Context(), r.config.Sample.Prompt != ""
	n := min(context, shownTokens)
	switch {
	case r.model.Causal() && given:
		return r.prompt[:min(len(r.prompt), n)], 0, nil
	case r.model.Causal():
		begin, err := r.wordStart(0, n)
		return r.corpus.Validation[begin:][:n], 0, err
	case given:
		return r.prompt[len(r.prompt)-context:], context - n, nil
	}
	begin, err := r.wordStart(context-n, n)
	return r.corpus.Validation[begin+n-context:][:context], context - n, err
}

// wordStart returns the first index, at least from, at which a word of the validation text begins that n tokens
// follow, or from if there is none.
func (r *training) wordStart(from, n int) (int, error) {
	ids := r.corpus.Validation
	for i := max(from, 1); i+n <= len(ids); i++ {
		before, err := r.corpus.Tokenizer.Decode(ids[i-1 : i])
		if err != nil {
			return 0, err
		}
		token, err := r.corpus.Tokenizer.Decode(ids[i : i+1])
		if err != nil {
			return 0, err
		}
		word := strings.TrimPrefix(token, " ")
		c, _ := utf8.DecodeRuneInString(word)
		if last, _ := utf8.DecodeLastRuneInString(before); c != utf8.RuneError && !unicode.IsSpace(c) &&
			(word != token || unicode.IsSpace(last)) {
			return i, nil
		}
	}
	return from, nil
}

// weightsTitle returns the title of the picture of attention weights.
func (r *training) weightsTitle() string {
	return fmt.Sprintf("%s, layer 1 of 1, step %d, run %s", r.model.Title(), r.loop.Steps(), r.folder.Name())
}

// drawWeights draws the attention weights of each head: a row for each query, a column for each key, grey where the
// mask hides the key.
func (r *training) drawWeights(w io.Writer, m run.Watchable) error {
	window, first, err := r.pictured()
	if err != nil {
		return err
	}
	weights, err := weightsOf(m, window)
	if err != nil {
		return err
	}
	labels, err := r.labels(window[first:])
	if err != nil {
		return err
	}
	t := len(window)
	heads := len(weights) / (t * t)
	picture := plot.HeatMaps{X: "key", Y: "query", Scale: "attention weight", Title: r.weightsTitle()}
	for h := range min(heads, plot.MaxHeatMaps) {
		values := cutSquare(weights[h*t*t:(h+1)*t*t], t, first, t-first)
		if r.model.Causal() {
			hideFuture(values, t-first)
		}
		picture.Maps = append(picture.Maps, plot.HeatMap{Title: fmt.Sprintf("head %d of %d", h+1, heads),
			Columns: labels, Rows: labels, Values: values})
	}
	return picture.Write(w)
}

// hideFuture hides the keys of a square of n rows and columns that come after their query.
func hideFuture(square []float64, n int) {
	for query := range n {
		for key := query + 1; key < n; key++ {
			square[query*n+key] = math.NaN()
		}
	}
}

// weightsOf returns the attention weights ([H,] T, T) of a window, without dropout.
func weightsOf(m run.Watchable, window []int) ([]float64, error) {
	ids, weights, vm, err := weightsGraph(m, len(window))
	if err != nil {
		return nil, err
	}
	if err := G.Let(ids, tensor.New(tensor.WithShape(len(window)), tensor.WithBacking(window))); err != nil {
		return nil, err
	}
	err = vm.RunAll()
	return tensorprint.Float64s(weights.Value().(*tensor.Dense)), err
}

// weightsGraph builds the graph of the weights of n tokens.
func weightsGraph(m run.Watchable, n int) (ids, weights *G.Node, vm *machine.Machine, err error) {
	stock.Building.Lock()
	defer stock.Building.Unlock()
	b := layers.NewBuild(m.Params(), layers.Eval)
	if ids, err = b.InputOf(tensor.Int, "ids", n), b.Err(); err != nil {
		return nil, nil, nil, err
	}
	if weights, err = m.Weights(b, ids); err == nil {
		vm, err = machine.New(weights)
	}
	return ids, weights, vm, err
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

// labels returns the labels of tokens.
func (r *training) labels(ids []int) ([]string, error) {
	var tokens []string
	for _, id := range ids {
		token, err := r.corpus.Tokenizer.Decode([]int{id})
		if err != nil {
			return nil, err
		}
		tokens = append(tokens, token)
	}
	return run.Labels(tokens), nil
}
