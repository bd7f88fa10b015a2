package models

import (
	"context"
	"errors"
	"fmt"
	"math"

	"attention/cmd/attention/internal/program"
	"attention/cmd/attention/internal/run/settings"
	"attention/layers"
	"attention/train/pretrained"
	"attention/train/text"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Classes is a model that classifies texts: a model of a run of attention finetune, or an encoder.
type Classes struct {
	Names  []string
	Notes  []string     // about the origin of the weights, to be printed
	Window int          // how many tokens of a text the model reads
	scores *layers.Func // of ids (T)
	// ids returns the ids that the model reads of a text, and the number of all its tokens.
	ids func(given string) (ids []int, tokens int, err error)
}

// OpenClasses reads a model that gives texts classes.
func (in *Inspection) OpenClasses() (*Classes, error) {
	t := in.Config.Tuning
	if !in.IsRun() && in.added.dir == "" {
		e, err := pretrained.OpenEncoderClassifier(in.Dir)
		if err == nil {
			return newEncoderClasses(e)
		}
		if !errors.Is(err, pretrained.ErrFamily) {
			return nil, err
		}
	}
	if t != nil && t.Task == settings.ClassifyTask && in.Kind == settings.EncoderModel {
		e, notes, err := in.OpenEncoder(in.base)
		if err != nil {
			return nil, err
		}
		c, err := newEncoderClasses(e)
		if err == nil {
			c.Notes = notes
		}
		return c, err
	}
	if t == nil || len(t.Classes) == 0 {
		return nil, fmt.Errorf("%s: got a model that has learned no classes, want a run of attention finetune "+
			"--task classify, or BERT or DistilBERT for sequence classification", in.Dir)
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
	lessons, err := text.NewLessons(context.Background(), text.LessonConfig{Tokenizer: m.Tokenizer, Ends: m.Ends,
		Classes: t.Classes})
	if err != nil {
		return nil, err
	}
	c.ids = func(given string) ([]int, int, error) {
		ids, err := lessons.Asked(given)
		n := len(ids)
		if n > c.Window {
			ids = append(ids[:c.Window-1], ids[n-1])
		}
		return ids, n, err
	}
	return c, nil
}

// newEncoderClasses returns the classes of an encoder.
func newEncoderClasses(e *pretrained.Encoder) (c *Classes, err error) {
	c, whole := &Classes{Names: e.Labels, Window: e.Sentence.MaxLength}, *e
	whole.Sentence.MaxLength = math.MaxInt
	c.ids = func(given string) ([]int, int, error) {
		ids, err := whole.IDs(given)
		n := len(ids)
		if n > c.Window {
			ids, err = e.IDs(given)
		}
		return ids, n, err
	}
	c.scores, err = layers.NewFunc(e.Params, func(b *layers.Build, in layers.Inputs) []*G.Node {
		return b.Nodes(e.Classifier.Forward(b, layers.EncoderInput{IDs: in["ids"]}))
	}, layers.FuncConfig{})
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
	ids, tokens, err := c.ids(given)
	if err != nil {
		return nil, 0, err
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
