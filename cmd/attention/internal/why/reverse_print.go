package why

import (
	"context"
	"fmt"
	"strings"

	"attention/cmd/attention/internal/plot"
	"attention/train/tasks/reversal"
)

// shownLengths are the lengths of the example strings. Their reverses by every model are printed.
var shownLengths = []int{6, 12, 40}

// tableLengths are the columns of the table.
var tableLengths = []int{5, 10, 15, 20, 25, 30, 35, 40}

// printReverse prints the plot and the table.
func (c *comparison) printReverse(r *taskReport) {
	fmt.Fprintf(c.Out, "\nTrained in %.0f s. Of %d new strings of each length (%s), written right\n"+
		"to the last letter, %%:\n\n", r.Seconds, r.Strings*len(c.Seeds), seedsText(len(c.Seeds)))
	lines := make([]plot.TextLine, len(r.Models))
	for i, m := range r.Models {
		lines[i] = plot.TextLine{Mark: rivals[i].mark, Name: m.Name}
		for _, n := range r.Lengths {
			mean, _, _ := spread(m.at(n))
			lines[i].Y = append(lines[i].Y, 100*mean)
		}
	}
	fmt.Fprint(c.Out, plot.Text(r.Lengths, lines, "length"))
	fmt.Fprintf(c.Out, "\n%-12s", "length")
	for _, n := range tableLengths {
		fmt.Fprintf(c.Out, "%8d", n)
	}
	for _, m := range r.Models {
		fmt.Fprintf(c.Out, "\n%-12s", m.Name)
		var low []string
		for _, n := range tableLengths {
			mean, least, most := spread(m.at(n))
			fmt.Fprintf(c.Out, "%8.1f", 100*mean)
			low = append(low, fmt.Sprintf("%8s", fmt.Sprintf("%.0f–%.0f", 100*least, 100*most)))
		}
		if len(c.Seeds) > 1 {
			fmt.Fprintf(c.Out, "\n%-12s%s", "  seeds", strings.Join(low, ""))
		}
	}
	fmt.Fprintln(c.Out)
}

// seedsText returns "one seed" or "3 seeds".
func seedsText(n int) string {
	if n == 1 {
		return "one seed"
	}
	return fmt.Sprintf("%d seeds", n)
}

// printWritings prints the output of each model of the first seed for a few strings, with wrong letters in capitals.
func (c *comparison) printWritings(ctx context.Context, models []learner) error {
	drawn := reversal.NewStrings(len(shownLengths), streamed(c.Seeds[0], shownStream))
	drawn.Draw(shownLengths)
	writings := make([][]string, len(models))
	for i, m := range models {
		var err error
		if writings[i], err = m.(reverser).Write(ctx, drawn); err != nil {
			return err
		}
	}
	fmt.Fprintf(c.Out, "\nWhat the models of seed %d write, wrong letters in capitals:\n", c.Seeds[0])
	for row := range shownLengths {
		text, reverse := drawn.Row(row)
		fmt.Fprintf(c.Out, "\n%-12s %s\n%-12s %s\n", "string", text, "backwards", reverse)
		for i, rival := range rivals {
			fmt.Fprintf(c.Out, "%-12s %s\n", rival.kind, markWrong(writings[i][row], reverse))
		}
	}
	return nil
}

// markWrong returns the written text with wrong letters in capitals.
func markWrong(written, want string) string {
	text := []byte(written)
	for i := range text {
		if text[i] != want[i] {
			text[i] = strings.ToUpper(written)[i]
		}
	}
	return string(text)
}
