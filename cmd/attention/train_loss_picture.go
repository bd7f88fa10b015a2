package main

import (
	"fmt"
	"image/color"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"attention/train"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// newPlot is an empty plot in the pictures' style.
func newPlot(title, x, y string) *plot.Plot {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	p.Title.Padding = vg.Points(8)
	p.X.Label.Padding, p.Y.Label.Padding = vg.Points(4), vg.Points(4)
	for _, f := range []*font.Font{&p.Title.TextStyle.Font, &p.X.Label.TextStyle.Font, &p.Y.Label.TextStyle.Font,
		&p.X.Tick.Label.Font, &p.Y.Tick.Label.Font, &p.Legend.TextStyle.Font} {
		f.Variant = "Sans"
	}
	p.Title.TextStyle.Font.Size = 13
	p.Legend.TextStyle.Font.Size = 11
	return p
}

// stepTicks are gonum's ticks without decimals that say nothing.
func stepTicks(from, to float64) []plot.Tick {
	ticks := plot.DefaultTicks{}.Ticks(from, to)
	for i, t := range ticks {
		if !t.IsMinor() {
			ticks[i].Label = strconv.FormatFloat(t.Value, 'f', -1, 32)
		}
	}
	return ticks
}

// curve is one line of the loss plot.
type curve struct {
	name   string // in the legend; empty for none
	points plotter.XYs
	color  color.Color
	width  vg.Length
	dashes []vg.Length
	dots   bool
}

// drawLoss draws training and validation loss over the steps, with what counting tokens
// achieves.
func (r *trainRun) drawLoss(w io.Writer) error {
	text := "the built-in text"
	if !r.config.Text.builtin() {
		text = filepath.Base(r.config.Text.Name)
	}
	p := newPlot(fmt.Sprintf("%s on %s", r.model.title(), text), "step", "loss (nats per "+strings.TrimSuffix(r.corpus.unit(), "s")+")")
	p.Legend.Top, p.Legend.Padding = true, vg.Points(3)
	p.Add(plotter.NewGrid())
	for _, c := range r.curves() {
		line, dots, err := plotter.NewLinePoints(c.points)
		if err != nil {
			return err
		}
		line.Color, line.Width, line.Dashes = c.color, c.width, c.dashes
		p.Add(line)
		if c.dots || len(c.points) == 1 {
			dots.Color, dots.Radius, dots.Shape = c.color, 2, draw.CircleGlyph{}
			p.Add(dots)
		}
		if c.name != "" {
			p.Legend.Add(c.name, line)
		}
	}
	p.X.Min = 0
	p.X.Tick.Marker = plot.TickerFunc(stepTicks)
	margin := (p.Y.Max - p.Y.Min) / 25
	p.Y.Min, p.Y.Max = p.Y.Min-margin, p.Y.Max+margin
	canvas := vgimg.New(8*vg.Inch, 5*vg.Inch)
	p.Draw(draw.Crop(draw.New(canvas), vg.Points(10), -vg.Points(18), vg.Points(8), -vg.Points(8)))
	_, err := vgimg.PngCanvas{Canvas: canvas}.WriteTo(w)
	return err
}

// curves are the lines to draw; the loss of single steps is a pale one.
func (r *trainRun) curves() []curve {
	blue, pale := color.NRGBA{R: 0x1f, G: 0x77, B: 0xb4, A: 0xff}, color.NRGBA{R: 0x1f, G: 0x77, B: 0xb4, A: 0x50}
	orange, grey := color.NRGBA{R: 0xe6, G: 0x55, B: 0x0d, A: 0xff}, color.NRGBA{R: 0x77, G: 0x77, B: 0x77, A: 0xff}
	dashes := []vg.Length{vg.Points(5), vg.Points(3)}
	steps := r.history.steps
	level := func(y float64) plotter.XYs { return plotter.XYs{{X: 0, Y: y}, {X: float64(len(steps)), Y: y}} }
	var curves []curve
	if ngram := r.corpus.ngram; ngram != nil {
		curves = append(curves, curve{"unigram", level(ngram.Unigram), grey, 1, dashes, false},
			curve{"bigram", level(ngram.Bigram), color.Black, 1, dashes, false})
	}
	curves = append(curves,
		curve{"", meanLosses(steps, 2000), pale, 1, nil, false},
		curve{"training", meanLosses(steps, 100), blue, 1.5, nil, false})
	var validation plotter.XYs
	for _, e := range r.history.evaluations {
		validation = append(validation, plotter.XY{X: float64(e.Step), Y: e.Loss})
	}
	if len(validation) > 0 {
		curves = append(curves, curve{"validation", validation, orange, 1.5, nil, true})
	}
	return curves
}

// meanLosses cuts the steps into at most so many groups of one size and returns
// the mean of each.
func meanLosses(steps []train.Step, groups int) plotter.XYs {
	size := (len(steps) + groups - 1) / groups
	var points plotter.XYs
	for i := 0; i < len(steps); i += size {
		group := steps[i:min(i+size, len(steps))]
		var mean plotter.XY
		for _, s := range group {
			mean.X += float64(s.N+1) / float64(len(group))
			mean.Y += s.Loss / float64(len(group))
		}
		points = append(points, mean)
	}
	return points
}
