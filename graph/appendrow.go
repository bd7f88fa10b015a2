package graph

import (
	"fmt"

	"attention/internal/expr"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// AppendRow returns x (…, S, E) with one more row in each sequence, (…, S+1, E): the E
// elements of row, or zeros if row is nil. So torch's MultiheadAttention adds bias_k,
// bias_v and the zeros of add_zero_attn.
func AppendRow(x, row *G.Node) (*G.Node, error) {
	args, in := named("x", "row"), G.Nodes{x, row}
	if row == nil {
		args, in = args[:1], in[:1]
	}
	in, err := checked("AppendRow", args, in...)
	if err != nil {
		return nil, err
	}
	to := in[0].Shape().Clone()
	if len(to) < 2 {
		return nil, &ShapeError{"AppendRow", "x", to, "(…, S, E)"}
	}
	to[len(to)-2] = 1
	rows := filled(in[0], 0, to...) // (…, 1, E)
	var f expr.Formula
	if row != nil {
		e := last(to)
		if row = in[1]; row.Shape().TotalSize() != e {
			return nil, &ShapeError{"AppendRow", "row", row.Shape(), fmt.Sprintf("(%d) or (1, …) of it", e)}
		}
		rows = f.Of(Add(rows, f.Of(G.Reshape(row, tensor.Shape{e}))))
	}
	return f.Result(f.Of(concatAlong(-2, in[0], rows)))
}
