package kernel

import (
	"math"
	"slices"

	"attention/internal/parallel"
	"attention/internal/simd"
)

// Targets holds the target class of every row of x, which has Cols logits.
type Targets[F Float] struct {
	IDs       []int64 // of each row, in [0,Cols) or one of Ignore
	Ignore    []int64 // ids of rows that are ignored
	Cols      int
	Smoothing float64 // the part of the target that is spread over all classes
	Weight    []F     // of each class, or nil
}

func (t *Targets[F]) counts(id int64) bool { return !slices.Contains(t.Ignore, id) }

func (t *Targets[F]) weight(class int) float64 {
	if t.Weight == nil {
		return 1
	}
	return float64(t.Weight[class])
}

// totalWeight returns the sum of the weights of all classes.
func (t *Targets[F]) totalWeight() float64 {
	if t.Weight == nil {
		return float64(t.Cols)
	}
	return Sum(t.Weight)
}

func (t *Targets[F]) fit(x int) (rows int) {
	rows = fitRows("cross entropy", x, t.Cols)
	fit("cross entropy", rows, len(t.IDs))
	fitOrNil("cross entropy", t.Cols, t.Weight)
	return rows
}

// CrossEntropy writes the loss of every row of x,
//
//	(1−ε)·w[target]·(log Σexp(x) − x[target]) + ε/Cols·Σ w[c]·(log Σexp(x) − x[c])
//
// with the smoothing ε and the weights w, computed in float64; 0 for an ignored row.
func CrossEntropy[F, G Float](losses []G, x []F, t Targets[F]) {
	rows := t.fit(len(x))
	fit("cross entropy", rows, len(losses))
	parallel.Do(crossEntropyCall[F, G]{losses, x, t, t.totalWeight(), true}, rows, rowGrain(grainSlow, t.Cols))
}

// SumCrossEntropy returns the sum of the losses of all rows. The losses of rows whose target is nearly certain are
// exact only if the other terms do not exceed their errors.
func SumCrossEntropy[F Float](x []F, t Targets[F]) float64 {
	losses := borrow[float64](t.fit(len(x)))
	defer giveBack(losses)
	weights := 0.0
	for _, id := range t.IDs {
		if t.counts(id) {
			weights += t.weight(int(id))
		}
	}
	total := 0.0
	for _, exact := range []bool{false, true} {
		call := crossEntropyCall[F, float64]{*losses, x, t, t.totalWeight(), exact}
		parallel.Do(call, len(*losses), rowGrain(grainSlow, t.Cols))
		total = 0
		for _, loss := range *losses {
			total += loss
		}
		if !(total < sure*weights) {
			break
		}
	}
	return total
}

type crossEntropyCall[F, G Float] struct {
	losses []G // of each row
	x      []F
	t      Targets[F]
	total  float64 // of the weights
	exact  bool    // also where the target is nearly certain
}

func (c crossEntropyCall[F, G]) Do(lo, hi int) {
	const most = 32
	var top, sum [most]F
	cols, smoothing := c.t.Cols, c.t.Smoothing
	for r0 := lo; r0 < hi; r0 += most {
		n := min(most, hi-r0)
		x := c.x[r0*cols : (r0+n)*cols]
		simd.SumExpRows(n, cols, x, top[:], sum[:])
		for i, target := range c.t.IDs[r0 : r0+n] {
			c.losses[r0+i] = 0
			if !c.t.counts(target) {
				continue
			}
			row := x[i*cols:][:cols]
			all := logSumExp(row, top[i], sum[i])
			loss := all - float64(row[target])
			if c.exact && loss < sure {
				loss = lossOfSure(row, int(target))
			}
			if c.t.Weight != nil {
				loss *= c.t.weight(int(target))
			}
			if smoothing != 0 {
				loss = (1-smoothing)*loss + smoothing/float64(cols)*(all*c.total-c.weighted(row))
			}
			c.losses[r0+i] = G(loss)
		}
	}
}

// weighted returns Σ w·x.
func (c *crossEntropyCall[F, G]) weighted(x []F) float64 {
	if c.t.Weight == nil {
		return simd.Sum(x)
	}
	total := 0.0
	for i, v := range x {
		total += float64(v) * float64(c.t.Weight[i])
	}
	return total
}

// sure is the loss below which the rounding to F of a sum of about 1 has a visible effect.
const sure = 1. / 8

// lossOfSure returns the loss of a target that is nearly certain, log(1 + Σ exp(x − x[target])) over the other x.
func lossOfSure[F Float](x []F, target int) float64 {
	others := 0.0
	for _, part := range [][]F{x[:target], x[target+1:]} {
		var top, sum [1]F
		if len(part) > 0 {
			simd.SumExpRows(1, len(part), part, top[:], sum[:])
			if sum[0] != 0 {
				others += float64(sum[0]) * math.Exp(float64(simd.RowShift(top[0]))-float64(x[target]))
			}
		}
	}
	return math.Log1p(others)
}

// logSumExp returns log Σexp(x) of a row with maximum top and Σ exp(x−top) = sum.
func logSumExp[F Float](x []F, top, sum F) float64 {
	if !math.IsInf(float64(top), 1) {
		return float64(top) + math.Log(float64(sum))
	}
	for _, v := range x {
		if v != v {
			return math.NaN()
		}
	}
	return math.Inf(1) // where ∞ − ∞ has made sum NaN
}

// CrossEntropyBackward writes the gradient of CrossEntropy for the gradient dlosses/divisor, with one of dlosses for
// each row or one for all: for a row that counts
//
//	dx = dloss/divisor·(((1−ε)·w[target] + ε/Cols·Σ w)·softmax(x) − (1−ε)·w[target]·onehot(target) − ε/Cols·w)
//
// and 0 for others. dx may be x.
func CrossEntropyBackward[F Float](dx, x []F, t Targets[F], dlosses []F, divisor float64) {
	rows := t.fit(len(x))
	fit("cross entropy backward", len(x), len(dx))
	if len(dlosses) != 1 {
		fit("cross entropy backward", rows, len(dlosses))
	}
	c := crossEntropyBackwardCall[F]{dx, x, t, dlosses, divisor, t.totalWeight()}
	parallel.Do(c, rows, rowGrain(grainSlow, t.Cols))
}

type crossEntropyBackwardCall[F Float] struct {
	dx, x   []F
	t       Targets[F]
	dlosses []F
	divisor float64
	total   float64 // of the weights
}

// A row of −∞ only has no softmax: the result is NaN.
func (c crossEntropyBackwardCall[F]) Do(lo, hi int) {
	cols := c.t.Cols
	spread := c.t.Smoothing / float64(cols)
	for i := lo; i < hi; i++ {
		dx, target := c.dx[i*cols:][:cols], c.t.IDs[i]
		if !c.t.counts(target) {
			clear(dx)
			continue
		}
		scale := float64(c.dlosses[min(i, len(c.dlosses)-1)]) / c.divisor
		right := (1 - c.t.Smoothing) * c.t.weight(int(target))
		simd.SoftmaxRows(1, cols, dx, c.x[i*cols:][:cols], F(scale*(right+spread*c.total)), F(math.NaN()))
		dx[target] -= F(scale * right)
		if spread == 0 {
			continue
		}
		for j := range dx {
			dx[j] -= F(scale * spread * c.t.weight(j))
		}
	}
}
