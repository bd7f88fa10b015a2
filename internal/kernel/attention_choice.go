package kernel

import "math"

// ChooseBlocks writes to numbers (B,H,T,N) which N blocks of keys each query of a head sees, in order: of the
// S/size whole blocks before its own those N−1 of the largest product of the query with the mean of the block's keys,
// then its own; −1 in the places that are left. The earlier of two equal products is the larger one, and NaN is less
// than any number. Query t of batch b stands at the key starts[b] + t, or starts[0] + t for all batches.
func ChooseBlocks[F Float](a *Attention, numbers []int64, size int, starts []int, q, k []F) {
	compiledFor[F]().chooseBlocks(*a, numbers, size, starts, q, k)
}

func (compiledHere[F]) chooseBlocks(c Attention, numbers []int64, size int, starts []int, q, k []F) {
	a := &c
	rows := a.B * a.H * a.T
	if size < 1 || rows < 1 || len(numbers)%rows != 0 || a.K < 1 || a.H%a.K != 0 {
		panic("kernel: attention: choice: sizes that do not fit")
	}
	a.checkHeads("attention: q", len(q), a.H, a.T, a.D, a.QueryAt)
	a.checkHeads("attention: k", len(k), a.K, a.S, a.D, a.KeyAt)
	blocks, each, columns := a.S/size, len(numbers)/rows, wholeVectors(a.S/size)
	means := make([]F, a.B*a.K*a.D*columns) // (B,K,D,columns): one in each column
	Parallel(a.B*a.K, 1, func(lo, hi int) {
		for head := lo; head < hi; head++ {
			meansOf(a, means[head*a.D*columns:], columns, blocks, size, k[a.KeyAt.at(head/a.K, head%a.K, 0):])
		}
	})
	tasks := (a.T + queryBlock - 1) / queryBlock
	Parallel(a.B*a.H*tasks, 1+leastAttention/(queryBlock*(columns*a.D+each)), func(lo, hi int) {
		gates := borrow[F](queryBlock * columns)
		best := make([]int, 0, each)
		for task := lo; task < hi; task++ {
			b, h, t0 := task/tasks/a.H, task/tasks%a.H, task%tasks*queryBlock
			n := min(queryBlock, a.T-t0)
			if blocks > 0 {
				of := means[(b*a.K+h/(a.H/a.K))*a.D*columns:]
				multiply(NoTrans, n, columns, a.D, 1, q[a.QueryAt.at(b, h, t0):], a.QueryAt.Row, of, columns, 0, *gates, columns)
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

// meansOf writes the means of a head's blocks of keys to the columns of a matrix.
func meansOf[F Float](a *Attention, means []F, ld, blocks, size int, k []F) {
	ones, mean := make([]F, size), make([]F, a.D)
	for i := range ones {
		ones[i] = 1
	}
	for i := range blocks {
		clear(mean)
		weigh(chosenPath, 1/F(size), k[i*size*a.KeyAt.Row:], a.KeyAt.Row, ones, mean)
		for d, v := range mean {
			means[d*ld+i] = v
		}
	}
}

// chooseRow writes the blocks of the largest gates, in order, and the query's own block. best is room for their numbers.
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
