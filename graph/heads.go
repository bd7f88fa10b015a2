package graph

import (
	"fmt"

	"attention/internal/expr"

	G "gorgonia.org/gorgonia"
)

// SplitHeads returns x (…, T, H·D) laid out as (…, H, T, D); head h owns the columns
// h·D … (h+1)·D.
func SplitHeads(x *G.Node, heads int) (*G.Node, error) {
	if heads < 1 {
		return nil, fmt.Errorf("graph: SplitHeads: heads: got %d, want at least 1", heads)
	}
	in, err := checked("SplitHeads", named("x"), x)
	if err != nil {
		return nil, err
	}
	s := in[0].Shape()
	n := s.Dims()
	if n < 2 || s[n-1]%heads != 0 {
		return nil, &ShapeError{"SplitHeads", "x", s, fmt.Sprintf("(…, T, H·D) with H=%d", heads)}
	}
	batch, t, d := s[:n-2].TotalSize(), s[n-2], s[n-1]/heads
	y := append(s[:n-2].Clone(), heads, t, d)
	return permute("SplitHeads", in[0], []int{batch, t, heads, d}, []int{0, 2, 1, 3}, y)
}

// MergeHeads returns x (…, H, T, D) laid out as (…, T, H·D), undoing SplitHeads.
func MergeHeads(x *G.Node) (*G.Node, error) {
	in, err := checked("MergeHeads", named("x"), x)
	if err != nil {
		return nil, err
	}
	s := in[0].Shape()
	n := s.Dims()
	if n < 3 {
		return nil, &ShapeError{"MergeHeads", "x", s, "(…, H, T, D)"}
	}
	batch, heads, t, d := s[:n-3].TotalSize(), s[n-3], s[n-2], s[n-1]
	y := append(s[:n-3].Clone(), t, heads*d)
	return permute("MergeHeads", in[0], []int{batch, heads, t, d}, []int{0, 2, 1, 3}, y)
}

// RepeatHeads returns x (…, K, S, D) with each head repeated the given number of times,
// side by side, as (…, K·times, S, D), so that query heads share a key/value head
// (torch.repeat_interleave on the heads' axis).
func RepeatHeads(x *G.Node, times int) (*G.Node, error) {
	if times < 1 {
		return nil, fmt.Errorf("graph: RepeatHeads: times: got %d, want at least 1", times)
	}
	if times == 1 && x != nil {
		return x, nil
	}
	in, err := checked("RepeatHeads", named("x"), x)
	if err != nil {
		return nil, err
	}
	s := in[0].Shape()
	n := s.Dims()
	if n < 3 {
		return nil, &ShapeError{"RepeatHeads", "x", s, "(…, K, S, D)"}
	}
	y := s.Clone()
	y[n-3] *= times
	if err := checkResult("RepeatHeads", y); err != nil {
		return nil, err
	}
	var f expr.Formula
	heads := f.Of(G.Reshape(in[0], append(s[:n-2].Clone(), 1, s[n-2]*s[n-1]))) // (…, K, 1, S·D)
	heads = f.Of(Add(heads, filled(in[0], 0, times, 1)))                       // (…, K, times, S·D)
	return f.Result(f.Of(G.Reshape(heads, y)))                                 // (…, H, S, D)
}
