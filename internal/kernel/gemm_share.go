package kernel

import (
	"attention/internal/parallel"
	"attention/internal/simd"
)

// leastWork returns the number of multiply-adds below which starting another goroutine costs more than it saves.
func leastWork() float64 {
	if simd.Current() == simd.Go {
		return 1 << 16
	}
	return 1 << 18
}

// tasks is a batch of products divided into blocks of C that are computed independently.
type tasks[F Float] struct {
	product      Product[F]
	down, across int // blocks of each product
	run          func(lo, hi int)
}

// share computes a product, or a batch, on all cores.
func (g *Product[F]) share() {
	work := float64(g.M) * float64(g.N) * float64(max(g.K, 1))
	if g.Batch == 1 && g.M <= blockHeight[F]() && work < 2*leastWork() {
		g.compute()
		return
	}
	if g.Batch == 1 && g.how == byRows {
		g.shareAlong()
		return
	}
	workers := parallel.Cores()
	pool := poolOf[F](&taskPools)
	t := pool.Get().(*tasks[F])
	t.product = *g
	t.cut(workers, work)
	n := g.Batch * t.down * t.across
	each := work / float64(t.down*t.across)
	if workers == 1 || float64(n)*each < 2*leastWork() {
		t.Do(0, n)
	} else {
		parallel.For(n, int(min(max(1, leastWork()/each), float64(n))), t.run)
	}
	t.product = Product[F]{}
	pool.Put(t)
}

// cut chooses the blocks: not more rows than fit the cache, enough blocks to balance the workers, and none too small.
// Where rows are copied, blocks rather have many columns, unless there are enough anyway; else many rows, of one panel
// of columns or more. A stored B is widened again for each block of rows, which are few then.
func (t *tasks[F]) cut(workers int, work float64) {
	g := &t.product
	count := g.Batch
	rows, lanes := simd.TileShape[F]()
	tallest := blockHeight[F]()
	if g.packB {
		tallest *= partBlocks
	}
	t.down, t.across = (g.M+tallest-1)/tallest, 1
	wanted := 1
	if workers > 1 {
		most := float64(4 * workers)
		total := min(work*float64(count)/leastWork(), most)
		if total < most/2 {
			total = min(total, float64(workers))
		}
		wanted = (int(total) + count - 1) / count
	}
	height := 4 * rows
	if g.B.stored() {
		height = storedTall
	}
	byRows := func() {
		t.down = max(t.down, min((wanted+t.across-1)/t.across, g.M/height))
	}
	byColumns := func() {
		t.across = max(t.across, min((wanted+t.down-1)/t.down, g.N/(2*lanes)))
	}
	if g.packA && g.N < manyColumns || g.N == 1 {
		byRows()
		byColumns()
	} else {
		byColumns()
		byRows()
	}
}

// do computes blocks [lo,hi) of the batch.
func (t *tasks[F]) Do(lo, hi int) {
	g := &t.product
	rows, lanes := simd.TileShape[F]()
	for i := lo; i < hi; i++ {
		which, down, across := i/(t.down*t.across), i/t.across%t.down, i%t.across
		i0, i1 := cutAt(down, t.down, g.M, rows), cutAt(down+1, t.down, g.M, rows)
		j0, j1 := cutAt(across, t.across, g.N, 2*lanes), cutAt(across+1, t.across, g.N, 2*lanes)
		if i0 == i1 || j0 == j1 {
			continue
		}
		one := g.part(which, i0, i1, j0, j1)
		one.compute()
	}
}

// cutAt returns the beginning of part i if [0,n) is divided into parts at multiples of unit.
func cutAt(i, parts, n, unit int) int {
	return min(parallel.Share(i, parts, (n+unit-1)/unit)*unit, n)
}

var taskPools = pools{{New: newTasks[float32]}, {New: newTasks[float64]}}

func newTasks[F Float]() any {
	t := new(tasks[F])
	t.run = t.Do
	return t
}
