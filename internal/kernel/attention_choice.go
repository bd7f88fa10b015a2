package kernel

import (
	"math"

	"attention/internal/parallel"
	"attention/internal/simd"
)

// MeanColumns returns the number of columns that BlockMeans needs for the blocks of S keys.
func MeanColumns(S, size int) int { return wholeVectors(S / size) }

// BlockMeans writes the means of the S/size whole blocks of keys to the columns of matrices (B,K,D,columns), for batch
// b only those from block from[b] on. The matrices have at least MeanColumns of S columns.
func BlockMeans[F Float](a *Attention, means []F, size int, from []int, k []F) {
	compiledFor[F]().blockMeans(*a, means, size, from, k)
}

func (compiledHere[F]) blockMeans(c Attention, means []F, size int, from []int, k []F) {
	a := &c
	columns := a.meanColumns(size, len(means))
	a.checkHeads("attention: k", len(k), a.K, a.S, a.D, a.KeyAt)
	parallel.For(a.B*a.K, 1, func(lo, hi int) {
		for head := lo; head < hi; head++ {
			b := head / a.K
			meansOf(a, means[head*a.D*columns:], columns, from[b], size, k[a.KeyAt.at(b, head%a.K, 0):])
		}
	})
}

// meanColumns returns the number of columns of means.
func (a *Attention) meanColumns(size, length int) int {
	if size < 1 || min(a.B, a.H, a.T, a.K, a.D) < 1 || a.H%a.K != 0 || length%(a.B*a.K*a.D) != 0 ||
		length/(a.B*a.K*a.D) < MeanColumns(a.S, size) {
		panic("kernel: attention: choice: sizes that do not fit")
	}
	return length / (a.B * a.K * a.D)
}

// ChooseBlocks writes the numbers of the N blocks of keys that each query of a head sees to numbers (B,H,T,N), in
// order: of the S/size whole blocks before its own, the N−1 blocks for which the product of the query with the mean of
// the block's keys is largest, followed by its own block. Unused places are −1. The earlier of two equal products is
// the larger one, and NaN is less than any number. Query t of batch b has the position starts[b] + t, or starts[0] + t
// for all batches. means are the result of BlockMeans.
func ChooseBlocks[F Float](a *Attention, numbers []int64, size int, starts []int, q, means []F) {
	compiledFor[F]().chooseBlocks(*a, numbers, size, starts, q, means)
}

func (compiledHere[F]) chooseBlocks(c Attention, numbers []int64, size int, starts []int, q, means []F) {
	a := &c
	ld, rows := a.meanColumns(size, len(means)), a.B*a.H*a.T
	if len(numbers)%rows != 0 {
		panic("kernel: attention: choice: numbers of another length")
	}
	a.checkHeads("attention: q", len(q), a.H, a.T, a.D, a.QueryAt)
	blocks, each, columns := a.S/size, len(numbers)/rows, MeanColumns(a.S, size)
	tasks := (a.T + queryBlock - 1) / queryBlock
	parallel.For(a.B*a.H*tasks, 1+leastAttention/(queryBlock*(columns*a.D+each)), func(lo, hi int) {
		gates := borrow[F](queryBlock * columns)
		best := make([]int, 0, each)
		for task := lo; task < hi; task++ {
			b, h, t0 := task/tasks/a.H, task/tasks%a.H, task%tasks*queryBlock
			n := min(queryBlock, a.T-t0)
			if blocks > 0 {
				of := means[(b*a.K+h/(a.H/a.K))*a.D*ld:]
				product := Product[F]{M: n, N: columns, K: a.D, Alpha: 1,
					A: Rows(q[a.QueryAt.at(b, h, t0):], a.QueryAt.Row), B: Rows(of, ld), C: Rows(*gates, columns)}
				product.alone()
			}
			for i := range n {
				own := (starts[b%len(starts)] + t0 + i) / size
				row := numbers[((b*a.H+h)*a.T+t0+i)*each:][:each]
				chooseRow(row, best, (*gates)[i*columns:][:min(own, blocks)], own)
			}
		}
		giveBack(gates)
	})
}

// meansOf writes the means of a head's blocks of keys, from block from on, to the columns of a matrix.
func meansOf[F Float](a *Attention, means []F, ld, from, size int, k []F) {
	ones, mean := make([]F, size), make([]F, a.D)
	for i := range ones {
		ones[i] = 1
	}
	for i := from; i < a.S/size; i++ {
		clear(mean)
		simd.Weigh(1/F(size), k[i*size*a.KeyAt.Row:], a.KeyAt.Row, ones, mean)
		for d, v := range mean {
			means[d*ld+i] = v
		}
	}
}

// chooseRow writes the blocks of the largest gates, in order, and the query's own block. best is memory for their
// numbers.
func chooseRow[F Float](row []int64, best []int, gates []F, own int) {
	gate := func(i int) F {
		if g := gates[i]; g == g {
			return g
		}
		return F(math.Inf(-1))
	}
	best = best[:0]
	for i := range gates {
		at := len(best)
		for at > 0 && gate(i) > gate(best[at-1]) {
			at--
		}
		if at == cap(best)-1 {
			continue
		}
		if len(best) < cap(best)-1 {
			best = append(best, 0)
		}
		copy(best[at+1:], best[at:])
		best[at] = i
	}
	best = append(best, own)
	for i, number := range best { // in order
		at := i
		for ; at > 0 && row[at-1] > int64(number); at-- {
			row[at] = row[at-1]
		}
		row[at] = int64(number)
	}
	for i := len(best); i < len(row); i++ {
		row[i] = -1
	}
}
