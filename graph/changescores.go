package graph

import (
	"errors"
	"fmt"
	"slices"

	"attention/graph/mask"
	"attention/internal/dense"
	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// change returns the changed scores.
func (a *attentionArgs) change(scores *G.Node) (*G.Node, error) {
	switch m := a.Score.(type) {
	case ScoreFunc:
		f := changing{biased{a.scores.Heads, a.ExtraKeys}, a.numbered()}
		return applyTyped(changeScores[float32]{changing: f}, changeScores[float64]{changing: f}, scores)
	case ScoreGraph:
		out, err := m.Of(scores)
		if err == nil && out == nil {
			err = errors.New("got nil, want a node")
		}
		if err == nil && !slices.Equal(out.Shape(), scores.Shape()) {
			err = fmt.Errorf("shape %v, want %v, that of the scores", out.Shape(), scores.Shape())
		}
		if err != nil {
			return nil, a.errorf("score: %v: %w", m, err)
		}
		return out, nil
	}
	return scores, nil
}

// changing describes scores that a ScoreFunc changes.
type changing struct {
	biased
	Score numberedScore
}

// each calls f for every score that is changed, with its index in (…, T, S) and its pair.
func (o changing) each(scores tensor.Shape, f func(i, b, h, t, s int)) {
	axes := o.axes(scores)
	for row := range axes.B() * axes.H * axes.T {
		for s := range axes.S {
			f(row*last(scores)+s, row/axes.T/axes.H, row/axes.T%axes.H, row%axes.T, s)
		}
	}
}

// changeScores calls a Go function for each score. It is an op because no other op calls one.
type changeScores[F kernel.Float] struct {
	sameShape
	changing
}

func (changeScores[F]) spec() spec { return spec{name: "ScoreFunc", args: named("scores")} }

func (o changeScores[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	x, y, f := dense.Floats[F](in[0]), dense.Floats[F](out), o.Score.called(o.Score.Score)
	copy(y, x)
	o.each(in[0].Shape(), func(i, b, h, t, s int) { y[i] = F(f(float64(x[i]), b, h, t, s)) })
	return nil
}

// y = score(x):  dx = dy⊙slope(x).
func (o changeScores[F]) backward(in G.Nodes, _, dy *G.Node) (G.Nodes, error) {
	return only(apply(changeScoresBackward[F]{changing: o.changing}, in[0], dy))
}

type changeScoresBackward[F kernel.Float] struct {
	sameShape
	isGradient
	changing
}

func (changeScoresBackward[F]) spec() spec {
	return spec{name: "ScoreFuncBackward", args: named("scores", "dscores")}
}

func (o changeScoresBackward[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	x, dx, f := dense.Floats[F](in[0]), dense.Floats[F](out), o.Score.called(o.Score.Slope)
	copy(dx, dense.Floats[F](in[1]))
	o.each(in[0].Shape(), func(i, b, h, t, s int) {
		if dx[i] != 0 { // a hidden key has slope 0 here, since score's slope may be NaN
			dx[i] *= F(f(float64(x[i]), b, h, t, s))
		}
	})
	return nil
}

// biased are the scores (…, T, S) that a step changes: those of all keys except the last Extra keys.
type biased struct {
	Heads bool // whether the third axis of scores from the end is H
	Extra int
}

func (o biased) axes(scores tensor.Shape) mask.Scores {
	a := mask.ScoresOf(scores, o.Heads)
	a.S -= o.Extra
	return a
}
