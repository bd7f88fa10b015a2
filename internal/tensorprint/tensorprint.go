// Package tensorprint writes tensors the way PyTorch prints them.
package tensorprint

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// PyTorch's print options, at their defaults.
const (
	digits   = 4    // digits after the point
	maxWhole = 1000 // a larger tensor is abridged
	edge     = 3    // indices that an abridged dimension keeps at each end
	line     = 80   // columns of a line
)

// Format returns a tensor as PyTorch's print(tensor) writes it with its default options. data holds the
// elements of shape in row-major order; the empty shape is a single number. Two things that PyTorch may add are
// left out: the dtype after the numbers, which it prints for float64 unless that is the default dtype, and the
// grad_fn of a tensor that is part of a graph.
//
// As in package fmt, wrong arguments are shown in the text: data that does not fill shape prints as "tensor(!5 values
// for shape [2 3])".
func Format[F float32 | float64](data []F, shape []int) string {
	if !fillsShape(len(data), shape) {
		return fmt.Sprintf("tensor(!%d values for shape %v)", len(data), shape)
	}
	if len(data) == 0 {
		if len(shape) == 1 {
			return "tensor([])"
		}
		return "tensor([], size=(" + strings.Trim(strings.ReplaceAll(fmt.Sprint(shape), " ", ", "), "[]") + "))"
	}
	values := Shown(data, shape)
	notation := chooseNotation(values)
	p := printer{width: notation.width, abridged: len(data) > maxWhole}
	for _, v := range values {
		p.cells = append(p.cells, notation.format(v))
	}
	return "tensor(" + p.tensor(shape, len("tensor(")) + ")"
}

// fillsShape reports whether n elements fill shape exactly.
func fillsShape(n int, shape []int) bool {
	if n == 0 {
		empty := false
		for _, size := range shape {
			if size < 0 {
				return false
			}
			empty = empty || size == 0
		}
		return empty
	}
	for _, size := range shape {
		if size <= 0 || n%size != 0 {
			return false
		}
		n /= size
	}
	return n == 1
}

// shownIndices returns the printed indices of one dimension, with -1 for "...".
func shownIndices(size int, abridged bool) []int {
	var shown []int
	for i := 0; i < size; i++ {
		if abridged && size > 2*edge && i == edge {
			shown = append(shown, -1)
			i = size - edge
		}
		shown = append(shown, i)
	}
	return shown
}

// Shown returns the elements that Format prints, in order.
func Shown[F float32 | float64](data []F, shape []int) []float64 {
	return shownValues(nil, data, shape, len(data) > maxWhole)
}

// shownValues appends the printed elements in printed order.
func shownValues[F float32 | float64](shown []float64, data []F, shape []int, abridged bool) []float64 {
	if len(shape) == 0 {
		return append(shown, float64(data[0]))
	}
	step := len(data) / shape[0]
	for _, i := range shownIndices(shape[0], abridged) {
		if i >= 0 {
			shown = shownValues(shown, data[i*step:(i+1)*step], shape[1:], abridged)
		}
	}
	return shown
}

// notation is the format of all numbers of one tensor.
type notation struct {
	verb   byte // 'f', or 'e' for scientific
	digits int  // after the point; 0 for whole numbers, which end in the point
	width  int  // columns of the widest finite nonzero number
}

// chooseNotation returns the notation for the printed elements. Like PyTorch it considers only finite nonzero numbers
// and pads all numbers to the width of the widest one.
func chooseNotation(values []float64) notation {
	n := notation{verb: 'f', width: 1}
	var counted []float64
	low, high := math.Inf(1), 0.0
	for _, v := range values {
		if v == 0 || math.IsInf(v, 0) || math.IsNaN(v) {
			continue
		}
		counted = append(counted, v)
		low, high = min(low, math.Abs(v)), max(high, math.Abs(v))
		if v != math.Trunc(v) {
			n.digits = digits
		}
	}
	if len(counted) == 0 {
		return n
	}
	if high/low > 1000 || high > 1e8 || low < 1e-4 {
		n.verb, n.digits = 'e', digits
	}
	for _, v := range counted {
		n.width = max(n.width, len(n.format(v)))
	}
	return n
}

// format returns one number, padded to the notation's width.
func (n notation) format(v float64) string {
	var s string
	switch {
	case math.IsNaN(v):
		s = "nan"
	case math.IsInf(v, 1):
		s = "inf"
	case math.IsInf(v, -1):
		s = "-inf"
	default:
		s = strconv.FormatFloat(v, n.verb, n.digits, 64)
		if n.digits == 0 {
			s += "."
		}
	}
	return strings.Repeat(" ", max(0, n.width-len(s))) + s
}

// printer arranges formatted numbers in brackets and lines.
type printer struct {
	cells    []string // the numbers still to be placed
	width    int
	abridged bool
}

// tensor returns the text of one tensor of the given shape, which begins in column indent.
func (p *printer) tensor(shape []int, indent int) string {
	if len(shape) == 0 {
		return p.next()
	}
	var parts []string
	for _, i := range shownIndices(shape[0], p.abridged) {
		switch {
		case i >= 0:
			parts = append(parts, p.tensor(shape[1:], indent+1))
		case len(shape) == 1:
			parts = append(parts, " ...") // PyTorch's extra column, among numbers only
		default:
			parts = append(parts, "...")
		}
	}
	margin := strings.Repeat(" ", indent+1)
	if len(shape) > 1 {
		return "[" + strings.Join(parts, ","+strings.Repeat("\n", len(shape)-1)+margin) + "]"
	}
	perLine := max(1, (line-indent)/(p.width+len(", ")))
	var lines []string
	for len(parts) > perLine {
		lines = append(lines, strings.Join(parts[:perLine], ", "))
		parts = parts[perLine:]
	}
	lines = append(lines, strings.Join(parts, ", "))
	return "[" + strings.Join(lines, ",\n"+margin) + "]"
}

func (p *printer) next() string {
	cell := p.cells[0]
	p.cells = p.cells[1:]
	return cell
}
