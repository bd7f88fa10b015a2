package layers

import (
	"fmt"
	"math"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// size is a field of a config.
type size struct {
	name string
	got  int
}

// atLeastOne returns an error that names the first size below one.
func atLeastOne(layer string, sizes ...size) error {
	for _, s := range sizes {
		if s.got < 1 {
			return errorf(layer, "%s: got %d, want at least 1", s.name, s.got)
		}
	}
	return nil
}

// notBelowZero returns an error that names the first size below zero.
func notBelowZero(layer string, sizes ...size) error {
	for _, s := range sizes {
		if s.got < 0 {
			return errorf(layer, "%s: got %d, want at least 0", s.name, s.got)
		}
	}
	return nil
}

// number is a field of a config.
type number struct {
	name string
	got  float64
}

// probabilities returns an error that names the first number outside [0, 1).
func probabilities(layer string, numbers ...number) error {
	for _, p := range numbers {
		if !(p.got >= 0 && p.got < 1) {
			return errorf(layer, "%s: got %v, want 0 <= p < 1", p.name, p.got)
		}
	}
	return nil
}

// notNegative returns an error that names the first number below 0 or not finite.
func notNegative(layer string, numbers ...number) error {
	for _, x := range numbers {
		if !(x.got >= 0) || math.IsInf(x.got, 1) {
			return errorf(layer, "%s: got %v, want a finite number of at least 0", x.name, x.got)
		}
	}
	return nil
}

// tableFits returns an error that names a table with too many rows of a width.
func tableFits(layer string, width size, tables ...size) error {
	for _, rows := range tables {
		if rows.got > maxElements/width.got {
			return errorf(layer, "%s: got %d for %s=%d, want at most %d elements in a weight",
				rows.name, rows.got, width.name, width.got, maxElements)
		}
	}
	return nil
}

// checkSequence refuses a node that is no sequence (T, in) or (B, T, in) of the build's
// graph and type, with T at most maxT; 0 leaves in or maxT free. After an error of the
// build it returns that, since x may only stand for a missing node.
func checkSequence(layer, arg string, b *Build, x *G.Node, in, maxT int) error {
	if err := b.Err(); err != nil {
		return err
	}
	if x == nil {
		return errorf(layer, "%s: got nil, want a node", arg)
	}
	want := "([B,] T"
	if arg == "key" || arg == "value" {
		want = "([B,] S"
	}
	if maxT > 0 {
		want += fmt.Sprintf(" <= %d", maxT)
	}
	if in > 0 {
		want += fmt.Sprintf(", %d)", in)
	} else {
		want += ", E)"
	}
	s := x.Shape()
	n := s.Dims()
	if n != 2 && n != 3 || in > 0 && s[n-1] != in || maxT > 0 && s[n-2] > maxT {
		return errorf(layer, "%s: shape %v, want %s", arg, s, want)
	}
	if dt := b.Params().Dtype(); x.Dtype() != dt {
		return errorf(layer, "%s: got %v, want %v as the parameters", arg, x.Dtype(), dt)
	}
	return nil
}

// checkIDs refuses a node that is no ids (T) or (B, T), with T at most maxT. After an
// error of the build it returns that.
func checkIDs(layer, arg string, b *Build, ids *G.Node, maxT int) error {
	if err := b.Err(); err != nil {
		return err
	}
	if ids == nil {
		return errorf(layer, "%s: got nil, want a node", arg)
	}
	if n := len(ids.Shape()); n < 1 || n > 2 || last(ids) > maxT {
		return errorf(layer, "%s: shape %v, want ([B,] T <= %d)", arg, ids.Shape(), maxT)
	}
	if dt := ids.Dtype(); dt != tensor.Int && dt != tensor.Int64 {
		return errorf(layer, "%s: got %v, want int or int64", arg, dt)
	}
	return nil
}

// length returns the T of (…, T, E).
func length(x *G.Node) int { return x.Shape()[x.Dims()-2] }

// last returns the length of a node's last axis.
func last(x *G.Node) int { return x.Shape()[x.Dims()-1] }
