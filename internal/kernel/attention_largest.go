package kernel

import "sort"

// Cells cuts the (T,S) weights of a head: row i of cells has the queries Queries[i] ≤ t < Queries[i+1], column j the
// keys Keys[j] ≤ s < Keys[j+1]. They rise from 0 to T and S.
type Cells struct{ Queries, Keys []int }

// EvenCells cuts n things into parts whose sizes differ by at most 1, if there are as many things as parts: thing i is
// in part i·parts/n.
func EvenCells(n, parts int) []int {
	edges := make([]int, parts+1)
	for i := range edges {
		edges[i] = (i*n + parts - 1) / parts
	}
	return edges
}

// CellsOf cuts n things into parts of the given size, smaller at the end.
func CellsOf(n, size int) []int {
	edges := []int{0}
	for at := 0; at < n; {
		at += min(size, n-at)
		edges = append(edges, at)
	}
	return edges
}

// AttentionLargest writes the largest weight of each cell, (B,H,rows,columns). Keys that are not seen have the weight 0.
// It goes over the scores a second time, with the numbers of the rows of AttentionForward. The weights before dropout
// are factor·exp(score − shift), or sigmoid(score), tile by tile; values are not read.
func AttentionLargest[F Float](a *Attention, largest []F, cells Cells, lse []F, in QKV[F]) {
	compiledFor[F]().attentionLargest(*a, largest, cells, lse, in)
}

func (compiledHere[F]) attentionLargest(c Attention, largest []F, cells Cells, lse []F, in QKV[F]) {
	a := &c
	checkScores(a, lse, &in)
	checkEdges("queries", cells.Queries, a.T)
	checkEdges("keys", cells.Keys, a.S)
	g := cellGrid[F]{Cells: cells, rows: len(cells.Queries) - 1, columns: len(cells.Keys) - 1, largest: largest}
	atLeast("largest", len(largest), a.B, a.H, g.rows, g.columns)
	each := max(1, queryBlock*g.rows/max(a.T, 1)) // rows of cells that a task computes
	tasks := (g.rows + each - 1) / each
	overWeights(a, lse, in, a.B*a.H*tasks, func(r *attentionRun[F], w *weightTiles[F], task int) {
		b, h, row := task/tasks/a.H, task/tasks%a.H, task%tasks*each
		rows := min(each, g.rows-row)
		clear(g.largest[((b*a.H+h)*g.rows+row)*g.columns:][:rows*g.columns])
		end := g.Queries[row+rows]
		for t0 := g.Queries[row]; t0 < end; t0 += queryBlock {
			s := r.block(w, b, h, t0, min(queryBlock, end-t0))
			for s0 := s.lo; s0 < s.hi; s0 += keyBlock {
				if keys := min(keyBlock, s.hi-s0); r.scoreTile(w, &s, b, h, s0, keys) {
					g.add(r, w, b*a.H+h, s0, keys)
				}
			}
		}
	})
}

// checkEdges makes sure that cells cover n things and that none is empty.
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
	largest       []F
}

// cellOf returns the cell that a thing lies in.
func cellOf(edges []int, at int) int { return sort.SearchInts(edges, at+1) - 1 }

// add turns a tile of scores into weights and compares them with the cells of a head.
func (g *cellGrid[F]) add(r *attentionRun[F], w *weightTiles[F], head, s0, keys int) {
	top := cellOf(g.Queries, w.t0)
	for from, column := 0, cellOf(g.Keys, s0); from < keys; column++ {
		n := min(keys, g.Keys[column+1]-s0) - from
		cell := w.p[from*queryBlock:]
		clear(w.sum[:w.rows])
		r.weightColumns(n, w.rows, cell, w.shift, w.sum)
		maxColumns(chosenPath, n, w.rows, cell, queryBlock, w.top)
		for t, row := 0, top; t < w.rows; row++ {
			end := min(w.rows, g.Queries[row+1]-w.t0)
			at := (head*g.rows+row)*g.columns + column
			sum, most := F(0), g.largest[at]
			tops, lost := w.top[t:end], w.factor[t:end]
			for i, v := range w.sum[t:end] {
				sum += v * lost[i]
				most = max(most, tops[i]*lost[i])
			}
			if sum != sum {
				most = sum // the maximum may have lost a NaN
			}
			g.largest[at] = most
			t = end
		}
		from += n
	}
}
