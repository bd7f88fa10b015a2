package kernel

// Forgetting holds sums of the log-gates of forgetting attention (Lin et al. 2025), up to the position of each query
// and up to each key: a score gets Query − Key. The sums grow along a sequence although the differences of near
// positions do not, so they are float64. In gradients, Query and Key are the derivatives by these sums. A zero
// Forgetting means none.
type Forgetting struct {
	Query []float64 // (B,H,T)
	Key   []float64 // (B,H,Rows); the first S−Unbiased rows belong to keys
	Rows  int
}

// ForgettingOf returns the sums of log-gates, of which there is one for each key that is not Unbiased. Key s of head h
// of batch b has the gate at.at(b, h, s). The queries are the last T of these keys.
func ForgettingOf[F Float](a *Attention, gates []F, at HeadLayout) Forgetting {
	f := a.NewForgetting()
	for i := range a.B * a.H {
		keys, sum := f.Key[i*f.Rows:][:f.Rows], 0.
		for s := range keys {
			sum += float64(gates[at.at(i/a.H, i%a.H, s)])
			keys[s] = sum
		}
		copy(f.Query[i*a.T:][:a.T], keys[f.Rows-a.T:])
	}
	return f
}

// NewForgetting returns sums of 0.
func (a *Attention) NewForgetting() Forgetting {
	n := a.biased()
	return Forgetting{make([]float64, a.B*a.H*a.T), make([]float64, a.B*a.H*n), n}
}

// GateGradients writes the gradients of the log-gates of ForgettingOf, given those of the sums:
//
//	sum[s] = Σ gate[i], i ≤ s:  dgate[i] = Σ dsum[s], s ≥ i
func GateGradients[F Float](a *Attention, gates []F, at HeadLayout, d Forgetting) {
	for i := range a.B * a.H {
		keys, queries, sum := d.Key[i*d.Rows:][:d.Rows], d.Query[i*a.T:][:a.T], 0.
		for s := d.Rows - 1; s >= 0; s-- {
			sum += keys[s]
			if t := s - d.Rows + a.T; t >= 0 {
				sum += queries[t]
			}
			gates[at.at(i/a.H, i%a.H, s)] = F(sum)
		}
	}
}

// At returns the number that is added to the score of query row i of (B,H,T) and key s.
func (f *Forgetting) At(a *Attention, i, s int) float64 { return f.Query[i] - f.Key[i/a.T*f.Rows+s] }

// check makes sure that the sums are long enough.
func (f *Forgetting) check(a *Attention, of string) {
	if f.Key == nil {
		return
	}
	if heads := a.B * a.H; f.Rows < a.biased() || len(f.Key) < heads*f.Rows || len(f.Query) < heads*a.T {
		panic("kernel: attention: forgetting" + of + ": slice is too short")
	}
}

// head returns the sums of the queries and keys of a head.
func (f *Forgetting) head(a *Attention, b, h int) (query, key []float64) {
	head := b*a.H + h
	return f.Query[head*a.T:][:a.T], f.Key[head*f.Rows:]
}

// forget adds the log-gates' part to the scores of a tile: differences of float64 sums, rounded once.
func (r *attentionRun[F]) forget(x *scores[F]) {
	if x.keys == 0 {
		return
	}
	querySums, keySums := r.In.Forget.head(&r.Attention, x.b, x.h)
	keySums = keySums[x.s0:][:x.keys]
	var query [queryBlock]float64
	for i := range x.queries {
		query[i] = querySums[x.query(i)]
	}
	if x.queryStep == 1 {
		for j, k := range keySums {
			line := x.data[j*x.keyStep:][:x.queries]
			for i, q := range query[:len(line)] {
				line[i] += F(q - k)
			}
		}
		return
	}
	for i, q := range query[:x.queries] {
		line := x.data[i*x.queryStep:][:x.keys]
		for j, k := range keySums[:len(line)] {
			line[j] += F(q - k)
		}
	}
}

// addForgetting adds the score gradients of a tile, one query in each row, to those of the keys' sums, and stores the
// sum of each row. The sums of rows are added to the queries' gradients later, in the order of the blocks of keys.
func (r *attentionRun[F]) addForgetting(w *backwardTiles[F], tile *scores[F]) {
	x := tile.biased(&r.Attention)
	_, key := r.grad.Forget.head(&r.Attention, x.b, x.h)
	key = key[min(x.s0, r.biased()):][:x.keys]
	for i := range x.queries {
		sum := 0.
		for j, v := range x.data[i*x.queryStep:][:x.keys] {
			sum += float64(v)
			key[j] -= float64(v)
		}
		w.rowSums[i] = sum
	}
}

// addRowSums adds the sums that addForgetting has stored for a tile.
func (r *attentionRun[F]) addRowSums(w *backwardTiles[F], x *scores[F]) {
	if r.grad.Forget.Query == nil {
		return
	}
	query, _ := r.grad.Forget.head(&r.Attention, x.b, x.h)
	for i := range x.queries {
		query[x.query(i)] += w.rowSums[i]
	}
}
