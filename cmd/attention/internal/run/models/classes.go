package models

import (
	"context"
	"fmt"
	"math"

	"attention/cmd/attention/internal/program"
	"attention/layers"
	"attention/train/text"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Classes is a model that gives texts classes: one of a run of attention finetune.
type Classes struct {
	Names   []string
	Notes   []string     // on the origin of the weights, to be printed
	scores  *layers.Func // of ids (T)
	lessons *text.Lessons
	Window  int // the tokens that the model reads of a text
}

// OpenClasses reads a model that gives texts classes.
func (in *Inspection) OpenClasses() (*Classes, error) {
	t := in.Config.Tuning
	if t == nil || len(t.Classes) == 0 {
		return nil, fmt.Errorf("%s: got a model that has learned no classes, want a run of attention finetune "+
			"--task classify", in.Dir)
	}
	m, err := in.Open()
	if err != nil {
		return nil, err
	}
	c := &Classes{Names: t.Classes, Notes: m.Notes, Window: m.Model.Context()}
	c.scores, err = layers.NewFunc(m.base.Params, func(b *layers.Build, in layers.Inputs) []*G.Node {
		return b.Nodes(m.base.Classifier.Scores(b, in["ids"]))
	}, layers.FuncConfig{})
	if err != nil {
		return nil, err
	}
	c.lessons, err = text.NewLessons(context.Background(), text.LessonConfig{Tokenizer: m.Tokenizer, Ends: m.Ends,
		Classes: t.Classes})
	return c, err
}

// checkWrites returns an error for a run that has learned classes.
func (in *Inspection) checkWrites() error {
	if t := in.Config.Tuning; t == nil || len(t.Classes) == 0 {
		return nil
	}
	return fmt.Errorf("%s: got a run that has learned classes, want one of a model that writes; this one is for: %s",
		in.Dir, program.Command("classify", "--model", in.Dir, "--text", "TEXT"))
}

// Of returns the probability of each class of a text, and the number of its tokens. If the text is longer than the
// window, it reads the beginning.
func (c *Classes) Of(given string) (chances []float64, tokens int, err error) {
	ids, err := c.lessons.Asked(given)
	if err != nil {
		return nil, 0, err
	}
	if tokens = len(ids); tokens > c.Window {
		ids = append(ids[:c.Window-1], ids[tokens-1])
	}
	input := tensor.New(tensor.WithShape(len(ids)), tensor.WithBacking(ids))
	values, err := c.scores.Call(context.Background(), layers.Values{"ids": input})
	if err != nil {
		return nil, 0, err
	}
	return Softmax(values[0]), tokens, nil
}

// Softmax returns the probabilities of scores.
func Softmax(scores *tensor.Dense) []float64 {
	all, sum, most := make([]float64, scores.Shape().TotalSize()), 0.0, math.Inf(-1)
	for i := range all {
		all[i] = Number(scores, i)
		most = max(most, all[i])
	}
	for i, x := range all {
		all[i] = math.Exp(x - most)
		sum += all[i]
	}
	for i := range all {
		all[i] /= sum
	}
	return all
}

// Number returns an element of a tensor of floats.
func Number(of *tensor.Dense, i int) float64 {
	if of.Dtype() == tensor.Float64 {
		return of.Float64s()[i]
	}
	return float64(of.Float32s()[i])
}
