package lookback

import (
	"context"

	"attention/graph"
	"attention/internal/dense"
	"attention/internal/expr"
	"attention/layers"
	"attention/train"
	"attention/train/text"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Model is a language model, such as layers.Decoder.
type Model interface {
	Params() *layers.Params
	Forward(b *layers.Build, ids *G.Node) (*G.Node, error)       // ids (B, T) to logits (B, T, V)
	Loss(b *layers.Build, ids, targets *G.Node) (*G.Node, error) // mean of the targets that count
}

// Mark is what a model reaches at a level.
type Mark struct {
	Level int     `json:"level"`
	Loss  float64 `json:"loss"`  // in nats an answer
	Exact float64 `json:"exact"` // the share of right answers
}

// Exam asks a model the sequences of a batch of each level.
func (s *Sequences) Exam(ctx context.Context, m Model) (marks []Mark, err error) {
	var p *train.Predictor
	err = expr.Building(func() error {
		b := layers.NewBuild(m.Params(), layers.Eval)
		shape := s.batch.Inputs[text.Inputs].Shape()
		ids, targets := b.InputOf(tensor.Int, text.Inputs, shape...), b.InputOf(tensor.Int, text.Targets, shape...)
		loss := b.Of(m.Loss(b, ids, targets))
		answers := b.Of(graph.ArgMax(b.Of(m.Forward(b, ids)), graph.ReduceConfig{Dim: []int{-1}})) // (B, T)
		p, err = train.NewPredictor(b, loss, answers)
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, level := range s.task.Levels() {
		batch := s.Draw(level)
		got, err := p.Run(ctx, batch.Inputs)
		if err != nil {
			return nil, err
		}
		right := 0
		for i, answer := range got[1].Ints() {
			if answer == s.targets[i] {
				right++
			}
		}
		marks = append(marks, Mark{level, dense.Float64s(got[0])[0], float64(right) / float64(batch.Tokens)})
	}
	return marks, nil
}
