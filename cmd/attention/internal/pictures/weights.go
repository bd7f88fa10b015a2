// Package pictures draws a run's recorded weights and attention.
package pictures

import (
	"fmt"
	"image/color"
	"math"
	"slices"
	"strings"

	"attention/cmd/attention/internal/plot"
	"attention/layers"
	"attention/train/record"

	"gonum.org/v1/plot/plotter"
)

// drawnMoments is the number of moments in a picture of recorded weights.
const drawnMoments = 5

// Weights returns the curves of all matrices, and the first recorded one at some moments.
func Weights(w *record.Recording, p *layers.Params, title string) plot.Page {
	page := plot.Page{Title: "How the weight matrices move (paler: later layers): " + title}
	for _, panel := range []struct {
		title string
		of    func(record.Param) record.Number
		later bool // whether the first record has none
	}{
		{title: "norm of the matrix",
			of: func(p record.Param) record.Number { return p.Norm }},
		{title: "norm of its change since the start",
			of: func(p record.Param) record.Number { return p.ChangeFromStart }},
		{title: "norm of its change since the evaluation before", later: true,
			of: func(p record.Param) record.Number { return p.Change }},
		{title: "norm of its gradient",
			of: func(p record.Param) record.Number { return p.Gradient }},
	} {
		records := w.Records
		if panel.later {
			records = records[min(1, len(records)):]
		}
		curves := curvesOf(records, p, panel.of)
		page.Panels = append(page.Panels, plot.Panel{Title: panel.title, Log: farApart(curves), Curves: curves})
	}
	name := ""
	for param := range p.Own() { // the first in their order
		if w.Matrices[param] != nil {
			name = param
			break
		}
	}
	if name == "" {
		return page
	}
	m := w.Matrices[name]
	rows, cols := m.Shape()[1], m.Shape()[2]
	size := ""
	if whole, ok := p.Get(name); ok && !slices.Equal(whole.Shape(), m.Shape()[1:]) {
		size = fmt.Sprintf(", its first %d rows and %d columns", rows, cols)
		if strings.Contains(name, "c_attn") { // keys and values follow
			size += ", of queries"
		}
	}
	page.Maps = plot.HeatMaps{Title: name + size, X: "column", Y: "row", Scale: "weight", Across: drawnMoments,
		Signed: true}
	for _, i := range pick(len(w.Steps), drawnMoments) {
		var values []float64
		for _, v := range m.Float32s()[i*rows*cols:][:rows*cols] {
			values = append(values, float64(v))
		}
		page.Maps.Maps = append(page.Maps.Maps, plot.HeatMap{Title: stepTitle(w.Steps[i]), Columns: numbered(cols),
			Rows: numbered(rows), Values: values})
	}
	return page
}

// farApart reports whether the ends of curves differ so much that they need a logarithmic axis.
func farApart(curves []plot.Curve) bool {
	least, most := math.Inf(1), 0.0
	for _, c := range curves {
		if n := len(c.Points); n > 0 && c.Points[n-1].Y > 0 {
			least, most = min(least, c.Points[n-1].Y), max(most, c.Points[n-1].Y)
		}
	}
	const far = 10
	return most > far*least
}

func stepTitle(n int) string { return fmt.Sprintf("after %d steps", n) }

// numbered returns labels for n rows: the number of the first row and of every eighth one, and no text for the others.
func numbered(n int) []string {
	labels := make([]string, n)
	for i := range labels {
		if n <= 16 || i == 0 || (i+1)%8 == 0 {
			labels[i] = fmt.Sprint(i + 1)
		}
	}
	return labels
}

// pick returns at most most of the indices below n: the first, the last and some evenly between.
func pick(n, most int) (some []int) {
	most = min(n, most)
	for i := range most {
		some = append(some, (2*i*(n-1)+max(most-1, 1))/(2*max(most-1, 1)))
	}
	return some
}

// curvesOf returns a number of each matrix over the steps. Matrices whose names differ only in numbers have the same
// colour, paler from layer to layer.
func curvesOf(records []record.Record, p *layers.Params,
	of func(record.Param) record.Number) (curves []plot.Curve) {
	kinds, members := kindsOf(p)
	for k, kind := range kinds {
		for i, name := range members[kind] {
			c := plot.Curve{Color: paler(kindColors[k%len(kindColors)], float64(i)/float64(len(members[kind]))),
				Width: 1.3, Dashed: k/len(kindColors)%2 == 1}
			if i == 0 {
				c.Name = kind
			}
			for _, r := range records {
				at := slices.IndexFunc(r.Params, func(p record.Param) bool { return p.Name == name })
				if at < 0 {
					continue
				}
				if y := float64(of(r.Params[at])); !math.IsNaN(y) {
					c.Points = append(c.Points, plotter.XY{X: float64(r.Step), Y: y})
				}
			}
			curves = append(curves, c)
		}
	}
	return curves
}

// kindsOf returns the names of the matrices with * for numbers, in their order, and the names of each.
func kindsOf(p *layers.Params) (kinds []string, members map[string][]string) {
	members = map[string][]string{}
	for name, shape := range p.Shapes() {
		if shape.Dims() < 2 {
			continue
		}
		parts := strings.Split(name, ".")
		for i, part := range parts {
			if strings.Trim(part, "0123456789") == "" {
				parts[i] = "*"
			}
		}
		kind := strings.Join(parts, ".")
		if members[kind] == nil {
			kinds = append(kinds, kind)
		}
		members[kind] = append(members[kind], name)
	}
	return kinds, members
}

// kindColors are colours that distinguish kinds, even for colour-blind people (Okabe and Ito,
// https://jfly.uni-koeln.de/color/).
var kindColors = []color.NRGBA{
	{R: 0x00, G: 0x72, B: 0xb2, A: 0xff}, {R: 0xd5, G: 0x5e, B: 0x00, A: 0xff}, {R: 0x00, G: 0x9e, B: 0x73, A: 0xff},
	{R: 0xcc, G: 0x79, B: 0xa7, A: 0xff}, {R: 0xe6, G: 0x9f, B: 0x00, A: 0xff}, {R: 0x56, G: 0xb4, B: 0xe9, A: 0xff},
	{R: 0x40, G: 0x40, B: 0x40, A: 0xff}, {R: 0x8c, G: 0x56, B: 0x4b, A: 0xff},
}

// paler mixes a colour with white.
func paler(c color.NRGBA, share float64) color.NRGBA {
	mix := func(v uint8) uint8 { return uint8(float64(v) + 0.6*share*float64(0xff-v)) }
	return color.NRGBA{R: mix(c.R), G: mix(c.G), B: mix(c.B), A: c.A}
}
