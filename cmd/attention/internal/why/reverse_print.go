package why

import (
	"context"
	"fmt"
	"image/color"
	"io"
	"strings"

	"attention/cmd/attention/internal/plot"

	"gonum.org/v1/plot/plotter"
)

// shownLengths are the lengths of the strings whose reverses by every model are printed.
var shownLengths = []int{6, 12, 40}

// tableLengths are the columns of the table.
var tableLengths = []int{5, 10, 15, 20, 25, 30, 35, 40}

// printReverse prints the plot and the table.
func (c *comparison) printReverse(r *taskReport) {
	fmt.Fprintf(c.out, "\nTrained in %.0f s. Of %d new strings of each length (%s), written right\n"+
		"to the last letter, %%:\n\n", r.Seconds, r.Strings*len(c.seeds), seedsText(len(c.seeds)))
	lines := make([]plot.TextLine, len(r.Models))
	for i, m := range r.Models {
		lines[i] = plot.TextLine{Mark: rivals[i].mark, Name: m.Name}
		for _, n := range r.Lengths {
			mean, _, _ := spread(m.at(n))
			lines[i].Y = append(lines[i].Y, 100*mean)
		}
	}
	fmt.Fprint(c.out, plot.Text(r.Lengths, lines, "length"))
	fmt.Fprintf(c.out, "\n%-12s", "length")
	for _, n := range tableLengths {
		fmt.Fprintf(c.out, "%8d", n)
	}
	for _, m := range r.Models {
		fmt.Fprintf(c.out, "\n%-12s", m.Name)
		var low []string
		for _, n := range tableLengths {
			mean, least, most := spread(m.at(n))
			fmt.Fprintf(c.out, "%8.1f", 100*mean)
			low = append(low, fmt.Sprintf("%8s", fmt.Sprintf("%.0f–%.0f", 100*least, 100*most)))
		}
		if len(c.seeds) > 1 {
			fmt.Fprintf(c.out, "\n%-12s%s", "  seeds", strings.Join(low, ""))
		}
	}
	fmt.Fprintln(c.out)
}

// seedsText returns "one seed" or "3 seeds".
func seedsText(n int) string {
	if n == 1 {
		return "one seed"
	}
	return fmt.Sprintf("%d seeds", n)
}

// printWritings prints what each model of the first seed writes for a few strings, with wrong letters in capitals.
func (c *comparison) printWritings(ctx context.Context, models []learner) error {
	b := newStringBatch(len(shownLengths), streamed(c.seeds[0], shownStream))
	b.drawEach(shownLengths)
	writings := make([][]string, len(models))
	for i, m := range models {
		j, err := newJudge(m.(rival), len(shownLengths))
		if err != nil {
			return err
		}
		if writings[i], err = j.write(ctx, b); err != nil {
			return err
		}
	}
	fmt.Fprintf(c.out, "\nWhat the models of seed %d write, wrong letters in capitals:\n", c.seeds[0])
	for row := range b.lengths {
		text, reverse := b.row(row)
		fmt.Fprintf(c.out, "\n%-12s %s\n%-12s %s\n", "string", text, "backwards", reverse)
		for i, rival := range rivals {
			fmt.Fprintf(c.out, "%-12s %s\n", rival.name, markWrong(writings[i][row], reverse))
		}
	}
	return nil
}

// markWrong returns the written text, with letters that differ from the wanted ones in capitals.
func markWrong(written, want string) string {
	text := []byte(written)
	for i := range text {
		if text[i] != want[i] {
			text[i] = strings.ToUpper(written)[i]
		}
	}
	return string(text)
}

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
