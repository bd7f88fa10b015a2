package chapter_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"attention/internal/dense"
	"attention/layers/chapter"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// array is numbers in a shape.
type array struct {
	shape []int
	v     []float64
}

// rows returns the lengths of the last two axes, and the number of matrices of that size.
func (a array) rows() (n, rows, cols int) {
	rows, cols = 1, 1
	if k := len(a.shape); k > 0 {
		cols = a.shape[k-1]
		if k > 1 {
			rows = a.shape[k-2]
		}
	}
	return len(a.v) / (rows * cols), rows, cols
}

// oracle computes formulas element by element.
type oracle map[string]chapter.Step

// step returns the value of a step, computed recursively from the steps that its formula names, down to inputs and
// weights.
func (o oracle) step(name string) array {
	s := o[name]
	if s.Exact != nil {
		return o.of(*s.Exact)
	}
	return array{s.Value.Shape().Clone(), dense.Float64s(s.Value)}
}

func (o oracle) of(f chapter.Formula) array {
	var of []array
	for _, g := range f.Of {
		of = append(of, o.of(g))
	}
	switch f.Op {
	case "step":
		return o.step(f.Step)
	case "number":
		return array{nil, []float64{f.Number}}
	case "root":
		return array{nil, []float64{math.Sqrt(f.Number)}}
	case "row":
		n := len(of[0].v) / of[0].shape[0]
		return array{of[0].shape[1:], of[0].v[int(f.Number)*n:][:n]}
	case "stack":
		out := array{shape: append([]int{len(of)}, of[0].shape...)}
		for _, a := range of {
			out.v = append(out.v, a.v...)
		}
		return out
	case "sum":
		return sums(of[0])
	case "dot":
		return dot(of[0], of[1])
	case "times", "plus", "over":
		return elementwise(f.Op, of[0], of[1])
	case "transpose":
		return indexed(of[0], func(b, i, j int) (int, int, int) { return b, j, i }, swapped(of[0].shape))
	case "join":
		return join(of)
	case "best":
		return best(of[0])
	case "split":
		t, d := of[0].shape[0], of[0].shape[1]/int(f.Number)
		return indexed(of[0], func(h, t, i int) (int, int, int) { return 0, t, h*d + i }, []int{int(f.Number), t, d})
	case "merge":
		h, t, d := of[0].shape[0], of[0].shape[1], of[0].shape[2]
		return indexed(of[0], func(_, t, i int) (int, int, int) { return i / d, t, i % d }, []int{t, h * d})
	case "additive":
		return additive(of[0], of[1], of[2])
	}
	return mapped(f.Op, of[0])
}

func swapped(shape []int) []int {
	out := slices.Clone(shape)
	k := len(out)
	out[k-1], out[k-2] = out[k-2], out[k-1]
	return out
}

// indexed returns an array whose element (b, i, j) is the element of a at the position that f returns.
func indexed(a array, from func(b, i, j int) (int, int, int), shape []int) array {
	out := array{shape, make([]float64, len(a.v))}
	_, rows, cols := a.rows()
	n, r, c := out.rows()
	for b := range n {
		for i := range r {
			for j := range c {
				fb, fi, fj := from(b, i, j)
				out.v[(b*r+i)*c+j] = a.v[(fb*rows+fi)*cols+fj]
			}
		}
	}
	return out
}

func sums(a array) array {
	n, rows, cols := a.rows()
	out := array{a.shape[:len(a.shape)-1], make([]float64, n*rows)}
	for i, v := range a.v {
		out.v[i/cols] += v
	}
	return out
}

func dot(a, b array) array {
	if len(a.shape) == 0 || len(b.shape) == 0 {
		return elementwise("times", a, b)
	}
	if len(b.shape) == 1 { // a column
		out := dot(a, array{[]int{b.shape[0], 1}, b.v})
		out.shape = out.shape[:len(out.shape)-1]
		return out
	}
	n, rows, inner := a.rows()
	nb, _, cols := b.rows()
	out := array{append(a.shape[:len(a.shape)-1:len(a.shape)-1], cols), make([]float64, n*rows*cols)}
	for i := range out.v {
		block, row, col := i/(rows*cols), i/cols%rows, i%cols
		for k := range inner {
			out.v[i] += a.v[(block*rows+row)*inner+k] * b.v[(block%nb*inner+k)*cols+col]
		}
	}
	return out
}

func elementwise(op string, a, b array) array {
	out := array{a.shape, make([]float64, len(a.v))}
	for i, x := range a.v {
		at := i % len(b.v)
		if op == "over" && len(b.v) > 1 && len(b.v) < len(a.v) {
			at = i / a.shape[len(a.shape)-1]
		}
		switch y := b.v[at]; op {
		case "times":
			out.v[i] = x * y
		case "plus":
			out.v[i] = x + y
		case "over":
			out.v[i] = x / y
		}
	}
	return out
}

func join(of []array) array {
	rows, cols := of[0].shape[0], 0
	for _, a := range of {
		cols += a.shape[1]
	}
	out := array{shape: []int{rows, cols}}
	for i := range rows {
		for _, a := range of {
			out.v = append(out.v, a.v[i*a.shape[1]:][:a.shape[1]]...)
		}
	}
	return out
}

func best(a array) array {
	out := array{a.shape, make([]float64, len(a.v))}
	_, _, cols := a.rows()
	for from := 0; from < len(a.v); from += cols {
		row := a.v[from:][:cols]
		if most := slices.Max(row); most > 0 {
			out.v[from+slices.Index(row, most)] = 1
		}
	}
	return out
}

func additive(q, k, v array) array {
	out := array{shape: []int{q.shape[0], k.shape[0]}}
	n := q.shape[1]
	for i := range q.shape[0] * k.shape[0] {
		sum := 0.0
		for d := range n {
			sum += v.v[d] * math.Tanh(q.v[i/k.shape[0]*n+d]+k.v[i%k.shape[0]*n+d])
		}
		out.v = append(out.v, sum)
	}
	return out
}

// mapped are the operations on elements, and softmax.
func mapped(op string, a array) array {
	out := array{a.shape, slices.Clone(a.v)}
	_, rows, cols := a.rows()
	for i, x := range a.v {
		hidden := i%cols > i/cols%rows
		switch {
		case op == "exp", op == "softmax":
			out.v[i] = math.Exp(x)
		case op == "log":
			out.v[i] = math.Log(x)
		case op == "tanh":
			out.v[i] = math.Tanh(x)
		case op == "sigmoid":
			out.v[i] = 1 / (1 + math.Exp(-x))
		case op == "tril" && hidden:
			out.v[i] = 0
		case op == "fill" && hidden:
			out.v[i] = math.Inf(-1)
		case op != "tril" && op != "fill":
			out.v[i] = math.NaN() // an unknown operation
		}
	}
	if op == "softmax" {
		s := sums(out)
		for i := range out.v {
			out.v[i] /= s.v[i/cols]
		}
	}
	return out
}

// traced runs a section with its parts.
func traced(t testing.TB, s chapter.Section, values map[string][]float64) oracle {
	t.Helper()
	steps := must(s.Trace(tensor.Float64, values))
	o := oracle{}
	for _, step := range steps {
		require.NotContains(t, o, step.Name, "section %d", s.Number)
		o[step.Name] = step
	}
	return o
}

// computed are the sections whose steps can be computed from their formulas.
func computed() (sections []chapter.Section) {
	for _, s := range chapter.Sections() {
		if !slices.Contains([]int{15, 17, 20}, s.Number) {
			sections = append(sections, s)
		}
	}
	return sections
}

// requireTrue requires that each formula of a section gives the value of its step, from inputs and weights alone.
func requireTrue(t *testing.T, s chapter.Section, o oracle) {
	t.Helper()
	for name, step := range o {
		if step.Exact == nil {
			continue
		}
		got := o.step(name)
		require.Equal(t, []int(step.Value.Shape()), append([]int{}, got.shape...), "section %d, %s", s.Number, name)
		for i, want := range dense.Float64s(step.Value) {
			if math.IsInf(want, -1) {
				require.Equal(t, want, got.v[i], "section %d, %s", s.Number, name)
				continue
			}
			require.InDelta(t, want, got.v[i], 1e-12, "section %d, %s", s.Number, name)
		}
	}
}

// TestFormulasAreTrue: each section's formulas give the values of its steps, with other words, heads and seeds too. A
// step without a formula is an input, a weight, a size or comes from dropout.
func TestFormulasAreTrue(t *testing.T) {
	for _, s := range computed() {
		o := traced(t, s, nil)
		requireTrue(t, s, o)
		for name, step := range o {
			leaf := step.Exact == nil && step.Value.Dtype() != tensor.Int
			inputs := "x ones keep keep_context states window key other old kept new shift blocks earlier"
			isInput := slices.Contains(strings.Fields(inputs), name)
			require.Equal(t, leaf, isInput || step.Learnt && step.Formula == "", "section %d, %s", s.Number, name)
		}
		if s.Words != nil {
			s.Words = strings.Fields("the cat sat on the mat and was happy")
		}
		if s.NumHeads > 0 {
			s.NumHeads = 3
		}
		if s.HasSeed() {
			s.Seed = 5
		}
		if s.HasDropout() {
			s.Dropout = 0.25
		}
		requireTrue(t, s, traced(t, s, nil))
	}
}

// TestTraceReplacesValues: with other numbers for an input or a weight the formulas stay true; exactly the steps that
// depend on it change.
func TestTraceReplacesValues(t *testing.T) {
	for _, s := range computed() {
		own := traced(t, s, nil)
		for name, step := range own {
			if step.Exact != nil || step.Value.Dtype() == tensor.Int || strings.HasPrefix(name, "keep") {
				continue
			}
			if s.Number == 6 && name == "W_query.weight" { // of a layer whose parameters are only drawn
				continue
			}
			numbers := slices.Clone(dense.Float64s(step.Value))
			for i := range numbers {
				numbers[i] += 0.25 * math.Cos(float64(i))
			}
			o := traced(t, s, map[string][]float64{name: numbers})
			requireTrue(t, s, o)
			for other, step := range own {
				depends := other == name || step.Exact != nil && dependsOn(own, *step.Exact, name)
				// Exceptions: a sum of weights is always 1, in section 24 keys at right angles do not influence each other, and a
				// choice may stay the same.
				changed := slices.ContainsFunc(differences(step, o[other]), func(d float64) bool { return d > 1e-9 })
				isChoice := s.Number == 29 && (other == "chosen" || other == "seen")
				if depends && !strings.Contains(other, ".sum(") && s.Number != 24 && !isChoice {
					require.True(t, changed, "section %d, %s by %s", s.Number, other, name)
				}
				if !depends {
					require.False(t, changed, "section %d, %s by %s", s.Number, other, name)
				}
			}
		}
	}
}

func differences(a, b chapter.Step) (d []float64) {
	y := dense.Float64s(b.Value)
	for i, x := range dense.Float64s(a.Value) {
		d = append(d, math.Abs(x-y[i]))
	}
	return d
}

func dependsOn(o oracle, f chapter.Formula, name string) bool {
	if f.Op == "step" {
		return f.Step == name || o[f.Step].Exact != nil && dependsOn(o, *o[f.Step].Exact, name)
	}
	return slices.ContainsFunc(f.Of, func(g chapter.Formula) bool { return dependsOn(o, g, name) })
}

// TestTraceRefuses: values for names that the section does not have, and values of a wrong size.
func TestTraceRefuses(t *testing.T) {
	s := chapter.Sections()[4]
	_, err := s.Trace(tensor.Float32, map[string][]float64{"W": {1}})
	require.EqualError(t, err, `chapter: section 5: values: got numbers for "W", want the name of an input or of weights`)
	_, err = s.Trace(tensor.Float32, map[string][]float64{"W_query": {1}})
	require.EqualError(t, err, "chapter: section 5: W_query: got 1 numbers, want 6")
	_, err = s.Trace(tensor.Float32, map[string][]float64{"x": {1}})
	require.EqualError(t, err, "chapter: section 5: x: got 1 numbers, want 18")
}

// TestRunHasTheStepsOfTrace: Run has the same numbers as Trace, without the parts.
func TestRunHasTheStepsOfTrace(t *testing.T) {
	for _, s := range computed() {
		all := must(s.Trace(tensor.Float32, nil))
		printed := must(s.Run(tensor.Float32))
		all = slices.DeleteFunc(all, func(s chapter.Step) bool { return s.Part })
		require.Len(t, all, len(printed))
		for i, step := range printed {
			require.Equal(t, step.Name, all[i].Name)
			for _, d := range differences(step, all[i]) {
				require.False(t, d > 1e-6, "section %d, %s", s.Number, step.Name)
			}
		}
	}
}

// TestParseFormula: the result of parsing, written with operations in parentheses.
func TestParseFormula(t *testing.T) {
	names := []string{"q", "k", "x", "v1(x)", "W.weight", "exp2"}
	for text, want := range map[string]string{
		"q·kᵀ":                   "dot(q transpose(k))",
		"softmax(q·kᵀ / √2)":     "softmax(over(dot(q transpose(k)) root2))",
		"x[1]·x + q⊙k":           "plus(dot(row1(x) x) times(q k))",
		"exp(q) / Σ exp(q)":      "over(exp(q) sum(exp(q)))",
		"v1(x)·W.weightᵀ":        "dot(v1(x) transpose(W.weight))",
		"split(x·q, 3)":          "split3(dot(x q))",
		"(q + k)·0.5":            "dot(plus(q k) number0.5)",
		"stack(q, k, q)":         "stack(q k q)",
		"exp2":                   "exp2",
		"fill(q, k)[0]":          "row0(fill(q k))",
		"softmax(q, 1e-3)":       "softmax(q number0.001)",
		"additive(q, k, exp(x))": "additive(q k exp(x))",
	} {
		f, err := chapter.ParseFormula(text, names)
		require.NoError(t, err, text)
		require.Equal(t, want, written(f), text)
	}
	for text, want := range map[string]string{
		"":              `chapter: formula: "": got "", want the name of a step, a function or a number`,
		"q·":            `chapter: formula: "q·": got "", want the name of a step, a function or a number`,
		"q k":           `chapter: formula: "q k": got "k", want an operator`,
		"kk":            `chapter: formula: "kk": got "kk", want the name of a step, a function or a number`,
		"exp(q":         `chapter: formula: "exp(q": got "", want )`,
		"exp(q, k)":     `chapter: formula: "exp(q, k)": got "", want 1 to 1 operands of exp`,
		"x[q]":          `chapter: formula: "x[q]": got "q]", want the name of a step, a function or a number`,
		"unknown(q)":    `chapter: formula: "unknown(q)": got "unknown(q)", want the name of a step, a function or a number`,
		"additive(q,k)": `chapter: formula: "additive(q,k)": got "", want 3 to 3 operands of additive`,
	} {
		_, err := chapter.ParseFormula(text, names)
		require.EqualError(t, err, want)
	}
	_, err := chapter.ParseFormula(strings.Repeat("(", 1000)+"q"+strings.Repeat(")", 1000), names)
	require.ErrorContains(t, err, "want fewer parentheses")
}

func written(f chapter.Formula) string {
	if f.Op == "step" {
		return f.Step
	}
	text := f.Op
	if f.Op == "row" || f.Op == "root" || f.Op == "split" || f.Op == "number" {
		text += fmt.Sprint(f.Number)
	}
	if len(f.Of) == 0 {
		return text
	}
	var of []string
	for _, g := range f.Of {
		of = append(of, written(g))
	}
	return text + "(" + strings.Join(of, " ") + ")"
}
