package forward

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"attention/internal/dense"
	"attention/layers/chapter"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// journey is the steps of one token through a layer, under construction.
type journey struct {
	layer *Layer
	token int
	part  string
	input string // the step that layers take
	steps []JourneyStep
}

// add adds a step with numbers of some heads.
func (j *journey) add(name, formula string, values []float32, heads int) {
	shape := []int{len(values)}
	if heads > 1 {
		shape = []int{heads, len(values) / heads}
	}
	formula = strings.ReplaceAll(formula, "input", j.input)
	s := JourneyStep{Name: name, Formula: formula, Place: j.part, Shape: shape, Values: values}
	var names []string
	for _, before := range j.steps {
		names = append(names, before.Name)
	}
	if exact, err := chapter.ParseFormula(formula, names); err == nil {
		s.Exact = &exact
	}
	j.steps = append(j.steps, s)
	switch name {
	case "tokens", "embedded", "x", "attention norm", "after attention", "mlp norm":
		j.input = name
	}
}

// stages adds the stages of a token, one row of each, outside of blocks and in the layer's block.
func (j *journey) stages(w *way, row int) error {
	from, to := w.block(j.layer.Path)
	for i, s := range w.stages {
		if s.Name == "last norm" {
			j.blocks(w, row, from)
		}
		switch {
		case s.Path == "" && i < to:
			j.part = partIn
		case s.Path == "":
			j.part = partOut
		case i < from || i >= to:
			continue
		case s.Name == "mlp norm", s.Name == "up":
			j.part = partMLP
		case j.part == partIn:
			j.part = partAttention
		}
		heads := 1
		if s.Name == "heads" {
			if err := j.attention(); err != nil {
				return err
			}
			heads = s.width / j.layer.valueWidth() // half as many as softmaxes, if pairs of them are subtracted
		}
		j.add(s.Name, s.Formula, s.row(row), heads)
	}
	return nil
}

// blocks adds the vectors after all blocks of a model that has several. from is the layer's first stage.
func (j *journey) blocks(w *way, row, from int) {
	var all []float32
	n, own := 0, 0
	for i, s := range w.stages {
		if s.Name == "after mlp" {
			all = append(all, s.row(row)...)
			if n++; i < from {
				own = n
			}
		}
	}
	if j.part = partBlocks; n > 1 {
		j.add("blocks", "", all, n)
		j.steps[len(j.steps)-1].Block = &own
	}
}

// block returns the range of stages of a layer's block.
func (w *way) block(path string) (from, to int) {
	is := false
	for i, s := range w.stages {
		switch {
		case is && (s.Path == "" || s.Name == "x"):
			return from, i
		case s.Name == "x" || from == 0 && s.Path != "":
			from = i
		}
		is = is || s.Name == "heads" && s.Path == path
	}
	return from, len(w.stages)
}

// attention adds the steps from the input vector of the attention to its weights.
func (j *journey) attention() error {
	l := j.layer
	o := l.kept
	add := func(name string, n *G.Node, heads int) {
		formula := "input·W" + name + "ᵀ"
		if n == l.kept.Value && (n == o.Query || l.Additive) {
			formula = "input" // which is not projected
		}
		j.add(name, formula, rowOf(n, j.token), heads)
	}
	if l.Linear {
		add("q", l.linear.Query, l.Heads)
		add("k", l.linear.Key, l.KeyHeads)
		add("v", l.linear.Value, l.KeyHeads)
		return nil // it has no scores
	}
	add("q", o.ProjectedQuery, l.Heads)
	add("k", o.ProjectedKey, l.KeyHeads)
	add("v", o.Value, l.KeyHeads)
	if l.Turned {
		j.add("turned q", "q at its position", rowOf(o.Query, j.token), l.Heads)
		j.add("turned k", "k at its position", rowOf(o.Key, j.token), l.KeyHeads)
	}
	scores, weights, err := l.row(j.token)
	if err != nil {
		return err
	}
	j.add("scores", l.scoreFormula(), scores, l.Heads)
	from := "scores"
	if slices.ContainsFunc(weights, func(w float32) bool { return w != w }) {
		from = "masked" // which the page shows: the scores of visible keys
	}
	j.add("weights", l.weightFormula(from), weights, l.Heads)
	return nil
}

// rowOf returns a row of the value (T, N) of a node.
func rowOf(n *G.Node, row int) []float32 {
	v := n.Value().(*tensor.Dense)
	width := v.Shape()[1]
	return dense.Float32s(v, row*width, (row+1)*width)
}

// valueWidth returns the width of a head's values.
func (l *Layer) valueWidth() int {
	if l.Linear {
		return l.linear.Value.Shape()[1] / l.KeyHeads
	}
	return l.kept.Value.Shape()[1] / l.KeyHeads
}

// scoreFormula returns the formula of the scores of a layer.
func (l *Layer) scoreFormula() string {
	q := "q"
	if l.Turned {
		q = "turned q"
	}
	text := q + "·keysᵀ"
	switch {
	case l.Additive:
		text = "u·tanh(q + keys)"
	case math.Abs(l.Scale-1/math.Sqrt(float64(l.Width))) < 1e-12:
		text += fmt.Sprintf(" / √%d", l.Width)
	case l.Scale != 1:
		text += fmt.Sprintf("·%.4g", l.Scale)
	}
	if l.Softcap > 0 {
		text = fmt.Sprintf("%v·tanh(%s / %v)", l.Softcap, text, l.Softcap)
	}
	if l.kept.Config.RelativeBias != nil {
		text += " + bias"
	}
	if l.kept.Config.LogGates != nil {
		text += " + forget"
	}
	return text
}

// weightFormula returns the formula for the weights of a layer, which refers to a step.
func (l *Layer) weightFormula(from string) string {
	switch {
	case l.Sigmoid:
		return fmt.Sprintf("sigmoid(%s + %v)", from, l.SigmoidBias)
	case l.Sinks:
		return "softmax(" + from + ", sink)"
	}
	return "softmax(" + from + ")"
}
