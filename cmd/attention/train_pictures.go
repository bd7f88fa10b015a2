package main

import (
	"fmt"
	"image/color"
	"io"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/palette/brewer"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gorgonia.org/tensor"
)

var (
	blue   = color.NRGBA{R: 0x1f, G: 0x77, B: 0xb4, A: 0xff}
	pale   = color.NRGBA{R: 0x1f, G: 0x77, B: 0xb4, A: 0x50}
	orange = color.NRGBA{R: 0xe6, G: 0x55, B: 0x0d, A: 0xff}
	grey   = color.NRGBA{R: 0x77, G: 0x77, B: 0x77, A: 0xff}
)

// drawLoss draws training and validation loss over the steps, with the n-gram
// lines.
func (r *trainRun) drawLoss(w io.Writer) error {
	p := plot.New()
	p.Title.Text = fmt.Sprintf("%s on %s", r.config.Attention.Layer, r.corpus.source.Name)
	p.X.Label.Text, p.Y.Label.Text = "step", "loss (nats per character)"
	p.Title.Padding = vg.Points(6)
	p.Legend.Top, p.Legend.XOffs, p.Legend.YOffs = true, vg.Points(-8), vg.Points(-8)
	p.Add(plotter.NewGrid())

	each, smooth := make(plotter.XYs, len(r.history.steps)), make(plotter.XYs, len(r.history.steps))
	var h history
	for i, s := range r.history.steps {
		h.steps = r.history.steps[:i+1]
		loss, _ := h.recent()
		each[i] = plotter.XY{X: float64(i + 1), Y: s.Loss}
		smooth[i] = plotter.XY{X: float64(i + 1), Y: loss}
	}
	validation := make(plotter.XYs, len(r.history.evaluations))
	for i, e := range r.history.evaluations {
		validation[i] = plotter.XY{X: float64(e.Step), Y: e.Loss}
	}
	end := float64(len(r.history.steps))
	level := func(y float64) plotter.XYs { return plotter.XYs{{X: 0, Y: y}, {X: end, Y: y}} }
	for _, l := range []struct {
		name  string
		data  plotter.XYs
		color color.Color
		dash  bool
	}{
		{"", each, pale, false},
		{"training", smooth, blue, false},
		{"validation", validation, orange, false},
		{"unigram", level(r.corpus.ngram.Unigram), grey, true},
		{"bigram", level(r.corpus.ngram.Bigram), color.Black, true},
	} {
		if len(l.data) == 0 {
			continue
		}
		line, err := plotter.NewLine(l.data)
		if err != nil {
			return err
		}
		line.Color, line.Width = l.color, vg.Points(1.2)
		if l.dash {
			line.Dashes = []vg.Length{vg.Points(5), vg.Points(3)}
		}
		p.Add(line)
		if l.name != "" {
			p.Legend.Add(l.name, line)
		}
	}
	png, err := p.WriterTo(8*vg.Inch, 5*vg.Inch, "png")
	if err != nil {
		return err
	}
	_, err = png.WriteTo(w)
	return err
}

// shownTokens is how many characters the picture of the weights shows.
const shownTokens = 32

// drawWeights draws the attention weights of each head over the beginning of the
// validation split: a row for each query, a column for each key.
func (r *trainRun) drawWeights(w io.Writer) error {
	ids := r.corpus.validation[:min(shownTokens, r.config.Context)]
	f, err := r.newForward(len(ids))
	if err != nil {
		return err
	}
	if err := f.run(ids); err != nil {
		return err
	}
	weights, n := float64s(f.weights.Value().(*tensor.Dense)), len(ids)
	heads := len(weights) / (n * n)
	cols := 1
	for cols*cols < heads {
		cols++
	}
	rows := (heads + cols - 1) / cols
	const side = 5 * vg.Inch
	canvas := vgimg.New(side*vg.Length(cols), side*vg.Length(rows))
	tiles := draw.Tiles{Rows: rows, Cols: cols, PadX: vg.Points(8), PadY: vg.Points(8)}
	for h := range heads {
		p, err := r.weightsPlot(fmt.Sprintf("%s, head %d of %d", r.config.Attention.Layer, h+1, heads), ids, weights[h*n*n:(h+1)*n*n])
		if err != nil {
			return err
		}
		p.Draw(tiles.At(draw.New(canvas), h%cols, h/cols))
	}
	_, err = vgimg.PngCanvas{Canvas: canvas}.WriteTo(w)
	return err
}

func (r *trainRun) weightsPlot(title string, ids []int, weights []float64) (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text = title
	p.X.Label.Text, p.Y.Label.Text = "key", "query"
	blues, err := brewer.GetPalette(brewer.TypeSequential, "Blues", 9)
	if err != nil {
		return nil, err
	}
	heat := plotter.NewHeatMap(weightGrid{len(ids), weights}, blues)
	heat.Min = 0 // white is no weight at all
	p.Add(heat)
	var keys, queries []plot.Tick
	for i, id := range ids {
		c, err := r.corpus.vocabulary.Decode([]int{id})
		if err != nil {
			return nil, err
		}
		if c == "\n" {
			c = "¶"
		}
		if c == " " {
			c = "·"
		}
		keys = append(keys, plot.Tick{Value: float64(i), Label: c})
		queries = append(queries, plot.Tick{Value: float64(len(ids) - 1 - i), Label: c})
	}
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.ConstantTicks(keys), plot.ConstantTicks(queries)
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Tick.Label.Font.Size = font.Points(8)
		axis.Tick.Length, axis.LineStyle.Width = 0, 0
	}
	return p, nil
}

// weightGrid shows weights (T, T) as a grid with the first query on top.
type weightGrid struct {
	n       int
	weights []float64
}

func (g weightGrid) Dims() (cols, rows int) { return g.n, g.n }
func (g weightGrid) X(c int) float64        { return float64(c) }
func (g weightGrid) Y(r int) float64        { return float64(r) }
func (g weightGrid) Z(c, r int) float64     { return g.weights[(g.n-1-r)*g.n+c] }
