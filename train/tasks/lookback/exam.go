package lookback

import (
	"context"

	"attention/graph"
	"attention/internal/dense"
	"attention/layers"
	"attention/train/text"

	G "gorgonia.org/gorgonia"
)

// Model is a language model, such as layers.Decoder.
type Model interface {
	Params() *layers.Params
	Forward(b *layers.Build, ids *G.Node) (*G.Node, error)       // ids (B, T) to logits (B, T, V)
	Loss(b *layers.Build, ids, targets *G.Node) (*G.Node, error) // mean over the targets that are not ignored
}

// Mark is the result of a model at a level.
type Mark struct {
	Level int     `json:"level"`
	Loss  float64 `json:"loss"`  // in nats per answer
	Exact float64 `json:"exact"` // the share of right answers
}

// Exam measures the model on a batch of sequences of each level.
func (s *Sequences) Exam(ctx context.Context, m Model) (marks []Mark, err error) {
	f, err := layers.NewFunc(m.Params(), func(b *layers.Build, in layers.Inputs) []*G.Node {
		loss, logits := b.Of(m.Loss(b, in[text.Inputs], in[text.Targets])), b.Of(m.Forward(b, in[text.Inputs]))
		answers := b.Of(graph.ArgMax(logits, graph.ReduceConfig{Dim: []int{-1}})) // (B, T)
		return []*G.Node{loss, answers}
	}, layers.FuncConfig{})
	if err != nil {
		return nil, err
	}
	for _, level := range s.task.Levels() {
		batch := s.Draw(level)
		got, err := f.Call(ctx, batch.Inputs)
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
