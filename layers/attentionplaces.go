package layers

import (
	"attention/internal/dense"

	"gorgonia.org/tensor"
)

// matrix is one of an attention's linear maps: weight (out, in) and perhaps bias (out).
type matrix struct {
	index   int // 0 to 2 are queries, keys and values, 3 is the output
	out, in int
	bias    bool
}

// matrices returns the config's linear maps that layouts store in different ways; latents have one layout.
func (c AttentionConfig) matrices() (list []matrix) {
	outs := c.projected()
	for i, in := range []int{c.EmbedDim, c.KDim, c.VDim} {
		if c.Latent != nil {
			break
		}
		list = append(list, matrix{i, outs[i], in, c.QKVBias})
	}
	if !c.ContextOnly {
		list = append(list, matrix{3, c.OutDim, c.contextWidth(), c.OutBias})
	}
	return list
}

// place is where numbers lie in a parameter.
type place struct {
	name     string
	at, step int // the first one, and the distance to the next
}

// weightRow returns the place of a row of a projection's weight, whose numbers belong to one
// element of the result.
func (c AttentionConfig) weightRow(p matrix, row int) place {
	l, rows := c.layout(), p.out
	var name string
	switch {
	case p.index == 3:
		name = l.out
	case l.packed != "":
		name, row, rows = l.packed, c.packedRow(p, row), c.packedRow(matrix{index: 3}, 0)
	case c.Layout == PerHead:
		name, row = c.headRow(p, row, l.weights)
	default:
		name = l.weights[p.index]
	}
	if l.transposed {
		return place{name, row, rows}
	}
	return place{name, row * p.in, 1}
}

// biasRow returns the place of an element of a projection's bias.
func (c AttentionConfig) biasRow(p matrix, row int) place {
	l := c.layout()
	switch {
	case p.index == 3:
		return place{l.outBias, row, 1}
	case l.packedBias != "":
		return place{l.packedBias, c.packedRow(p, row), 1}
	case c.Layout == PerHead:
		name, row := c.headRow(p, row, l.biases)
		return place{name, row, 1}
	}
	return place{l.biases[p.index], row, 1}
}

// packedRow returns the row where all projections lie one after the other.
func (c AttentionConfig) packedRow(p matrix, row int) int {
	widths := c.projected()
	for _, rows := range widths[:p.index] {
		row += rows
	}
	return row
}

// headRow returns the parameter of the head that has the row, and the row there.
func (c AttentionConfig) headRow(p matrix, row int, names [3]string) (string, int) {
	rows := p.out / c.NumHeads
	return headPath(row/rows) + "." + names[p.index], row % rows
}

// copyRow copies n numbers.
func copyRow(dst *tensor.Dense, to place, src *tensor.Dense, from place, n int) {
	dense.ByType(dst.Dtype(), copySteps[float32], copySteps[float64])(dst, to, src, from, n)
}

func copySteps[F float32 | float64](dst *tensor.Dense, to place, src *tensor.Dense, from place, n int) {
	y, x := dense.Floats[F](dst), dense.Floats[F](src)
	for i := range n {
		y[to.at+i*to.step] = x[from.at+i*from.step]
	}
}
