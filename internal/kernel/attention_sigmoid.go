package kernel

import "attention/internal/simd"

// In sigmoid attention (Ramapuram et al. 2024) each weight is the sigmoid of its score. The weights of a row need not
// add up to 1, and neither the maximum nor the log-sum-exp is needed: the sum serves statistics only.

// weighBySigmoid turns a tile of scores into weights and adds them to the sums of their queries.
func (r *attentionRun[F]) weighBySigmoid(w *forwardTiles[F], x *scores[F]) {
	from := x.t0 - w.t0
	end := from + x.queries
	if r.watched() {
		simd.MaxColumns(x.keys, x.queries, x.data, queryBlock, w.top[from:])
		simd.Greater(w.watched.score[from:end], w.watched.score[from:end], w.top[from:])
	}
	r.weightColumns(x.keys, x.queries, x.data, nil, w.sum[from:])
	if r.watched() {
		w.addMoments(x, w.watched.moment[from:end])
		r.watchWeights(w, x)
	}
}

// addMoments adds weight·log weight of each column of a tile of weights.
func (w *forwardTiles[F]) addMoments(x *scores[F], moment []F) {
	for j := range x.keys {
		weights, logs := x.data[j*queryBlock:][:len(moment)], w.raw[:len(moment)]
		simd.Logarithms(logs, weights)
		for i, p := range weights {
			if p != 0 {
				moment[i] += p * logs[i]
			}
		}
	}
}

// weightColumns turns a tile of scores, one query in each column, into weights, given each query's shift, and
// adds each column to sum.
func (r *attentionRun[F]) weightColumns(keys, n int, x, shift, sum []F) {
	if !r.Sigmoid {
		simd.ExpColumns(keys, n, x, queryBlock, shift, sum)
		return
	}
	for j := range keys {
		line := x[j*queryBlock:][:n]
		simd.Sigmoid(line, line)
	}
	simd.SumRows(keys, n, queryBlock, sum, x)
}

// sigmoidGradients turns scores in p and gradients of the weights in dp, one query in each row, into weights and
// gradients of the scores.
func (w *backwardTiles[F]) sigmoidGradients(x *scores[F]) {
	for t := range x.queries {
		p, dp := w.p[t*keyBlock:][:x.keys], w.dp[t*keyBlock:][:x.keys]
		simd.Sigmoid(p, p)
		simd.SigmoidSlope(dp, p, dp)
	}
}

// shift adds a number to the scores of a tile.
func (x *scores[F]) shift(by F) {
	count, n, step := x.lines()
	for i := range count {
		line := x.data[i*step:][:n]
		for j := range line {
			line[j] += by
		}
	}
}
