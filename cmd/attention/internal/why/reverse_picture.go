package why

import (
	"context"
	"fmt"
	"image/color"
	"io"
	"strings"

	"attention/cmd/attention/internal/plot"
	"attention/train/reversal"

	"gonum.org/v1/plot/plotter"
)

// write writes the curves as a PNG: the mean of the seeds, and each seed thin.
func (r *taskReport) write(w io.Writer) error {
	var curves []plot.Curve
	for model, m := range r.Models {
		rival := rivals[model]
		line := func(share func(n int) float64) (points plotter.XYs) {
			for _, n := range r.Lengths {
				points = append(points, plotter.XY{X: float64(n), Y: 100 * share(n)})
			}
			return points
		}
		if len(m.Exact) > 1 {
			for i := range m.Exact {
				curves = append(curves, plot.Curve{Points: line(func(n int) float64 { return m.at(n)[i] }),
					Color: faint(rival.ink), Width: 0.7})
			}
		}
		curves = append(curves, plot.Curve{Name: fmt.Sprintf("%s, %d parameters", m.Name, m.Parameters),
			Width: rival.width, Color: rival.ink,
			Points: line(func(n int) float64 { mean, _, _ := spread(m.at(n)); return mean })})
	}
	seeds := seedsText(len(r.Models[0].Exact))
	if len(r.Models[0].Exact) > 1 {
		seeds += " (thin: each)"
	}
	title := fmt.Sprintf("strings written backwards, %d steps, %s", r.Steps, seeds)
	return plot.WriteShares(w, title, "length of the string", "right to the last letter, %", curves)
}

// faint returns the colour, half transparent.
func faint(c color.NRGBA) color.NRGBA {
	c.A = 0x70
	return c
}

// drawnLength is the length of the string in the picture of attention weights.
const drawnLength = 20

// drawReverseAttention draws at which letters the models of the first seed look when they write a string backwards.
func (c *comparison) drawReverseAttention(ctx context.Context, models []learner) error {
	drawn := reversal.NewStrings(1, streamed(c.seeds[0], shownStream+1))
	drawn.Draw([]int{drawnLength})
	text, reverse := drawn.Row(0)
	columns, rows := append(strings.Split(text, ""), "end"), strings.Split(reverse, "")
	picture := plot.HeatMaps{X: "the string", Y: "what is written", Scale: "attention weight",
		Title: fmt.Sprintf("where they look to write each letter, seed %d", c.seeds[0])}
	for i, m := range models {
		heads, err := m.(reverser).Weights(ctx, drawn)
		if err != nil {
			return err
		}
		for h, weights := range heads {
			title := string(rivals[i].kind)
			if len(heads) > 1 {
				title = fmt.Sprintf("%s, head %d of %d", title, h+1, len(heads))
			}
			picture.Maps = append(picture.Maps, plot.HeatMap{Title: title, Columns: columns, Rows: rows, Values: weights})
		}
	}
	return c.draw("reverse-attention.png", picture.Write)
}
