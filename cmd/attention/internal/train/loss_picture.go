package train

import (
	"fmt"
	"image/color"
	"io"
	"path/filepath"
	"strings"

	"attention/cmd/attention/internal/plot"
	"attention/cmd/attention/internal/run/models"
	"attention/train"

	"gonum.org/v1/plot/plotter"
)

// drawLoss draws the training loss and the validation loss over the steps, and the losses of the models that count
// tokens.
func (r *training) drawLoss(w io.Writer) error {
	text := "the built-in text"
	if !r.config.Text.Builtin() {
		text = filepath.Base(r.config.Text.Name)
	}
	title := fmt.Sprintf("%s on %s, run %s", r.model.Title(), text, models.Name(r.Folder.Path))
	return plot.Curves{Title: title, X: "step", Y: "loss (nats per " + strings.TrimSuffix(r.corpus.Unit(), "s") + ")",
		Curves: r.curves()}.Write(w)
}

// curves returns the lines of the picture, each with its last value in the legend. The line of the losses of single
// steps is pale.
func (r *training) curves() []plot.Curve {
	blue, pale := color.NRGBA{R: 0x1f, G: 0x77, B: 0xb4, A: 0xff}, color.NRGBA{R: 0x1f, G: 0x77, B: 0xb4, A: 0x50}
	orange, grey := color.NRGBA{R: 0xe6, G: 0x55, B: 0x0d, A: 0xff}, color.NRGBA{R: 0x77, G: 0x77, B: 0x77, A: 0xff}
	dark := color.NRGBA{R: 0x8c, G: 0x2d, B: 0x04, A: 0xff}
	steps := r.History.Steps
	level := func(y float64) plotter.XYs { return plotter.XYs{{X: 0, Y: y}, {X: float64(len(steps)), Y: y}} }
	named := func(name string, loss float64) string { return fmt.Sprintf("%s %.4f", name, loss) }
	var curves []plot.Curve
	if ngram := r.corpus.NGram; ngram != nil {
		curves = append(curves,
			plot.Curve{Name: named("unigram", ngram.Unigram), Points: level(ngram.Unigram), Color: grey, Dashed: true},
			plot.Curve{Name: named("bigram", ngram.Bigram), Points: level(ngram.Bigram), Color: color.Black,
				Dashed: true})
	}
	recent, _ := r.History.Recent()
	curves = append(curves,
		plot.Curve{Points: meanLosses(steps, 2000), Color: pale},
		plot.Curve{Name: named("training", recent), Points: meanLosses(steps, 100), Color: blue, Width: 1.5})
	var validation plotter.XYs
	for _, e := range r.History.Evaluations {
		validation = append(validation, plotter.XY{X: float64(e.Step), Y: e.Loss})
	}
	if n := len(validation); n > 0 {
		curves = append(curves, plot.Curve{Name: named("validation", validation[n-1].Y), Points: validation,
			Color: orange, Width: 1.5, Dots: true})
	}
	if r.Last != nil {
		curves = append(curves, plot.Curve{Name: named("whole validation text", r.Last.Loss), Color: dark,
			Points: plotter.XYs{{X: float64(r.Last.Step), Y: r.Last.Loss}}, Width: 1.5, Dots: true})
	}
	return curves
}

// meanLosses divides the steps into at most n groups of equal size and returns the mean of each group.
func meanLosses(steps []train.StepResult, n int) plotter.XYs {
	size := (len(steps) + n - 1) / n
	var points plotter.XYs
	for i := 0; i < len(steps); i += size {
		group := steps[i:min(i+size, len(steps))]
		var mean plotter.XY
		for _, s := range group {
			mean.X += float64(s.Step) / float64(len(group))
			mean.Y += s.Loss / float64(len(group))
		}
		points = append(points, mean)
	}
	return points
}
