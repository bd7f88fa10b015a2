package compare

import (
	"fmt"
	"strings"

	"attention/cmd/attention/internal/term"
)

// column is a column of the table of trainings.
type column struct {
	form, name string  // of the table
	factor     float64 // of the numbers
	of         func(r *modelReport) []float64
}

// columns returns the columns of the table for a task or for a text.
func columns(task bool) []column {
	all := []column{{"%11.4f", "loss", 1, func(r *modelReport) []float64 { return r.Loss }}}
	if task {
		all = append(all, column{"%11.1f", "right, %", 100, func(r *modelReport) []float64 { return r.Exact }})
	}
	return append(all, column{"%11.1f", "seconds", 1, func(r *modelReport) []float64 { return r.Seconds }},
		column{"%11.0f", "tokens/s", 1, func(r *modelReport) []float64 { return r.Speed }})
}

// trainings returns the table of trainings.
func (c *comparison) trainings() term.Table {
	t := term.Table{Form: "%6s  %-16s", Names: []any{"seed", "attention"}, Title: fmt.Sprintf(
		"%s\n%d steps of %d sequences of %d tokens\n\n", c.title, c.steps, c.batch, c.model.ContextLength)}
	for _, column := range c.columns {
		t.Add(column.form, column.name)
	}
	return t
}

// printRow prints a row of a model, with a number of each column's numbers.
func (c *comparison) printRow(label, name string, r *modelReport, of func(values []float64) float64) {
	cells := []any{label, name}
	for _, column := range c.columns {
		cells = append(cells, column.factor*of(column.of(r)))
	}
	c.table.Row(c.Out, cells...)
}

// printMeans prints the means of several seeds, the shares of right answers at each level of a task, and sizes.
func (c *comparison) printMeans() {
	if len(c.report.Seeds) > 1 {
		fmt.Fprintln(c.Out)
		for i := range c.report.Models {
			r := &c.report.Models[i]
			c.printRow("mean", r.Attention, r, func(x []float64) float64 { mean, _ := spread(x); return mean })
			c.printRow("±", "", r, func(x []float64) float64 { _, deviation := spread(x); return deviation })
		}
	}
	if c.level != "" {
		t := term.Table{Form: "%-18s", Names: []any{"attention"}, Title: fmt.Sprintf("\nRight, %%, by %s:\n\n", c.level)}
		for _, m := range c.report.Models[0].Marks[0] {
			t.Add("%6.1f", fmt.Sprint(m.Level))
		}
		for _, r := range c.report.Models {
			cells := []any{r.Attention}
			for level := range r.Marks[0] {
				mean, _ := spread(r.at(level))
				cells = append(cells, 100*mean)
			}
			t.Row(c.Out, cells...)
		}
	}
	sizes := term.Table{Form: "%-18s%6d%12d%16.1f%14d%10d", Title: "\n" + strings.Repeat(" ", 52) + "cache, bytes:\n",
		Names: []any{"attention", "MLP", "parameters", "training, MiB", "a token", "fixed"}}
	for _, r := range c.report.Models {
		sizes.Row(c.Out, r.Attention, r.DimFeedforward, r.Parameters, float64(r.Memory)/(1<<20), r.Token, r.Fixed)
	}
}
