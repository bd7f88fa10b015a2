package main

import (
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"

	"attention/layers"

	"gorgonia.org/tensor"
)

// snapshot copies every parameter.
func snapshot(p *layers.Params) map[string]*tensor.Dense {
	s := map[string]*tensor.Dense{}
	for name, v := range p.All() {
		s[name] = v.Clone().(*tensor.Dense)
	}
	return s
}

// printUpdates shows how far training moved each parameter, and a corner of the
// query weights before and after.
func printUpdates(w io.Writer, before map[string]*tensor.Dense, p *layers.Params) error {
	fmt.Fprintf(w, "\nWhat training moved (Euclidean norms):\n\n")
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "parameter\tshape\tbefore\tafter\tchange\t")
	corner := ""
	for name, after := range p.All() {
		if corner == "" && strings.Contains(name, "W_query") {
			corner = name
		}
		was, is := float64s(before[name]), float64s(after)
		change := make([]float64, len(is))
		for i := range is {
			change[i] = is[i] - was[i]
		}
		fmt.Fprintf(table, "%s\t%v\t%.4f\t%.4f\t%.4f\t\n", name, after.Shape(), norm(was), norm(is), norm(change))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if corner == "" {
		corner = "tokens.weight" // the layer has no weights of its own
	}
	after, _ := p.Get(corner)
	fmt.Fprintf(w, "\nA corner of %s before:\n%s\nand after:\n%s\n", corner, cornerString(before[corner]), cornerString(after))
	return nil
}

// cornerString prints the first three rows and four columns.
func cornerString(t *tensor.Dense) string {
	rows, cols := min(3, t.Shape()[0]), min(4, t.Shape()[1])
	var values []float64
	for r := range rows {
		values = append(values, float64s(t)[r*t.Shape()[1]:][:cols]...)
	}
	return torchString(values, []int{rows, cols})
}

// float64s are a tensor's values.
func float64s(t *tensor.Dense) []float64 {
	switch d := t.Data().(type) {
	case []float64:
		return d
	case []float32:
		v := make([]float64, len(d))
		for i, x := range d {
			v[i] = float64(x)
		}
		return v
	}
	return nil
}

func norm(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v * v
	}
	return math.Sqrt(sum)
}
