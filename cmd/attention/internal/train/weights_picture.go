package train

import (
	"context"
	"fmt"
	"io"
	"math"

	"attention/cmd/attention/internal/plot"
	"attention/cmd/attention/internal/run/models"
	"attention/cmd/attention/internal/run/settings"
	"attention/internal/dense"
	"attention/layers"
	"attention/train/text"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// shownTokens is the maximum number of tokens of a window in a picture of attention weights.
const shownTokens = 32

// pictured returns a window of tokens and the index of the first token that the picture shows. The window is the
// prompt, or else validation text that begins with a word. A long text is cut to its beginning. For a layer that sees
// the window as a whole it is cut to its end, since training uses only the last query.
func (r *training) pictured() (window []int, first int, err error) {
	context := r.model.Context()
	n := min(context, shownTokens)
	if !r.model.Causal() {
		first = context - n
	}
	switch prompted := r.config.Sample.Prompt != ""; {
	case prompted && r.model.Causal():
		return r.prompt[:min(len(r.prompt), n)], first, nil
	case prompted:
		return r.prompt[len(r.prompt)-context:], first, nil
	}
	window, err = r.corpus.Words(first, n)
	return window, first, err
}

// weightsTitle returns the title of the picture of a model's attention weights after n steps of the run in a folder.
func weightsTitle(m settings.ModelConfig, n int, dir string) string {
	return fmt.Sprintf("%s, layer 0, step %d, run %s", m.Title(), n, models.Name(dir))
}

// drawWeights draws the attention weights of each head, with a row for each query and a column for each key. Cells that
// the mask hides are grey.
func (r *training) drawWeights(w io.Writer, m settings.AttentionNetwork) error {
	window, first, err := r.pictured()
	if err != nil {
		return err
	}
	weights, err := windowWeights(m, window)
	if err != nil {
		return err
	}
	tokens, err := text.Texts(r.corpus.Tokenizer, window[first:])
	if err != nil {
		return err
	}
	labels, t := plot.Labels(tokens), len(window)
	heads := len(weights) / (t * t)
	picture := plot.HeatMaps{X: "key", Y: "query", Scale: "attention weight",
		Title: weightsTitle(r.config.Model, r.Loop.Steps(), r.Folder.Path)}
	for h := range min(heads, plot.MaxHeatMaps) {
		picture.Maps = append(picture.Maps, plot.HeatMap{Title: fmt.Sprintf("head %d", h),
			Columns: labels, Rows: labels, Values: shownWeights(weights[h*t*t:][:t*t], t, first, r.model.Causal())})
	}
	return picture.Write(w)
}

// shownWeights returns the weights (t, t) of a head from the first shown token on. Keys after a causal head's query are
// hidden.
func shownWeights(weights []float64, t, first int, causal bool) (shown []float64) {
	for query := first; query < t; query++ {
		for key := first; key < t; key++ {
			w := weights[query*t+key]
			if causal && key > query {
				w = math.NaN()
			}
			shown = append(shown, w)
		}
	}
	return shown
}

// windowWeights returns the attention weights ([H,] T, T) for a window, without dropout.
func windowWeights(m settings.AttentionNetwork, window []int) ([]float64, error) {
	f, err := layers.NewFunc(m.Params(), func(b *layers.Build, in layers.Inputs) []*G.Node {
		return b.Nodes(m.Weights(b, in["ids"]))
	}, layers.FuncConfig{})
	if err != nil {
		return nil, err
	}
	ids := tensor.New(tensor.WithShape(len(window)), tensor.WithBacking(window))
	out, err := f.Call(context.Background(), layers.Values{"ids": ids})
	if err != nil {
		return nil, err
	}
	return dense.Float64s(out[0]), nil
}
