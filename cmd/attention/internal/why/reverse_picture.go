package why

import (
	"context"
	"fmt"
	"image/color"
	"strings"

	"attention/cmd/attention/internal/plot"
	"attention/train/tasks/reversal"

	"gonum.org/v1/plot/plotter"
)

// curves returns the picture of the shares of right strings: thick lines for the means over the seeds, thin ones for
// single seeds.
func (r *taskReport) curves() plot.Curves {
	picture := plot.Curves{X: "length of the string", Y: "right to the last letter, %", Shares: true}
	n := len(r.Models[0].Exact)
	for model, m := range r.Models {
		rival := rivals[model]
		line := func(share func(length int) float64) (points plotter.XYs) {
			for _, length := range r.Lengths {
				points = append(points, plotter.XY{X: float64(length), Y: 100 * share(length)})
			}
			return points
		}
		for i := range n {
			if n > 1 {
				picture.Curves = append(picture.Curves, plot.Curve{Color: faint(rival.ink), Width: 0.7,
					Points: line(func(length int) float64 { return m.at(length)[i] })})
			}
		}
		picture.Curves = append(picture.Curves, plot.Curve{Name: fmt.Sprintf("%s, %d parameters", m.Name, m.Parameters),
			Width: rival.width, Color: rival.ink,
			Points: line(func(length int) float64 { mean, _, _ := spread(m.at(length)); return mean })})
	}
	seeds := seedsText(n)
	if n > 1 {
		seeds += " (thin: each)"
	}
	picture.Title = fmt.Sprintf("strings written backwards, %d steps, %s", r.Steps, seeds)
	return picture
}

// faint returns the colour, half transparent.
func faint(c color.NRGBA) color.NRGBA {
	c.A = 0x70
	return c
}

// drawnLength is the length of the string in the picture of attention weights.
const drawnLength = 20

// drawReverseAttention draws, for the models of the first seed, the attention weights on the letters of a string that
// they write backwards.
func (c *comparison) drawReverseAttention(ctx context.Context, models []learner) error {
	drawn := reversal.NewStrings(1, streamed(c.Seeds[0], shownStream+1))
	drawn.Draw([]int{drawnLength})
	text, reverse := drawn.Row(0)
	columns, rows := append(strings.Split(text, ""), "end"), strings.Split(reverse, "")
	picture := plot.HeatMaps{X: "the string", Y: "what is written", Scale: "attention weight",
		Title: fmt.Sprintf("where they look to write each letter, seed %d", c.Seeds[0])}
	for i, m := range models {
		heads, err := m.(reverser).Weights(ctx, drawn)
		if err != nil {
			return err
		}
		for h, weights := range heads {
			title := string(rivals[i].kind)
			if len(heads) > 1 {
				title = fmt.Sprintf("%s, head %d", title, h)
			}
			picture.Maps = append(picture.Maps, plot.HeatMap{Title: title, Columns: columns, Rows: rows,
				Values: weights})
		}
	}
	return c.Write("reverse-attention.png", picture.Write)
}
