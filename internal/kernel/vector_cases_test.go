package kernel

import "math/rand/v2"

// vectorCase is a kernel with its arguments for rows rows of cols elements, its results among them.
type vectorCase[F Float] struct {
	name     string
	sameBits bool  // on all paths: the kernel rounds after every operation
	lengths  []int // of each argument
	run      func(a [][]F)
	inPlace  [][2]int // results that may lie where an argument lies
}

func vectorCases[F Float](rows, cols int) []vectorCase[F] {
	n := rows * cols
	targets := make([]int64, rows)
	for i := range targets {
		targets[i] = int64(i * 7 % cols)
		if i%5 == 3 {
			targets[i] = -100
		}
	}
	k := AdamConstants[F]{
		Keep: 0.999, Decay: 0.01, Beta1: 0.9, Rest1: 0.1, Beta2: 0.99, Rest2: 0.01, Rate: 0.03, Root: 0.2, Eps: 1e-8,
	}
	return []vectorCase[F]{
		{name: "Exp", lengths: []int{n, n}, run: func(a [][]F) { Exp(a[0], a[1]) }, inPlace: [][2]int{{0, 1}}},
		{name: "Tanh", lengths: []int{n, n}, run: func(a [][]F) { Tanh(a[0], a[1]) }, inPlace: [][2]int{{0, 1}}},
		{
			name: "TanhBackward", sameBits: true, lengths: []int{n, n, n},
			run: func(a [][]F) { TanhBackward(a[0], a[1], a[2]) }, inPlace: [][2]int{{0, 1}, {0, 2}},
		},
		{
			name: "GELUTanh", lengths: []int{n, n},
			run: func(a [][]F) { GELUTanh(a[0], a[1]) }, inPlace: [][2]int{{0, 1}},
		},
		{
			name: "GELUTanhBackward", lengths: []int{n, n, n},
			run: func(a [][]F) { GELUTanhBackward(a[0], a[1], a[2]) }, inPlace: [][2]int{{0, 1}, {0, 2}},
		},
		{name: "GELU", lengths: []int{n, n}, run: func(a [][]F) { GELU(a[0], a[1]) }, inPlace: [][2]int{{0, 1}}},
		{
			name: "GELUBackward", lengths: []int{n, n, n},
			run: func(a [][]F) { GELUBackward(a[0], a[1], a[2]) }, inPlace: [][2]int{{0, 1}, {0, 2}},
		},
		{
			name: "Mul", sameBits: true, lengths: []int{n, n, n},
			run: func(a [][]F) { Mul(a[0], a[1], a[2]) }, inPlace: [][2]int{{0, 1}, {0, 2}},
		},
		{
			name: "Scale", sameBits: true, lengths: []int{n, n},
			run: func(a [][]F) { Scale(a[0], a[1], 0.3) }, inPlace: [][2]int{{0, 1}},
		},
		{
			name: "AddRows", sameBits: true, lengths: []int{n, n, cols},
			run: func(a [][]F) { AddRows(a[0], a[1], a[2]) }, inPlace: [][2]int{{0, 1}},
		},
		{
			name: "Add", sameBits: true, lengths: []int{n, n, n},
			run: func(a [][]F) { AddRows(a[0], a[1], a[2]) }, inPlace: [][2]int{{0, 1}, {0, 2}},
		},
		{name: "SumRows", sameBits: true, lengths: []int{cols, n}, run: func(a [][]F) { SumRows(a[0], a[1]) }},
		{name: "SumSquares", lengths: []int{1, n}, run: func(a [][]F) { a[0][0] = F(SumSquares(a[1])) }},
		{
			name: "Adam", sameBits: true, lengths: []int{n, n, n, n},
			run: func(a [][]F) { square(a[3]); Adam(a[0], a[1], a[2], a[3], k) },
		},
		{name: "SGD", sameBits: true, lengths: []int{n, n}, run: func(a [][]F) { SGD(a[0], a[1], 0.03, 0.1) }},
		{
			name: "Momentum", sameBits: true, lengths: []int{n, n, n},
			run: func(a [][]F) { Momentum(a[0], a[1], a[2], 0.03, 0.9, 0.1) },
		},
		{
			name: "Softmax", lengths: []int{n, n},
			run: func(a [][]F) { Softmax(a[0], a[1], cols) }, inPlace: [][2]int{{0, 1}},
		},
		{
			name: "SoftmaxBackward", lengths: []int{n, n, n},
			run: func(a [][]F) { SoftmaxBackward(a[0], a[1], a[2], cols) }, inPlace: [][2]int{{0, 1}, {0, 2}},
		},
		{name: "LogSumExp", lengths: []int{1, n}, run: func(a [][]F) { a[0][0] = F(rowLogSumExp(a[1])) }},
		{
			name: "CrossEntropy", lengths: []int{1, n},
			run: func(a [][]F) { a[0][0] = F(CrossEntropy(a[1], targets, cols, -100)) },
		},
		{
			name: "CrossEntropyBackward", lengths: []int{n, n},
			run:     func(a [][]F) { CrossEntropyBackward(a[0], a[1], targets, cols, -100, 0.7) },
			inPlace: [][2]int{{0, 1}},
		},
		{
			name: "LayerNorm", lengths: []int{n, rows, rows, n, cols, cols},
			run: func(a [][]F) { LayerNorm(a[0], a[1], a[2], a[3], a[4], a[5], cols, 1e-5) }, inPlace: [][2]int{{0, 3}},
		},
		{
			name: "LayerNormPlain", lengths: []int{n, rows, rows, n},
			run: func(a [][]F) { LayerNorm(a[0], a[1], a[2], a[3], nil, nil, cols, 1e-5) }, inPlace: [][2]int{{0, 3}},
		},
		{
			name: "LayerNormBackward", lengths: []int{n, cols, cols, n, n, cols, rows, rows},
			run: func(a [][]F) { LayerNormBackward(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], cols) },
		},
		{
			name: "LayerNormBackwardPlain", lengths: []int{n, n, n, rows, rows},
			run:     func(a [][]F) { LayerNormBackward(a[0], nil, nil, a[1], a[2], nil, a[3], a[4], cols) },
			inPlace: [][2]int{{0, 1}},
		},
		{
			name: "RMSNorm", lengths: []int{n, n, cols},
			run: func(a [][]F) { RMSNorm(a[0], a[1], a[2], 1e-2) }, inPlace: [][2]int{{0, 1}},
		},
		{
			name: "RMSNormBackward", lengths: []int{n, cols, n, n, cols},
			run: func(a [][]F) { RMSNormBackward(a[0], a[1], a[2], a[3], a[4], 1e-2) },
		},
		{
			name: "L2Norm", lengths: []int{n, n, cols},
			run: func(a [][]F) { L2Norm(a[0], a[1], a[2], 0.5) }, inPlace: [][2]int{{0, 1}},
		},
		{
			name: "L2NormBackward", lengths: []int{n, cols, n, n, cols},
			run: func(a [][]F) { L2NormBackward(a[0], a[1], a[2], a[3], a[4], 0.5) },
		},
		{name: "Sigmoid", lengths: []int{n, n}, run: func(a [][]F) { Sigmoid(a[0], a[1]) }, inPlace: [][2]int{{0, 1}}},
		{
			name: "SigmoidBackward", sameBits: true, lengths: []int{n, n, n},
			run: func(a [][]F) { SigmoidBackward(a[0], a[1], a[2]) }, inPlace: [][2]int{{0, 1}, {0, 2}},
		},
		{name: "SiLU", lengths: []int{n, n}, run: func(a [][]F) { SiLU(a[0], a[1]) }, inPlace: [][2]int{{0, 1}}},
		{
			name: "SiLUBackward", lengths: []int{n, n, n},
			run: func(a [][]F) { SiLUBackward(a[0], a[1], a[2]) }, inPlace: [][2]int{{0, 1}, {0, 2}},
		},
		{
			name: "SwiGLU", lengths: []int{n, n, n},
			run: func(a [][]F) { SwiGLU(a[0], a[1], a[2]) }, inPlace: [][2]int{{0, 1}, {0, 2}},
		},
		{
			name: "SwiGLUBackward", lengths: []int{n, n, n, n, n},
			run:     func(a [][]F) { SwiGLUBackward(a[0], a[1], a[2], a[3], a[4]) },
			inPlace: [][2]int{{0, 2}, {0, 3}, {0, 4}, {1, 2}, {1, 3}, {1, 4}},
		},
		{
			name: "Softcap", lengths: []int{n, n},
			run: func(a [][]F) { Softcap(a[0], a[1], 0.7) }, inPlace: [][2]int{{0, 1}},
		},
		{
			name: "SoftcapBackward", sameBits: true, lengths: []int{n, n, n},
			run: func(a [][]F) { SoftcapBackward(a[0], a[1], a[2], 0.7) }, inPlace: [][2]int{{0, 1}, {0, 2}},
		},
	}
}

func square[F Float](x []F) {
	for i, v := range x {
		x[i] = v * v
	}
}

// arguments makes the slices of a case by place, and fills them.
func (c *vectorCase[F]) arguments(r *rand.Rand, place func(n int) []F) [][]F {
	a := make([][]F, len(c.lengths))
	for i, n := range c.lengths {
		a[i] = place(n)
		copy(a[i], normals[F](r, n))
	}
	return a
}

func clones[F Float](a [][]F) [][]F {
	b := make([][]F, len(a))
	for i, x := range a {
		b[i] = append([]F(nil), x...)
	}
	return b
}
