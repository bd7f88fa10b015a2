package main

import (
	"fmt"
	"image/color"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"attention/graph/machine"
	"attention/layers"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/palette"
	"gonum.org/v1/plot/palette/moreland"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// What a picture of attention weights has room for.
const (
	shownTokens = 32
	shownHeads  = 16
	labelSize   = 8 // points
)

// shown are the characters of a window that the picture has: of a long one the
// first, or the last if a layer sees it as a whole, since training asks the last
// query only.
func shown(m textModel) (first, n int) {
	n = min(m.context(), shownTokens)
	if !m.causal() {
		first = m.context() - n
	}
	return first, n
}

// drawWeights draws the attention weights of each head on the first window of the
// validation split: a row for each query, a column for each key, all heads in one
// scale of colours.
func (r *trainRun) drawWeights(w io.Writer, m watchable) error {
	window := r.corpus.validation[:m.context()]
	weights, err := weightsOf(r.params, m, window)
	if err != nil {
		return err
	}
	t := len(window)
	first, n := shown(m)
	labels, err := r.labels(window[first : first+n])
	if err != nil {
		return err
	}
	heads := len(weights) / (t * t)
	var grids []weightGrid
	for h := range min(heads, shownHeads) {
		grids = append(grids, weightGrid{n, cutSquare(weights[h*t*t:(h+1)*t*t], t, first, n)})
	}
	canvas, err := weightsCanvas(grids, heads, labels)
	if err != nil {
		return err
	}
	_, err = vgimg.PngCanvas{Canvas: canvas}.WriteTo(w)
	return err
}

// weightsOf are the attention weights ([H,] T, T) of a window, without dropout.
func weightsOf(p *layers.Params, m watchable, window []int) ([]float64, error) {
	b := layers.NewBuild(p, layers.Eval)
	ids, err := b.InputOf(tensor.Int, "ids", len(window)), b.Err()
	if err != nil {
		return nil, err
	}
	_, weights, err := m.forwardWithWeights(b, ids)
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
	return float64s(weights.Value().(*tensor.Dense)), err
}

// cutSquare copies n rows and columns, from the one called first on, of a square
// of t rows and columns.
func cutSquare(square []float64, t, first, n int) []float64 {
	var cut []float64
	for row := first; row < first+n; row++ {
		cut = append(cut, square[row*t+first:][:n]...)
	}
	return cut
}

// labels are the first characters of ids' tokens, each as something that the picture's
// font can show.
func (r *trainRun) labels(ids []int) ([]string, error) {
	sans := font.DefaultCache.Lookup(newPlot("", "", "").X.Tick.Label.Font, labelSize).Face
	var labels []string
	for _, id := range ids {
		token, err := r.corpus.tokenizer.Decode([]int{id})
		if err != nil {
			return nil, err
		}
		if len(token) > 1 {
			token = strings.TrimPrefix(token, " ")
		}
		c, _ := utf8.DecodeRuneInString(token)
		glyph, err := sans.GlyphIndex(nil, c)
		switch {
		case c == '\n':
			c = '¶'
		case c == ' ':
			c = '·'
		case err != nil || glyph == 0 || !unicode.IsGraphic(c) || unicode.IsSpace(c):
			c = '¤'
		}
		labels = append(labels, string(c))
	}
	return labels, nil
}

// weightsCanvas draws the grids in rows, as near to a square as can be, and the
// scale of colours on the right.
func weightsCanvas(grids []weightGrid, heads int, labels []string) (*vgimg.Canvas, error) {
	top := 0.01 // a scale needs an extent
	for _, g := range grids {
		top = max(top, slices.Max(g.weights))
	}
	colors, err := whiteToBlue(top)
	if err != nil {
		return nil, err
	}
	cols := 1
	for cols*cols < len(grids) {
		cols++
	}
	rows := (len(grids) + cols - 1) / cols
	const wide, high, bar = 4.5 * vg.Inch, 4.8 * vg.Inch, 0.9 * vg.Inch
	canvas := vgimg.New(wide*vg.Length(cols)+bar, high*vg.Length(rows))
	all := draw.New(canvas)
	tiles := draw.Tiles{Rows: rows, Cols: cols, PadX: 14, PadY: 14, PadTop: 8, PadBottom: 8, PadLeft: 8}
	for h, g := range grids {
		title := fmt.Sprintf("attention weights, head %d of %d", h+1, heads)
		if heads == 1 {
			title = "attention weights"
		}
		weightsPlot(title, labels, g, colors).Draw(tiles.At(draw.Crop(all, 0, -bar, 0, 0), h%cols, h/cols))
	}
	scale := newPlot("", "", "")
	scale.Add(&plotter.ColorBar{ColorMap: colors, Vertical: true})
	scale.HideX()
	scale.Draw(draw.Crop(all, wide*vg.Length(cols)+8, -8, 28, -28))
	return canvas, nil
}

// whiteToBlue gives colours to the numbers from 0 to top; white is no weight at all.
func whiteToBlue(top float64) (palette.ColorMap, error) {
	darkToLight, err := moreland.NewLuminance([]color.Color{
		color.NRGBA{R: 0x08, G: 0x30, B: 0x6b, A: 0xff}, color.NRGBA{R: 0x3b, G: 0x8b, B: 0xc4, A: 0xff}, color.White})
	if err != nil {
		return nil, err
	}
	darkToLight.SetMax(top)
	return palette.Reverse(darkToLight), nil
}

func weightsPlot(title string, labels []string, g weightGrid, colors palette.ColorMap) *plot.Plot {
	p := newPlot(title, "key", "query")
	heat := plotter.NewHeatMap(g, colors.Palette(256))
	heat.Min, heat.Max = 0, colors.Max()
	p.Add(heat)
	var keys, queries []plot.Tick
	for i, label := range labels {
		keys = append(keys, plot.Tick{Value: float64(i), Label: label})
		queries = append(queries, plot.Tick{Value: float64(len(labels) - 1 - i), Label: label})
	}
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.ConstantTicks(keys), plot.ConstantTicks(queries)
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Tick.Label.Font.Size = labelSize
		axis.Tick.Length, axis.LineStyle.Width = 0, 0
	}
	return p
}

// weightGrid shows n·n weights as a grid with the first query on top.
type weightGrid struct {
	n       int
	weights []float64
}

func (g weightGrid) Dims() (cols, rows int) { return g.n, g.n }
func (g weightGrid) X(c int) float64        { return float64(c) }
func (g weightGrid) Y(r int) float64        { return float64(r) }
func (g weightGrid) Z(c, r int) float64     { return g.weights[(g.n-1-r)*g.n+c] }
