package compare

import (
	"fmt"
	"strings"
)

// column is a column of the table of trainings.
type column struct {
	name   string
	digits int     // behind the point
	factor float64 // of the numbers
	of     func(r *modelReport) []float64
}

// columns returns the columns of a table, of a task or of a text.
func columns(task bool) []column {
	all := []column{{"loss", 4, 1, func(r *modelReport) []float64 { return r.Loss }}}
	if task {
		all = append(all, column{"right, %", 1, 100, func(r *modelReport) []float64 { return r.Exact }})
	}
	return append(all, column{"seconds", 1, 1, func(r *modelReport) []float64 { return r.Seconds }},
		column{"tokens/s", 0, 1, func(r *modelReport) []float64 { return r.Speed }})
}

// printHead prints the title and the names of the columns.
func (c *comparison) printHead() {
	fmt.Fprintf(c.Out, "%s\n%d steps of %d sequences of %d tokens\n\n%6s  %-16s", c.title, c.steps, c.batch,
		c.model.ContextLength, "seed", "attention")
	for _, column := range c.columns {
		fmt.Fprintf(c.Out, "%11s", column.name)
	}
	fmt.Fprintln(c.Out)
}

// printRow prints a row of a model, with a number of each column's numbers.
func (c *comparison) printRow(label, name string, r *modelReport, of func(values []float64) float64) {
	fmt.Fprintf(c.Out, "%6s  %-16s", label, name)
	for _, column := range c.columns {
		fmt.Fprintf(c.Out, "%11.*f", column.digits, column.factor*of(column.of(r)))
	}
	fmt.Fprintln(c.Out)
}

// printMeans prints the means of several seeds, what models of a task have right at each level, and sizes.
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
		fmt.Fprintf(c.Out, "\nRight, %%, by %s:\n\n%-18s", c.level, "attention")
		for _, m := range c.report.Models[0].Marks[0] {
			fmt.Fprintf(c.Out, "%6d", m.Level)
		}
		for _, r := range c.report.Models {
			fmt.Fprintf(c.Out, "\n%-18s", r.Attention)
			for level := range r.Marks[0] {
				mean, _ := spread(r.at(level))
				fmt.Fprintf(c.Out, "%6.1f", 100*mean)
			}
		}
		fmt.Fprintln(c.Out)
	}
	const sizes = "%-18s%6v%12v%16v%14v%10v\n"
	fmt.Fprint(c.Out, "\n", strings.Repeat(" ", 52), "cache, bytes:\n")
	fmt.Fprintf(c.Out, sizes, "attention", "MLP", "parameters", "training, MiB", "a token", "fixed")
	for _, r := range c.report.Models {
		fmt.Fprintf(c.Out, sizes, r.Attention, r.DimFeedforward, r.Parameters, fmt.Sprintf("%.1f", float64(r.Memory)/(1<<20)),
			r.Token, r.Fixed)
	}
}
