package kernel

import "slices"

// chosenQueries lists the queries that see each block of keys.
type chosenQueries struct {
	blocks, chunks int
	lo, hi         []int   // the keys that ChosenBlocks.Visible allows every query (B,T)
	queries        []int32 // for every head, block and chunk: the queries of the chunk that see the block
	begin          []int   // the first index in queries (B,H,blocks,chunks), and the length of queries
	earlier        []int32 // number of earlier blocks that the chunk sees (B,H,blocks,chunks)
}

// gather lists the queries that see each block.
func (r *attentionRun[F]) gather() {
	c, g := r.Chosen, &r.gathered
	g.blocks, g.chunks = (r.S+c.Size-1)/c.Size, (r.T+chosenChunk-1)/chosenChunk
	if rows := r.B * r.H * r.T; c.Size < 1 || rows > 0 && len(c.Numbers)%rows != 0 {
		panic("kernel: attention: chosen blocks: sizes that do not fit")
	}
	g.lo, g.hi = resize(g.lo, r.B*r.T), resize(g.hi, r.B*r.T)
	rest := Attention{S: r.S, Visible: c.Visible}
	for i := range g.lo {
		g.lo[i], g.hi[i] = rest.keys(i/r.T, i%r.T)
	}
	n := r.B * r.H * g.blocks * g.chunks
	g.begin, g.earlier = resize(g.begin, n+1), resize(g.earlier, n)
	clear(g.begin)
	g.queries = resize(g.queries, len(c.Numbers))
	r.eachChosen(func(at, _ int) { g.begin[at+1]++ })
	for i := range n {
		g.begin[i+1] += g.begin[i]
	}
	next := slices.Clone(g.begin[:n])
	r.eachChosen(func(at, t int) {
		g.queries[next[at]] = int32(t)
		next[at]++
	})
	for i := range n {
		g.earlier[i] = 0
		if block := i / g.chunks % g.blocks; block > 0 {
			before := i - g.chunks
			g.earlier[i] = g.earlier[before] + int32(min(1, g.begin[before+1]-g.begin[before]))
		}
	}
}

// eachChosen calls f for all queries of every head in order, with the index in begin of each block that they see.
func (r *attentionRun[F]) eachChosen(f func(at, t int)) {
	g := &r.gathered
	each := len(r.Chosen.Numbers) / max(1, r.B*r.H*r.T)
	for row := range r.B * r.H * r.T {
		head, t := row/r.T, row%r.T
		of := r.Chosen.Numbers[row*each:][:each]
		for i, block := range of {
			if block >= int64(g.blocks) {
				panic("kernel: attention: chosen blocks: a number beyond the last block")
			}
			if block >= 0 && !slices.Contains(of[:i], block) {
				f((head*g.blocks+int(block))*g.chunks+t/chosenChunk, t)
			}
		}
	}
}

// at returns the index in begin of a chunk and a block of a head.
func (g *chosenQueries) at(head, block, chunk int) int { return (head*g.blocks+block)*g.chunks + chunk }

// of returns the queries of a chunk that see a block.
func (g *chosenQueries) of(head, block, chunk int) []int32 {
	at := g.at(head, block, chunk)
	return g.queries[g.begin[at]:g.begin[at+1]]
}

// selectChosen is selectQueries for queries that see a block. It returns their span.
func (r *attentionRun[F]) selectChosen(w *attentionTiles[F], b, block int, queries []int32) span {
	first, end := block*r.Chosen.Size, min((block+1)*r.Chosen.Size, r.S)
	w.t0, w.queries = 0, queries
	w.lo, w.hi = w.chosenLo[:len(queries)], w.chosenHi[:len(queries)]
	for i, t := range queries {
		lo, hi := max(first, r.gathered.lo[b*r.T+int(t)]), min(end, r.gathered.hi[b*r.T+int(t)])
		if lo >= hi {
			lo, hi = 0, 0
		}
		w.lo[i], w.hi[i] = lo, hi
	}
	return r.spanOver(w.lo, w.hi)
}

// gatherRows copies the rows of some queries to memory, side by side.
func gatherRows[F Float](memory *[]F, of *headRows[F], queries []int32) rowsOf[F] {
	y := rowsOf[F]{room(memory, len(queries)*of.width), of.width, of.width}
	for i, t := range queries {
		copy(y.at(i), of.data[of.at.at(of.b, of.head, int(t)):])
	}
	return y
}

// rowsOf returns the rows of some queries in the forms that products read, in memory 0 or 1.
func (r *attentionRun[F]) rowsOf(w *attentionTiles[F], memory int, of *headRows[F], queries []int32) operandRows[F] {
	rows := gatherRows(&w.gathered[memory], of, queries)
	if r.Precision == Full {
		return asTheyAre(rows)
	}
	c, both := &w.copies[memory], forms{across: true, along: true}
	c.run = 0
	return w.paired(rows, len(queries), room(&c.memory, pairedLength(len(queries), of.width, both)), both)
}
