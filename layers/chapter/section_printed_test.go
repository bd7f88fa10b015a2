package chapter_test

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"attention/internal/golden"
	"attention/internal/tensorprint"

	"github.com/stretchr/testify/require"
)

// printedTensor is a tensor as read back from PyTorch's notation.
type printedTensor struct {
	values   []float64 // the numbers that are visible, in the order in which they stand
	shape    []int     // how many entries are visible along each dimension
	abridged []bool    // whether "..." stands among them
	decimals int       // digits behind the point
}

var printedToken = regexp.MustCompile(`^(\.\.\.|[][)]|[-+.\w]+)[\s,]*`)

// parsePrinted reads PyTorch's notation of one tensor.
func parsePrinted(text string) (printedTensor, error) {
	var p printedTensor
	text, ok := strings.CutPrefix(text, "tensor(")
	if !ok {
		return p, errors.New("printed tensor: does not begin with tensor(")
	}
	var tokens []string
	for text != "" {
		match := printedToken.FindStringSubmatch(text)
		if match == nil {
			return p, fmt.Errorf("printed tensor: unknown character %.1q", text)
		}
		tokens, text = append(tokens, match[1]), text[len(match[0]):]
	}
	rest, err := p.block(tokens, 0)
	if err == nil && !slices.Equal(rest, []string{")"}) {
		err = fmt.Errorf("printed tensor: after the numbers stands %q, want )", rest)
	}
	return p, err
}

// parseCut reads the numbers of a text that was cut off somewhere. A number at its very end is left out, since
// digits of it may be missing.
func parseCut(text string) ([]float64, error) {
	text, _ = strings.CutPrefix(text, "tensor(")
	var p printedTensor
	for _, field := range strings.Fields(strings.NewReplacer("[", " ", "]", " ", ",", " ").Replace(
		text[:strings.LastIndexAny(text, ",]")+1])) {
		if err := p.number(field); err != nil {
			return nil, err
		}
	}
	return p.values, nil
}

// block reads a number or a bracket, which is at the given depth, and returns the tokens behind it.
func (p *printedTensor) block(tokens []string, depth int) ([]string, error) {
	if len(tokens) == 0 {
		return nil, fmt.Errorf("printed tensor: ends within brackets of depth %d", depth)
	}
	if tokens[0] != "[" {
		if depth != len(p.shape) && len(p.values) > 0 {
			return nil, fmt.Errorf("printed tensor: number %s at depth %d, want %d", tokens[0], depth, len(p.shape))
		}
		return tokens[1:], p.number(tokens[0])
	}
	first := depth == len(p.shape)
	if first {
		if len(p.values) > 0 {
			return nil, fmt.Errorf("printed tensor: bracket at depth %d among numbers", depth)
		}
		p.shape, p.abridged = append(p.shape, 0), append(p.abridged, false)
	}
	size, abridged, err := 0, false, error(nil)
	for tokens = tokens[1:]; len(tokens) > 0 && tokens[0] != "]"; {
		if tokens[0] == "..." {
			abridged, tokens = true, tokens[1:]
			continue
		}
		if tokens, err = p.block(tokens, depth+1); err != nil {
			return nil, err
		}
		size++
	}
	if len(tokens) == 0 {
		return nil, fmt.Errorf("printed tensor: bracket of depth %d does not close", depth)
	}
	if first {
		p.shape[depth], p.abridged[depth] = size, abridged
	} else if p.shape[depth] != size || p.abridged[depth] != abridged {
		return nil, fmt.Errorf("printed tensor: %d entries at depth %d, want %d", size, depth, p.shape[depth])
	}
	return tokens[1:], nil
}

func (p *printedTensor) number(token string) error {
	v, err := strconv.ParseFloat(token, 64)
	if err != nil {
		return fmt.Errorf("printed tensor: %w", err)
	}
	mantissa, _, _ := strings.Cut(token, "e")
	_, digits, _ := strings.Cut(mantissa, ".")
	p.decimals = max(p.decimals, len(digits))
	p.values = append(p.values, v)
	return nil
}

// full spreads the visible numbers over a whole tensor of the given shape, zeros where nothing is visible.
func (p printedTensor) full(shape []int) []float64 {
	count := 1
	for _, size := range shape {
		count *= size
	}
	data, next := make([]float64, count), 0
	for i := range data {
		visible, rest := true, i
		for d := len(shape) - 1; d >= 0; d-- {
			at := rest % shape[d]
			rest /= shape[d]
			if p.abridged[d] && at >= p.shape[d]/2 && at < shape[d]-p.shape[d]/2 {
				visible = false
			}
		}
		if visible {
			data[i] = p.values[next]
			next++
		}
	}
	return data
}

// printedSize reads torch.Size([2, 3]).
func printedSize(text string) ([]int, error) {
	body, begins := strings.CutPrefix(text, "torch.Size([")
	body, ends := strings.CutSuffix(body, "])")
	if !begins || !ends {
		return nil, fmt.Errorf("printed size: got %q, want torch.Size([...])", text)
	}
	var shape []int
	for part := range strings.SplitSeq(body, ", ") {
		size, err := strconv.Atoi(part)
		if err != nil {
			return nil, fmt.Errorf("printed size: %w", err)
		}
		shape = append(shape, size)
	}
	return shape, nil
}

// prints reads files of testdata/chapter: id to kind and text.
func prints(t testing.TB, files ...string) map[string]struct{ kind, text string } {
	t.Helper()
	prints := map[string]struct{ kind, text string }{}
	for _, file := range files {
		for _, e := range golden.LoadPrinted(t, "chapter/"+file) {
			kind, id, ok := strings.Cut(e.Head, " ")
			require.True(t, ok, e.Head)
			require.NotContains(t, prints, id)
			if file != "walk_float64.txt" { // which has values of all the others
				require.True(t, strings.HasPrefix(id, strings.TrimSuffix(file, ".txt")+"/"), id)
			}
			prints[id] = struct{ kind, text string }{kind, e.Text}
		}
	}
	return prints
}

// TestPrintsReadBack: every text of the data files is read, and written again it is the same text.
func TestPrintsReadBack(t *testing.T) {
	counts := map[string]int{}
	for id, print := range prints(t, "002.txt", "003.txt", "004.txt") {
		counts[print.kind]++
		switch print.kind {
		case "tensor":
			p, err := parsePrinted(print.text)
			require.NoError(t, err, id)
			require.Equal(t, print.text, tensorprint.Format(writable(p)), id)
		case "cut":
			_, err := parsePrinted(print.text)
			require.Error(t, err, id)
			values, err := parseCut(print.text)
			require.NoError(t, err, id)
			require.NotEmpty(t, values, id)
		case "size":
			shape, err := printedSize(print.text)
			require.NoError(t, err, id)
			require.Equal(t, print.text, "torch.Size("+strings.ReplaceAll(fmt.Sprint(shape), " ", ", ")+")", id)
		case "number":
			_, err := strconv.ParseFloat(print.text, 64)
			require.NoError(t, err, id)
		default:
			t.Errorf("%s: kind %q, want tensor, cut, size or number", id, print.kind)
		}
	}
	require.Equal(t, map[string]int{"tensor": 56, "cut": 1, "size": 12, "number": 11}, counts)
}

// writable gives a tensor that prints as p did. A printed number is a rounded one: where decimals are printed, a
// whole number would change the notation, so all are moved by far less than a printed digit. An abridged
// dimension gets 1024 entries.
func writable(p printedTensor) ([]float64, []int) {
	if p.decimals > 0 {
		for i := range p.values {
			p.values[i] *= 1 + 1e-9
		}
	}
	shape := slices.Clone(p.shape)
	for d := range shape {
		if p.abridged[d] {
			shape[d] = 1024
		}
	}
	return p.full(shape), shape
}

func TestParsePrinted(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		text string
		want printedTensor
	}{
		{"tensor(1.8524)", printedTensor{values: []float64{1.8524}, decimals: 4}},
		{"tensor(1.)", printedTensor{values: []float64{1}}},
		{"tensor([2., 0., -inf])", printedTensor{values: []float64{2, 0, -inf}, shape: []int{3}, abridged: []bool{false}}},
		{"tensor([1.0000e-05, 2.5000e+08])",
			printedTensor{values: []float64{1e-5, 2.5e8}, shape: []int{2}, abridged: []bool{false}, decimals: 4}},
		{"tensor([   -inf, 0.2500])",
			printedTensor{values: []float64{-inf, 0.25}, shape: []int{2}, abridged: []bool{false}, decimals: 4}},
		{"tensor([[[ 1.5000, -2.5000,  ...,  3.5000]],\n\n        [[ 1.0000,  0.0000,  ...,  0.5000]]])",
			printedTensor{values: []float64{1.5, -2.5, 3.5, 1, 0, 0.5}, shape: []int{2, 1, 3},
				abridged: []bool{false, false, true}, decimals: 4}},
	} {
		got, err := parsePrinted(c.text)
		require.NoError(t, err, c.text)
		require.Equal(t, c.want, got, c.text)
	}
	for _, text := range []string{
		"", "[1.]", "tensor(", "tensor()", "tensor([1., 2.)", "tensor([1., 2.]", "tensor([1.]) ]",
		"tensor([[1., 2.], [3.]])", "tensor([[1.], 2.])", "tensor([1., [2.]])", "tensor([1., x])", "tensor([1.; 2.])",
		"tensor([[1., ..., 2.], [3., 4.]])", "tensor(1. 2.)", "tensor([1.], grad_fn=<MmBackward0>)",
	} {
		_, err := parsePrinted(text)
		require.Error(t, err, text)
	}
}

func TestParseCut(t *testing.T) {
	for text, want := range map[string][]float64{
		"tensor([[0.2098, 0.2006],\n        [0.1385, 0.1": {0.2098, 0.2006, 0.1385},
		"tensor([0.2098, 0.2006,":                         {0.2098, 0.2006},
		"tensor([0.2098, -0.2006]":                        {0.2098, -0.2006},
		"tensor([0.2":                                     nil,
		"tensor(":                                         nil,
	} {
		got, err := parseCut(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	_, err := parseCut("tensor([0.2, x, 0.3")
	require.Error(t, err)
}

func TestPrintedSize(t *testing.T) {
	require.Equal(t, []int{2, 1024, 768}, must(printedSize("torch.Size([2, 1024, 768])")))
	for _, text := range []string{"", "torch.Size([])", "torch.Size([2, x])", "[2, 3]", "torch.Size([2, 3]"} {
		_, err := printedSize(text)
		require.Error(t, err, text)
	}
}
