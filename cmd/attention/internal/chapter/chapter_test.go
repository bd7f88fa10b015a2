package chapter

import (
	"bytes"
	"context"
	"io"
	"math"
	"strconv"
	"strings"
	"testing"

	"attention/cmd/attention/internal/commandtest"
	"attention/graph"
	"attention/internal/golden"
	"attention/internal/tensorprint"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// allCells computes all cells of the chapter.
func allCells(t testing.TB, dt tensor.Dtype) []*cell {
	t.Helper()
	var cells []*cell
	for _, s := range sections() {
		p, err := s.compute(dt)
		require.NoError(t, err, s.heading)
		cells = append(cells, p.cells...)
	}
	return cells
}

// walkPrints reads what walk.py computed: id to kind and text.
func walkPrints(t testing.TB, file string) map[string]struct{ kind, text string } {
	t.Helper()
	prints := map[string]struct{ kind, text string }{}
	for _, e := range golden.LoadPrinted(t, "chapter/"+file) {
		kind, id, ok := strings.Cut(e.Head, " ")
		require.True(t, ok, e.Head)
		require.NotContains(t, prints, id)
		prints[id] = struct{ kind, text string }{kind, e.Text}
	}
	return prints
}

// TestChapterEqualsTheNotebooks: every value that the chapter's notebooks print is computed and printed the same,
// and every value that the command prints is either one of them or one that PyTorch computed.
func TestChapterEqualsTheNotebooks(t *testing.T) {
	want := notebookPrints(t)
	for id, print := range walkPrints(t, "walk.txt") {
		want[id] = print
	}
	for _, c := range allCells(t, tensor.Float32) {
		require.NotEmpty(t, c.ids, "%s: compared with nothing", c.sentence)
		for _, id := range c.ids {
			require.Contains(t, want, id, "unknown, or compared twice")
			requirePrinted(t, id, want[id].kind, want[id].text, c)
			delete(want, id)
		}
		for axis, id := range c.axisIDs {
			if id == "" {
				continue
			}
			require.Contains(t, want, id, "unknown, or compared twice")
			require.Equal(t, want[id].text, strconv.Itoa(c.shape[axis]), id)
			delete(want, id)
		}
	}
	for id := range want {
		t.Errorf("%s: printed by a notebook, but by no cell", id)
	}
}

// TestChapterInFloat64 compares with PyTorch in float64, which draws other weights from the same seeds.
func TestChapterInFloat64(t *testing.T) {
	want := walkPrints(t, "walk_float64.txt")
	for _, c := range allCells(t, tensor.Float64) {
		found := 0
		for _, id := range c.ids {
			if print, ok := want[id]; ok {
				requirePrinted(t, id, print.kind, print.text, c)
				delete(want, id)
				found++
			}
		}
		require.Equal(t, 1, found, "%s: compared so many times", c.sentence)
	}
	for id := range want {
		t.Errorf("%s: computed by PyTorch, but by no cell", id)
	}
}

// requirePrinted compares a cell with a printed text, to the character but for the ids with a tolerance.
func requirePrinted(t testing.TB, id, kind, text string, c *cell) {
	t.Helper()
	if absolute, relative := tolerance(id); absolute+relative > 0 {
		requireNear(t, id, kind, text, c, absolute, relative)
		return
	}
	switch kind {
	case "tensor":
		require.Equal(t, text, tensorprint.Format(c.data, c.shape), id)
	case "cut":
		require.True(t, strings.HasPrefix(tensorprint.Format(c.data, c.shape), text), "%s: %s", id, c)
	case "size":
		require.Equal(t, asSize, c.form, id)
		require.Equal(t, text, c.String(), id)
	case "number":
		require.Equal(t, asCount, c.form, id)
		require.Equal(t, text, strings.ReplaceAll(c.String(), ",", ""), id)
	default:
		t.Errorf("%s: kind %q", id, kind)
	}
}

// tolerance says by how much a value may differ from its text. Zero, zero: not by a digit.
func tolerance(id string) (absolute, relative float64) {
	switch {
	case strings.HasSuffix(id, ".sum()"), strings.HasSuffix(id, ".sum(dim=-1)"):
		// Sums of five or six weights that are 1 but for their last bits, which depend on the order in which they
		// are added: PyTorch's differs from machine to machine. They show, too: 1 prints as 1. and 1.0000001 as 1.0000.
		return 1e-6, 0
	case id == "walk/W_query.weight.grad":
		// A sum of 2048 products each, off by up to 1e-6 in float32: a digit may round the other way.
		return 1e-4, 0
	case strings.HasPrefix(id, "walk/length of "):
		// Printed with up to eight digits, of which float32 holds seven.
		return 5e-5, 1e-6
	}
	return 0, 0
}

// requireNear compares the numbers that are visible in a text.
func requireNear(t testing.TB, id, kind, text string, c *cell, absolute, relative float64) {
	t.Helper()
	var want []float64
	if kind == "number" {
		v, err := strconv.ParseFloat(text, 64)
		require.NoError(t, err, id)
		want = []float64{v}
	} else {
		printed, err := parsePrinted(text)
		require.NoError(t, err, id)
		want = printed.values
	}
	got := tensorprint.Shown(c.data, c.shape)
	require.Len(t, got, len(want), id)
	for i, w := range want {
		require.InDelta(t, w, got[i], absolute+relative*math.Abs(w), "%s: number %d", id, i)
	}
}

// runChapter runs the command and returns what it prints.
func runChapter(args ...string) (string, error) {
	var out bytes.Buffer
	err := commandtest.Run(context.Background(), &out, io.Discard, New(), args...)
	return out.String(), err
}

// TestChapterReads: the command prints every section in order, each value under its sentence, in 80 columns.
func TestChapterReads(t *testing.T) {
	out, err := runChapter()
	require.NoError(t, err)
	rest := out
	for i, s := range sections() {
		title := s.title(i + 1)
		_, after, ok := strings.Cut(rest, title+"\n"+strings.Repeat("=", len(title))+"\n\n")
		require.True(t, ok, title)
		rest = after
	}
	for line := range strings.Lines(out) {
		require.LessOrEqual(t, len(strings.TrimSuffix(line, "\n")), 80, line)
	}
	for _, text := range []string{
		"\n3. Weights to train, step by step (seed 123)\n",
		"\nIts scores with all tokens.\ntensor([1.2705, 1.8524, 1.8111, 1.0795, 0.5577, 1.5440])\n\n",
		"\nThe size of the keys: every token has one.\ntorch.Size([6, 2])\n\n",
		"\nHow many numbers the layer learns.\n2,360,064\n\n",
	} {
		require.Contains(t, out, text)
	}
}

func TestChapterSection(t *testing.T) {
	titles := func(args ...string) (titles []string) {
		out, err := runChapter(args...)
		require.NoError(t, err)
		var before string
		for line := range strings.Lines(out) {
			if strings.HasPrefix(line, "==") {
				titles = append(titles, strings.TrimSpace(before))
			}
			before = line
		}
		return titles
	}
	require.Equal(t, []string{"2. Simple self-attention for all tokens"}, titles("--section", "2"))
	require.Equal(t, []string{"10. Dropout (seed 789)"}, titles("--section", "dropout", "--dtype", "float64"))
	require.Equal(t, []string{"8. A causal mask of zeros (seed 789)", "9. A causal mask of minus infinity (seed 789)"},
		titles("--section", "^a causal.*(zero|infinity)"))
}

func TestChapterRefuses(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--section", "0"}, "--section: got 0, want 1 to 16"},
		{[]string{"--section", "17"}, "--section: got 17, want 1 to 16"},
		{[]string{"--section", "transformer"}, `--section: got "transformer", which is in no heading; see attention chapter --help`},
		{[]string{"--section", "("}, "--section: error parsing regexp: missing closing ): `(?i)(`"},
		{[]string{"--dtype", "float16"}, `--dtype: got "float16", want float32 or float64`},
		{[]string{"simple"}, `unknown command "simple" for "attention chapter"`},
	} {
		out, err := runChapter(c.args...)
		require.EqualError(t, err, c.want, c.args)
		require.Empty(t, out)
	}
}

// TestChapterKeepsTheFirstError: after a failed step the others do nothing, and the section's error names it.
func TestChapterKeepsTheFirstError(t *testing.T) {
	s := section{heading: "broken", fill: func(p *page) error {
		x := p.tokens()
		bad := p.Of(graph.MatMul(x, x)) // (6, 3)·(6, 3)
		p.tensor(p.row(bad, 0), "A row.")
		p.tensor(p.sum(p.reshape(p.twice(bad), 2)), "A sum.")
		p.tensor(p.length(bad), "A length.")
		p.tensor(p.input("more", p.ones(2)), "An input.")
		p.gradients(bad)
		return nil
	}}
	_, err := s.compute(tensor.Float32)
	require.ErrorContains(t, err, "graph: MatMul: b: shape (6, 3), want (N=3, P)")
}

// TestChapterStopsWhenNobodyReads: an error of the writer is the command's.
func TestChapterStopsWhenNobodyReads(t *testing.T) {
	r, w := io.Pipe()
	require.NoError(t, r.Close())
	require.ErrorIs(t, walk(w, tensor.Float32, "1"), io.ErrClosedPipe)
}
