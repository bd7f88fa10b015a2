package chapter_test

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"attention/internal/dense"
	"attention/internal/golden"
	"attention/internal/tensorprint"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// prints reads files of testdata/chapter: id to kind and text.
func prints(t testing.TB, files ...string) map[string]struct{ kind, text string } {
	t.Helper()
	prints := map[string]struct{ kind, text string }{}
	for _, file := range files {
		for _, e := range golden.LoadPrinted(t, "chapter/"+file) {
			kind, id, ok := strings.Cut(e.Head, " ")
			require.True(t, ok, e.Head)
			require.NotContains(t, prints, id)
			if file != "walk_float64.txt" { // it contains values of all the others
				require.True(t, strings.HasPrefix(id, strings.TrimSuffix(file, ".txt")+"/"), id)
			}
			prints[id] = struct{ kind, text string }{kind, e.Text}
		}
	}
	return prints
}

// requirePrinted compares a value with a printed text, character by character except for ids with a tolerance.
func requirePrinted(t testing.TB, id, kind, text string, v *tensor.Dense) {
	t.Helper()
	if absolute, relative := tolerance(id); absolute+relative > 0 {
		requireNear(t, id, kind, text, v, absolute, relative)
		return
	}
	switch kind {
	case "tensor":
		require.Equal(t, text, tensorprint.Format(dense.Float64s(v), v.Shape()), id)
	case "cut":
		require.True(t, strings.HasPrefix(tensorprint.Format(dense.Float64s(v), v.Shape()), text), id)
	case "size":
		require.Equal(t, text, "torch.Size("+strings.ReplaceAll(fmt.Sprint(v.Data()), " ", ", ")+")", id)
	case "number":
		require.Equal(t, text, fmt.Sprint(v.Data().(int)), id)
	default:
		t.Errorf("%s: kind %q", id, kind)
	}
}

// tolerance returns how much a value may differ from its text; 0, 0 means that every digit must be equal.
func tolerance(id string) (absolute, relative float64) {
	switch {
	case strings.HasSuffix(id, ".sum()"), strings.HasSuffix(id, ".sum(dim=-1)"):
		// Sums of five or six weights that are 1 except for their last bits, which depend on the order of addition: PyTorch's
		// order differs between machines. The last bits also change the text: 1 prints as 1. and 1.0000001 as 1.0000.
		return 1e-6, 0
	case id == "walk/W_query.weight.grad":
		// A sum of 2048 products, each with an error of up to 1e-6 in float32: a digit may be rounded differently.
		return 1e-4, 0
	case strings.HasPrefix(id, "walk/length of "):
		// Printed with up to eight digits; float32 holds seven.
		return 5e-5, 1e-6
	}
	return 0, 0
}

// printedNumber is a number in PyTorch's notation.
var printedNumber = regexp.MustCompile(`[-+]?(inf|nan|\d[-+.\de]*)`)

// requireNear compares the numbers in a text, and the text around them.
func requireNear(t testing.TB, id, kind, text string, v *tensor.Dense, absolute, relative float64) {
	t.Helper()
	got := tensorprint.Shown(dense.Float64s(v), v.Shape())
	if kind == "tensor" {
		bare := func(text string) string {
			return strings.ReplaceAll(printedNumber.ReplaceAllString(text, "x"), " ", "")
		}
		require.Equal(t, bare(text), bare(tensorprint.Format(dense.Float64s(v), v.Shape())), id)
	}
	want := printedNumber.FindAllString(text, -1)
	require.Len(t, got, len(want), id)
	for i, number := range want {
		w := must(strconv.ParseFloat(number, 64))
		require.InDelta(t, w, got[i], absolute+relative*math.Abs(w), "%s: number %d", id, i)
	}
}
