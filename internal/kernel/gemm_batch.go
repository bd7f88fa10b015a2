package kernel

// leastWork returns the number of multiply-adds below which starting another goroutine costs more than it brings.
func (p path) leastWork() float64 {
	if p == pathGo {
		return 1 << 16
	}
	return 1 << 18
}

// tasks is a batch of products cut into blocks of C that are computed independently.
type tasks[F Float] struct {
	path                path
	product             product[F]
	stepA, stepB, stepC int // from one product of the batch to the next
	down, across        int // blocks of each product
	run                 func(lo, hi int)
}

// runBatch computes count products whose matrices lie the given steps apart.
func runBatch[F Float](p path, count int, g *product[F], stepA, stepB, stepC int) {
	work := float64(g.m) * float64(g.n) * float64(max(g.k, 1))
	if count == 1 && g.m <= maxRows[F]() && work < 2*p.leastWork() {
		g.compute(p)
		return
	}
	if count == 1 && g.how == byRows {
		g.shareAlong(p)
		return
	}
	workers := cores()
	pool := poolOf[F](&taskPools)
	t := pool.Get().(*tasks[F])
	t.path, t.product, t.stepA, t.stepB, t.stepC = p, *g, stepA, stepB, stepC
	t.cut(count, workers, work)
	n := count * t.down * t.across
	each := work / float64(t.down*t.across)
	if workers == 1 || float64(n)*each < 2*p.leastWork() {
		t.do(0, n)
	} else {
		Parallel(n, int(min(max(1, p.leastWork()/each), float64(n))), t.run)
	}
	t.product = product[F]{}
	pool.Put(t)
}

// cut chooses the blocks: no more rows than fit the cache, enough blocks to keep the workers busy evenly, and
// none too small. Where rows are copied, blocks rather have many columns, unless there are enough anyway; else many
// rows, of one panel of columns or more. A stored B is widened anew for each block of rows, which are few then.
func (t *tasks[F]) cut(count, workers int, work float64) {
	g := &t.product
	rows, lanes := tileShape[F](t.path)
	t.down, t.across = (g.m+maxRows[F]()-1)/maxRows[F](), 1
	wanted := 1
	if workers > 1 {
		most := float64(4 * workers)
		total := min(work*float64(count)/t.path.leastWork(), most)
		if total < most/2 {
			total = min(total, float64(workers))
		}
		wanted = (int(total) + count - 1) / count
	}
	height := 4 * rows
	if g.b.stored != nil {
		height = storedTall
	}
	byRows := func() {
		t.down = max(t.down, min((wanted+t.across-1)/t.across, g.m/height))
	}
	byColumns := func() {
		t.across = max(t.across, min((wanted+t.down-1)/t.down, g.n/(2*lanes)))
	}
	if g.packA && g.n < manyColumns || g.n == 1 {
		byRows()
		byColumns()
	} else {
		byColumns()
		byRows()
	}
}

// do computes blocks [lo,hi) of the batch.
func (t *tasks[F]) do(lo, hi int) {
	g := &t.product
	rows, lanes := tileShape[F](t.path)
	for i := lo; i < hi; i++ {
		which, down, across := i/(t.down*t.across), i/t.across%t.down, i%t.across
		i0, i1 := cutAt(down, t.down, g.m, rows), cutAt(down+1, t.down, g.m, rows)
		j0, j1 := cutAt(across, t.across, g.n, 2*lanes), cutAt(across+1, t.across, g.n, 2*lanes)
		if i0 == i1 || j0 == j1 {
			continue
		}
		one := *g
		one.c.data = g.c.data[which*t.stepC:]
		if g.k > 0 {
			one.a.data = g.a.data[which*t.stepA:]
			one.b.data = g.b.data[which*t.stepB:]
		}
		one = one.part(i0, i1, j0, j1)
		one.compute(t.path)
	}
}

// cutAt returns where part i of n begins when [0,n) is cut into parts at multiples of unit.
func cutAt(i, parts, n, unit int) int {
	return min(block(i, parts, (n+unit-1)/unit)*unit, n)
}

var taskPools = pools{{New: newTasks[float32]}, {New: newTasks[float64]}}

func newTasks[F Float]() any {
	t := new(tasks[F])
	t.run = t.do
	return t
}
