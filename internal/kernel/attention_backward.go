package kernel

import "attention/internal/parallel"

// Backward computes the gradients of an attention after its Forward from dout, the gradient of Out. It recomputes the
// weights from LSE (FlashAttention: Dao et al. 2022, algorithm 4). Gradients whose slice in grad is nil are left out;
// the others are overwritten. The gradient of a broadcast bias is summed over the axes of the broadcast. With P the
// weights before dropout, and Z the mask of the dropout with its factor,
//
//	dV = (P⊙Z)ᵀ·dOut
//	dP = (dOut·Vᵀ)⊙Z
//	dBias = P⊙(dP − Σ dOut⊙Out), dRelative its sums along the diagonals, dForget its sums along keys and queries
//	dSink = −Σ exp(sink − lse)·Σ dOut⊙Out
//	dQ = Scale·dX·K,  dK = Scale·dXᵀ·Q  with dX = dBias ⊙ slope of softcap and Score
//
// where Σ dOut⊙Out equals Σ P⊙dP. For rows in which one key has nearly all of the weight it is computed as Σ P⊙dP:
// everything except that key's dP cancels there. With a sigmoid dBias = P⊙(1−P)⊙dP.
//
// A NaN or ∞ reaches the gradients only through pairs of a query and a key that the query sees.
//
// A task processes a block of keys and all queries that see it; several heads that share the block are processed one
// after another. Blocks of keys add to a block of dq in a fixed order, so that the bits of the result do not depend on
// GOMAXPROCS.
func (c *AttentionCall[F]) Backward(grad QKV[F], dout []F) {
	compiledFor[F]().attentionBackward(*c, grad, dout)
}

func (compiledHere[F]) attentionBackward(c AttentionCall[F], grad QKV[F], dout []F) {
	c.check()
	c.checkGradients(&grad, dout)
	r := newRun(&c)
	if r.Chosen != nil {
		r.gather()
	}
	r.beginBackward(grad, dout)
	n := r.B * r.H * r.blocks()
	parallel.For(n, 1+n/64, r.sums)
	r.sumSinks()
	n = r.backwardCount()
	parallel.For(n, r.grain(n, 5), r.backward)
	r.endBias()
	r.end()
}

// backwardTiles is the memory for a block of keys.
type backwardTiles[F Float] struct {
	*attentionTiles[F]
	k, v        []F                 // (D,keyBlock) and (DV,keyBlock): the keys and values as columns
	p, dp       []F                 // (queryBlock,keyBlock): scores and weights, and their gradients
	slope       []F                 // (queryBlock,keyBlock): derivative of softcap and Score, if any
	rowSums     [queryBlock]float64 // for each query: the sum of the gradients of a tile's scores
	first, last []F                 // for each query: the columns of the tile that it sees
	dk, dv      []F                 // (keyBlock,D) and (keyBlock,DV): memory for sums
	sumK, sumV  rowsOf[F]           // the sums so far, in that memory or in the gradients themselves
	fresh       bool                // whether the sums are still undefined
	b, group    int                 // batch and key/value head
	s0, keys    int                 // the block
	keyRows     operandRows[F]      // its keys
	copied      []F                 // a copy of them, if that pays
}

func (r *attentionRun[F]) backwardTasks(lo, hi int) {
	w := r.backwardRoom()
	done := false
	defer func() {
		if !done {
			r.failed.Store(true) // so that no other task waits for this one
		}
	}()
	for task := lo; task < hi; task++ {
		r.backwardTask(&w, r.claim(task))
	}
	done = true
	poolOf[F](&attentionTilePools).Put(w.attentionTiles)
}

// backwardRoom returns memory from the pool of tiles.
func (r *attentionRun[F]) backwardRoom() (w backwardTiles[F]) {
	w.attentionTiles = poolOf[F](&attentionTilePools).Get().(*attentionTiles[F])
	slope := 0
	if r.Softcap > 0 || r.Score != nil {
		slope = queryBlock * keyBlock
	}
	w.cut([]*[]F{&w.k, &w.v, &w.p, &w.dp, &w.slope, &w.first, &w.last, &w.dk, &w.dv, &w.copied},
		r.D*keyBlock, r.DV*keyBlock, queryBlock*keyBlock, queryBlock*keyBlock, slope, queryBlock, queryBlock,
		keyBlock*r.D, keyBlock*r.DV, max(keyBlock*r.D, pairedLength(keyBlock, r.D, forms{along: true})))
	return w
}

func (r *attentionRun[F]) backwardTask(w *backwardTiles[F], task int) {
	_, heads, keys := r.backwardAxes()
	part := func(i int, one bool, n int) (lo, hi int) {
		if one {
			return 0, n
		}
		return i, i + 1
	}
	j0, j1 := part(task%keys, r.shared.key, r.keyBlocks())
	g0, g1 := part(task/keys%heads, r.shared.head, r.K)
	b0, b1 := part(task/keys/heads, r.shared.batch, r.B)
	for j := j0; j < j1; j++ {
		for b := b0; b < b1; b++ {
			for g := g0; g < g1; g++ {
				r.backwardKeys(w, b, g, j)
			}
		}
	}
}

// backwardKeys computes the contributions of block j of the keys of one key/value head.
func (r *attentionRun[F]) backwardKeys(w *backwardTiles[F], b, group, j int) {
	if r.Chosen != nil {
		r.backwardChosen(w, b, group, j)
		return
	}
	r.loadKeys(w, b, group, j*keyBlock, min(keyBlock, r.S-j*keyBlock))
	n, each := r.blocks(), r.H/r.K
	for h := group * each; h < (group+1)*each; h++ {
		for i := range n {
			s := r.spans[b*n+i]
			if s.lo < s.hi && s.lo < w.s0+w.keys && s.hi > w.s0 {
				r.backwardTile(w, s, h, i)
			}
		}
	}
	r.storeKeys(w)
}
