package compare

import (
	"fmt"

	"attention/cmd/attention/internal/plot"

	"gonum.org/v1/plot/palette"
	"gonum.org/v1/plot/plotter"
)

// page returns the picture: the losses while training, the right answers at each level of a task, and a dot for each
// attention that shows its result and its cost. All are means of the seeds.
func (r *report) page() plot.Page {
	page := plot.Page{Title: fmt.Sprintf("%s, %d steps, seeds: %d", r.Goal, r.Steps, len(r.Seeds))}
	add := func(title, x, y string, of func(m *modelReport) plotter.XYs) {
		colors := palette.Rainbow(len(r.Models)+1, palette.Red, palette.Magenta, 0.9, 0.85, 1).Colors()
		panel := plot.Panel{Title: title, X: x, Y: y}
		for i := range r.Models {
			m := &r.Models[i]
			panel.Curves = append(panel.Curves, plot.Curve{Name: m.Attention, Points: of(m), Color: colors[i],
				Width: 1.5, Dashed: i%2 > 0})
		}
		page.Panels = append(page.Panels, panel)
	}
	add("loss while training", "", "nats", r.learning)
	reached, gain := "loss", func(m *modelReport) []float64 { return m.Loss }
	if r.Level != "" {
		reached, gain = "right, %", func(m *modelReport) []float64 { return scaled(m.Exact, 100) }
		add("right answers", r.Level, reached, func(m *modelReport) (points plotter.XYs) {
			for level, mark := range m.Marks[0] {
				mean, _ := spread(m.at(level))
				points = append(points, plotter.XY{X: float64(mark.Level), Y: 100 * mean})
			}
			return points
		})
	}
	for _, cost := range []struct {
		x  string
		of func(m *modelReport) []float64
	}{
		{"seconds of training", func(m *modelReport) []float64 { return m.Seconds }},
		{"MiB of training", func(m *modelReport) []float64 { return []float64{float64(m.Memory) / (1 << 20)} }},
		{fmt.Sprintf("KiB of the cache of %d tokens", r.ContextLength), func(m *modelReport) []float64 {
			return []float64{float64(m.Fixed+r.ContextLength*m.Token) / (1 << 10)}
		}},
		{"tokens a second", func(m *modelReport) []float64 { return m.Speed }},
	} {
		add(reached+" and "+cost.x, cost.x, reached, func(m *modelReport) plotter.XYs {
			x, _ := spread(cost.of(m))
			y, _ := spread(gain(m))
			return plotter.XYs{{X: x, Y: y}}
		})
	}
	return page
}

// learning returns the mean losses of a model's trainings.
func (r *report) learning(m *modelReport) (losses plotter.XYs) {
	group := groupOf(r.Steps)
	for i := range m.Curve[0] {
		point := plotter.XY{X: float64(min((i+1)*group, r.Steps))}
		for _, curve := range m.Curve {
			point.Y += curve[i] / float64(len(m.Curve))
		}
		losses = append(losses, point)
	}
	return losses
}

// scaled returns numbers times a factor.
func scaled(x []float64, factor float64) (y []float64) {
	for _, v := range x {
		y = append(y, factor*v)
	}
	return y
}
