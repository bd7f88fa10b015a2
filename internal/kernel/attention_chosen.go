package kernel

import "attention/internal/simd"

// ChosenBlocks selects the keys that an attention reads: for each query of each head the keys of a few blocks. Block i
// contains the keys i·Size ≤ s < (i+1)·Size. A tile consists of the queries that see a block, which need not be
// adjacent.
type ChosenBlocks struct {
	Size    int
	Numbers []int64                     // (B,H,T,N); a negative number names no block
	Visible func(b, t int) (lo, hi int) // as in Attention, independent of the blocks
	Shown   ShownFunc
}

// chosenChunk is the number of queries whose results one task of the forward, and one turn of the backward, sums. It is
// large enough to fill the tiles of a block even if only one of thirty queries chooses the block.
const chosenChunk = 2048

// forwardChosen computes chunks of queries, the last of a head first.
func (r *attentionRun[F]) forwardChosen(lo, hi int) {
	w := r.forwardRoom()
	state := borrow[F](3 * chosenChunk)
	chunks := r.gathered.chunks
	for task := lo; task < hi; task++ {
		head, chunk := task/chunks, chunks-1-task%chunks
		r.forwardChunk(w, *state, head/r.H, head%r.H, chunk)
	}
	giveBack(state)
	poolOf[F](&forwardTilePools).Put(w)
}

// forwardChunk computes a chunk of the rows of one head: block by block it continues the sums of the queries that see
// the block. Between blocks, the sums of values are stored in the output, and the other numbers in state.
func (r *attentionRun[F]) forwardChunk(w *forwardTiles[F], state []F, b, h, chunk int) {
	t0 := chunk * chosenChunk
	rows := min(chosenChunk, r.T-t0)
	most, sum, peak := state[:rows], state[chosenChunk:][:rows], state[2*chosenChunk:][:rows]
	bad := r.beginRows(h, most, sum, peak)
	for t := range rows {
		clear(r.Out[r.OutputAt.at(b, h, t0+t):][:r.DV])
	}
	out := &headRows[F]{r.Out, &r.OutputAt, b, h, r.T, r.DV}
	for block := range r.gathered.blocks {
		queries := r.gathered.of(b*r.H+h, block, chunk)
		for ; len(queries) > 0; queries = queries[min(queryBlock, len(queries)):] {
			group := queries[:min(queryBlock, len(queries))]
			s := r.selectChosen(&w.attentionTiles, b, block, group)
			if s.lo >= s.hi {
				continue
			}
			rows := gatherRows(&w.gathered[0], r.queryRows(b, h), group)
			r.columns(&w.attentionTiles, len(group), rows, w.q, queryBlock)
			for i, t := range group {
				at := int(t) - t0
				w.max[i], w.sum[i], w.peak[i] = most[at], sum[at], peak[at]
				copy(w.out[i*r.DV:][:r.DV], r.Out[out.at.at(b, h, int(t)):])
			}
			for s0 := s.lo; s0 < s.hi; s0 += keyBlock {
				r.forwardTile(w, &s, b, h, 0, len(group), s0, min(keyBlock, s.hi-s0))
			}
			for i, t := range group {
				at := int(t) - t0
				most[at], sum[at], peak[at] = w.max[i], w.sum[i], w.peak[i]
				copy(r.Out[out.at.at(b, h, int(t)):][:r.DV], w.out[i*r.DV:])
			}
		}
	}
	for t := 0; t < rows; t += queryBlock {
		n := min(queryBlock, rows-t)
		copy(w.max[:n], most[t:])
		copy(w.sum[:n], sum[t:])
		copy(w.peak[:n], peak[t:])
		copyRows(w.out, r.DV, r.Out[r.OutputAt.at(b, h, t0+t):], r.OutputAt.Row, n, r.DV)
		if bad {
			spoil(w.sum[:n])
		}
		r.finish(w, b, h, t0+t, n, r.OutputAt.Row)
	}
}

// backwardChosen adds the gradients of one block of keys of one key/value head.
func (r *attentionRun[F]) backwardChosen(w *backwardTiles[F], b, group, block int) {
	size := r.Chosen.Size
	parts := (size + keyBlock - 1) / keyBlock
	each := r.H / r.K
	for part := range parts {
		s0 := block*size + part*keyBlock
		end := min((block+1)*size, s0+keyBlock, r.S)
		if s0 >= end {
			return
		}
		r.loadKeys(w, b, group, s0, end-s0)
		for h := group * each; h < (group+1)*each; h++ {
			for chunk := range r.gathered.chunks {
				r.backwardChunk(w, h, block, chunk, parts, part)
			}
		}
		r.storeKeys(w)
	}
}

// backwardChunk adds the gradients of part of a block of keys and of the queries of a chunk that see the block.
func (r *attentionRun[F]) backwardChunk(w *backwardTiles[F], h, block, chunk, parts, part int) {
	head := w.b*r.H + h
	queries := r.gathered.of(head, block, chunk)
	turn := &r.turns[head*r.blocks()+chunk]
	want := int(r.gathered.earlier[r.gathered.at(head, block, chunk)])*parts + part
	adds := r.grad.Q != nil || r.grad.Forget.Query != nil
	waiting := adds && len(queries) > 0
	for ; len(queries) > 0; queries = queries[min(queryBlock, len(queries)):] {
		group := queries[:min(queryBlock, len(queries))]
		s := r.selectChosen(w.attentionTiles, w.b, block, group)
		x, s1 := r.scoresOf(w, &s, h, 0, 0, len(group))
		if x.queries <= 0 || x.keys <= 0 || !r.readShown(&x, w.attentionTiles) {
			continue
		}
		q, dout := r.rowsOfTile(w, &x)
		r.weights(w, &x, q, dout, s1)
		r.addKeys(w, &x, q, dout, s1)
		if !adds {
			continue
		}
		x.data = w.dp
		dq := rowsOf[F]{room(&w.gathered[0], x.queries*r.D), r.D, r.D}
		if r.grad.Q != nil {
			r.sumKeys(w.attentionTiles, &x, F(r.Scale), w.keyRows.from(s1), 0, dq)
		}
		if waiting && !r.await(turn, int32(want)) {
			return
		}
		waiting = false
		r.addRowSums(w, &x)
		if r.grad.Q == nil {
			continue
		}
		for i := range x.queries {
			row := r.grad.Q[r.QueryAt.at(w.b, h, x.query(i)):][:r.D]
			simd.AddRows(1, r.D, row, row, dq.at(i))
		}
	}
	if len(r.gathered.of(head, block, chunk)) == 0 || !adds {
		return
	}
	if waiting && !r.await(turn, int32(want)) {
		return
	}
	turn.Add(1)
}
