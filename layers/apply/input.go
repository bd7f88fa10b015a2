package apply

import (
	"fmt"
	"slices"
	"strings"

	"attention/graph/mask"

	"gorgonia.org/tensor"
)

// gradOutput is the input tensor that requests gradients.
const gradOutput = "grad_output"

// sequenceSpec is a sequence ([B,] T, width) of the input file.
type sequenceSpec struct {
	name    string
	length  string // the letter of its length, T or S
	longest int    // the largest T or S: context_length; 0 means any
	width   int    // 0 means any
	instead string // the sequence that replaces a missing one; empty if it is required
}

// extraSpec is a tensor that the input file may hold besides the sequences.
type extraSpec struct {
	name      string
	kind      numberKind
	axes      []string // allowed shapes in the letters B, H, T and S; without B if there is no batch
	broadcast bool     // whether any shape that broadcasts to the axes is also allowed, as in torch
}

// inputs returns the names and kinds of the tensors that the input file may hold, without grad_output.
func (l *Layer) inputs() (list []extraSpec) {
	for _, s := range l.sequences {
		list = append(list, extraSpec{name: s.name, kind: realNumbers})
	}
	return append(list, l.extras...)
}

// checkInput checks that the layer's inputs are present and fit it, with one batch
// size. The shape of grad_output is known only once the graph is built.
func (l *Layer) checkInput(f *tensorFile) error {
	if f.has("x") && l.Name == attentionName {
		return f.fail("x", "unknown, want it by the name query, which is key and value too if there are none")
	}
	var wanted, optional []string
	for _, s := range l.sequences {
		if s.instead == "" {
			wanted = append(wanted, s.name)
		} else {
			optional = append(optional, s.name)
		}
	}
	for _, e := range l.extras {
		optional = append(optional, e.name)
	}
	if err := f.checkNames(l.Name, wanted, append(optional, gradOutput)); err != nil {
		return err
	}
	scores, err := l.checkSequences(f)
	if err != nil {
		return err
	}
	for _, e := range l.extras {
		if err := e.check(f, scores); err != nil {
			return err
		}
	}
	if l.check != nil {
		if err := l.check(f, scores); err != nil {
			return err
		}
	}
	if f.has(gradOutput) {
		return f.checkKind(gradOutput, realNumbers)
	}
	return nil
}

// checkSequences checks the sequences in their order and returns the axes of their scores.
func (l *Layer) checkSequences(f *tensorFile) (scores mask.Scores, err error) {
	scores = mask.Scores{Heads: true, H: l.heads}
	first, keys := l.sequences[0].name, ""
	called := map[string]string{} // name in the file of each sequence
	for _, s := range l.sequences {
		name := s.name
		if !f.has(name) {
			name = called[s.instead]
		}
		called[s.name] = name
		got := f.shape(name)
		switch err := f.checkKind(name, realNumbers); {
		case err != nil:
			return scores, err
		case s.fits(got):
		case name != s.name:
			return scores, f.fail(s.name, "missing, and %s of shape %v cannot stand in for it, want %s", name, got, s)
		default:
			return scores, f.fail(name, "shape %v, want %s with every axis at least 1", got, s)
		}
		n, like := got.Dims(), f.shape(first)
		if n != like.Dims() || !slices.Equal(got[:n-2], like[:n-2]) {
			return scores, f.fail(name, "shape %v, want as many axes and the same B as %s, which is %v", got,
				first, like)
		}
		switch {
		case s.length == "T":
			scores.Batch, scores.T = got[:n-2], got[n-2]
		case keys == "":
			keys, scores.S = name, got[n-2]
		case got[n-2] != scores.S:
			return scores, f.fail(name, "shape %v, want as many rows as %s, which is %v", got, keys, f.shape(keys))
		}
	}
	return scores, nil
}

// fits reports whether the sequence may have the shape.
func (s sequenceSpec) fits(shape tensor.Shape) bool {
	n := shape.Dims()
	if n != 2 && n != 3 || slices.Contains(shape, 0) {
		return false
	}
	return (s.width == 0 || shape[n-1] == s.width) && (s.longest == 0 || shape[n-2] <= s.longest)
}

// String returns the shape with letters for the lengths.
func (s sequenceSpec) String() string {
	length, width := s.length, "embed_dim"
	if s.longest > 0 {
		length += fmt.Sprintf(" <= context_length=%d", s.longest)
	}
	if s.width > 0 {
		width = fmt.Sprint(s.width)
	}
	return fmt.Sprintf("(%s, %s) or (B, %s, %s)", length, width, length, width)
}

// check checks that the tensor, if present, has its kind and one of its shapes.
func (e extraSpec) check(f *tensorFile, scores mask.Scores) error {
	if !f.has(e.name) {
		return nil
	}
	if err := e.checkShape(f, scores); err != nil {
		return err
	}
	return f.checkKind(e.name, e.kind) // last, since it may read the data
}

// checkShape checks that the tensor has one of its shapes.
func (e extraSpec) checkShape(f *tensorFile, scores mask.Scores) error {
	got := f.shape(e.name)
	var wants []string
	for _, axes := range e.axes {
		letters, shape := axesOf(scores, axes)
		if slices.Equal(got, shape) {
			return nil
		}
		wants = append(wants, fmt.Sprintf("(%s) = %v", strings.Join(letters, ", "), shape))
	}
	want := strings.Join(slices.Compact(wants), " or ")
	if e.broadcast {
		_, wrong := scores.Broadcast(got)
		want = "one that broadcasts to " + want
		if wrong == "" && e.kind == zerosAndOnes {
			_, wrong = scores.BroadcastKeep(got)
			want = wrong
		}
		if wrong == "" {
			return nil
		}
	}
	return f.fail(e.name, "shape %v, want %s", got, want)
}

// axesOf returns the letters and lengths of axes of the scores, without B if there is no batch.
func axesOf(s mask.Scores, axes string) (letters []string, shape tensor.Shape) {
	for _, letter := range axes {
		axis := map[rune]tensor.Shape{'B': s.Batch, 'H': {s.H}, 'T': {s.T}, 'S': {s.S}}[letter]
		if len(axis) == 1 {
			letters, shape = append(letters, string(letter)), append(shape, axis[0])
		}
	}
	return letters, shape
}
