package kernel

import (
	"sort"

	"attention/internal/parallel"
	"attention/internal/simd"
)

// Cells divides the (T,S) weights of a head: row i of cells contains the queries Queries[i] ≤ t < Queries[i+1], column
// j the keys Keys[j] ≤ s < Keys[j+1]. The bounds ascend from 0 to T and S.
type Cells struct{ Queries, Keys []int }

// EvenCells divides n items into parts whose sizes differ by at most 1: item i is in part i·parts/n. There must be at
// least as many items as parts.
func EvenCells(n, parts int) []int {
	edges := make([]int, parts+1)
	for i := range edges {
		edges[i] = (i*n + parts - 1) / parts
	}
	return edges
}

// CellsOf divides n items into parts of the given size; the last may be smaller.
func CellsOf(n, size int) []int {
	edges := []int{0}
	for at := 0; at < n; {
		at += min(size, n-at)
		edges = append(edges, at)
	}
	return edges
}

// Largest writes the largest weight of each cell, (B,H,rows,columns). Keys that are not seen have the weight 0. It
// computes the scores a second time, with the LSE of Forward. The weights before dropout are factor·exp(score − shift),
// or sigmoid(score), tile by tile; values are not read.
func (c *AttentionCall[F]) Largest(largest []F, cells Cells) {
	compiledFor[F]().attentionLargest(*c, largest, cells)
}

func (compiledHere[F]) attentionLargest(c AttentionCall[F], largest []F, cells Cells) {
	c.checkScores()
	checkEdges("queries", cells.Queries, c.T)
	checkEdges("keys", cells.Keys, c.S)
	g := cellGrid[F]{Cells: cells, rows: len(cells.Queries) - 1, columns: len(cells.Keys) - 1, largest: largest}
	if len(largest) < c.B*c.H*g.rows*g.columns {
		panic("kernel: attention: largest: slice is too short")
	}
	g.each = max(1, queryBlock*g.rows/max(c.T, 1))
	tasks := c.B * c.H * ((g.rows + g.each - 1) / g.each)
	r := newRun(&c)
	parallel.For(tasks, r.grain(tasks, 1), func(lo, hi int) {
		w := r.forwardRoom()
		for task := lo; task < hi; task++ {
			g.do(r, w, task)
		}
		poolOf[F](&forwardTilePools).Put(w)
	})
	r.end()
}

// checkEdges makes sure that cells cover n items and that no cell is empty.
func checkEdges(name string, edges []int, n int) {
	if len(edges) == 0 || edges[0] != 0 || edges[len(edges)-1] != n {
		panic("kernel: attention: largest: cells do not cover the " + name)
	}
	for i := range edges[1:] {
		if edges[i] >= edges[i+1] {
			panic("kernel: attention: largest: empty cells")
		}
	}
}

// cellGrid is the cells of the weights.
type cellGrid[F Float] struct {
	Cells
	rows, columns int // of cells
	each          int // rows of cells that a task computes
	largest       []F
}

// cellOf returns the cell that contains position at.
func cellOf(edges []int, at int) int { return sort.SearchInts(edges, at+1) - 1 }

// do computes some rows of cells of a head.
func (g *cellGrid[F]) do(r *attentionRun[F], w *forwardTiles[F], task int) {
	tasks := (g.rows + g.each - 1) / g.each
	head, row := task/tasks, task%tasks*g.each
	b, h, rows := head/r.H, head%r.H, min(g.each, g.rows-row)
	clear(g.largest[(head*g.rows+row)*g.columns:][:rows*g.columns])
	end := g.Queries[row+rows]
	for t0 := g.Queries[row]; t0 < end; t0 += queryBlock {
		n := min(queryBlock, end-t0)
		s := r.blockOf(w, b, h, t0, n)
		for s0 := s.lo; s0 < s.hi; s0 += keyBlock {
			keys := min(keyBlock, s.hi-s0)
			t1, t2, all := w.seeing(&s, n, s0, s0+keys)
			x := scores[F]{
				data: w.p, b: b, h: h, t0: t0, queries: n, s0: s0, keys: keys, queryStep: 1, keyStep: queryBlock,
				hidden: !all || t1 > 0 || t2 < n,
			}
			if t1 < t2 && r.score(w, &x) {
				g.add(r, w, &x)
			}
		}
	}
}

// blockOf prepares the tiles for the queries [t0,t0+rows) of a head, with their shifts in w.max and their factors in
// w.logs, and returns which keys they see.
func (r *attentionRun[F]) blockOf(w *forwardTiles[F], b, h, t0, rows int) span {
	r.selectQueries(&w.attentionTiles, b, t0, rows)
	if r.D > 0 {
		r.columns(&w.attentionTiles, rows, r.queryRows(b, h).from(t0), w.q, queryBlock)
	}
	_, shift, factor := r.numbersOf((b*r.H+h)*r.T+t0, rows)
	copy(w.max, shift)
	for t, f := range factor {
		w.logs[t] = max(f, -f)
	}
	return r.spanOf(b, t0, t0+rows)
}

// add turns a tile of scores into weights and compares them with the cells of a head.
func (g *cellGrid[F]) add(r *attentionRun[F], w *forwardTiles[F], x *scores[F]) {
	top := cellOf(g.Queries, x.t0)
	for from, column := 0, cellOf(g.Keys, x.s0); from < x.keys; column++ {
		n := min(x.keys, g.Keys[column+1]-x.s0) - from
		cell := w.p[from*queryBlock:]
		clear(w.sum[:x.queries])
		r.weightColumns(n, x.queries, cell, w.max, w.sum)
		simd.MaxColumns(n, x.queries, cell, queryBlock, w.top)
		for t, row := 0, top; t < x.queries; row++ {
			end := min(x.queries, g.Queries[row+1]-x.t0)
			at := ((x.b*r.H+x.h)*g.rows+row)*g.columns + column
			sum, most := F(0), g.largest[at]
			tops, factors := w.top[t:end], w.logs[t:end]
			for i, v := range w.sum[t:end] {
				sum += v * factors[i]
				most = max(most, tops[i]*factors[i])
			}
			if sum != sum {
				most = sum // the maximum may have ignored a NaN
			}
			g.largest[at] = most
			t = end
		}
		from += n
	}
}
