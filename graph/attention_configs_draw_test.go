package graph_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"attention/graph"
	_ "attention/internal/testenv"

	"gorgonia.org/tensor"
	"pgregory.net/rapid"
)

// drawnAttention describes an attention: its sizes, its numbers and all fields of its config.
type drawnAttention struct {
	z                     sizes
	c                     graph.AttentionConfig // the fields that are not nodes
	huge                  bool                  // scores up to ±1e4, exact in float32
	q, k, v               array
	mask                  *drawnMask
	bias, relative, sinks addend
	gates                 addend  // the log-gates
	key                   float64 // of the dropout
	dt                    tensor.Dtype
	tol                   float64
	blocks                [][]int // the blocks that each query of each head sees, if the attention is sparse
}

// addend is an array that is added to scores, or the sinks.
type addend struct {
	name string // empty without an array
	array
	detached bool
	hide     []float64 // added to the array, −∞ in some places; nil means 0
	sum      array     // with hide
}

// or returns element i of the addend, or x if the addend has no array.
func (a addend) or(x float64, i int) float64 {
	if a.name == "" {
		return x
	}
	return a.sum.v[i]
}

func (a drawnAttention) keyHeads() int {
	if a.c.KVHeads > 0 {
		return a.c.KVHeads
	}
	return max(a.c.Heads, 1)
}

func (a drawnAttention) scale() float64 {
	if a.c.Scale > 0 {
		return a.c.Scale
	}
	return 1 / math.Sqrt(float64(a.q.axis(-1)/max(a.c.Heads, 1)))
}

// drawing draws the parts of one attention.
type drawing struct {
	*rapid.T
	r *rand.Rand
}

func newDrawing(rt *rapid.T) drawing {
	return drawing{rt, rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))}
}

func (d drawing) flag(name string) bool { return rapid.Bool().Draw(d.T, name) }

// rarely returns true in one of eight calls.
func (d drawing) rarely(name string) bool { return rapid.IntRange(0, 7).Draw(d.T, name) == 7 }

func (d drawing) int(name string, lo, hi int) int { return rapid.IntRange(lo, hi).Draw(d.T, name) }

func pick[X any](d drawing, name string, of ...X) X { return rapid.SampledFrom(of).Draw(d.T, name) }

// drawAttention draws any attention that a config can describe.
func drawAttention(rt *rapid.T) drawnAttention {
	d := newDrawing(rt)
	p := pick(d, "type", tolerances...)
	a := drawnAttention{dt: p.dt, tol: p.tol}
	a.drawSizes(d)
	a.drawNumbers(d)
	if d.flag("masked") {
		m := d.mask(a.z, 3)
		a.mask = &m
	}
	if a.z.T == a.z.S && a.c.ExtraKeys == 0 && !a.huge && d.rarely("sparse") {
		a.drawBlocks(d)
	}
	return a
}

// drawBlocks makes an attention sparse. Gates are exact in float32, so that equal gates stay equal.
func (a *drawnAttention) drawBlocks(d drawing) {
	a.c.Sparse = &graph.BlockSparse{BlockSize: pick(d, "block size", 1, 2, 4, 16), Blocks: d.int("blocks", 1, 4)}
	if a.dt == tensor.Float32 {
		for i, v := range a.q.v {
			a.q.v[i] = math.Round(8*v) / 8
		}
		for i, v := range a.k.v {
			a.k.v[i] = math.Round(8*v) / 8
		}
	}
	q, k := a.products()
	for row := range a.z.B() * a.z.H * a.z.T {
		a.blocks = append(a.blocks, a.blocksOf(q, k, row/a.z.T, row%a.z.T))
	}
}

func (a *drawnAttention) drawSizes(d drawing) {
	length := func(name string) int {
		if d.rarely(name + " of several tiles") {
			return pick(d, name, 67, 131)
		}
		return pick(d, name, 1, 2, 3, 5, 7, 11)
	}
	lead := rapid.SliceOfN(rapid.IntRange(1, 3), 0, 3).Draw(d.T, "leading axes")
	a.z = sizes{batch: lead, H: 1, T: length("T")}
	a.z.S = a.z.T
	if d.flag("T ≠ S") {
		a.z.S = length("S")
	}
	keyHeads := 1
	if d.flag("heads side by side") {
		keyHeads = d.int("K", 1, 3)
		a.c.Heads = keyHeads
		if d.flag("grouped") {
			a.c.KVHeads, a.c.Heads = keyHeads, keyHeads*d.int("group", 1, 3)
		}
		a.z.heads, a.z.H, a.z.batch = true, a.c.Heads, lead[:min(len(lead), 2)]
	} else if len(lead) > 1 {
		a.z.heads, a.z.H, a.z.batch = true, lead[len(lead)-1], lead[:len(lead)-1]
	}
	if d.rarely("extra keys") {
		a.c.ExtraKeys = d.int("number of extra keys", 1, 2)
	}
	lead = a.z.batch
	if a.c.Heads == 0 && a.z.heads {
		lead = append(slices.Clone(lead), a.z.H)
	}
	width, valueWidth := pick(d, "D", 1, 2, 3, 5, 7), pick(d, "Dv", 1, 2, 3, 5, 13)
	of := func(rows, cols int) []int { return append(slices.Clone(lead), rows, cols) }
	a.q = zeros(of(a.z.T, max(a.c.Heads, 1)*width)...)
	a.k = zeros(of(a.z.S+a.c.ExtraKeys, keyHeads*width)...)
	a.v = zeros(of(a.z.S+a.c.ExtraKeys, keyHeads*valueWidth)...)
}

func (a *drawnAttention) drawNumbers(d drawing) {
	a.c.Scale = pick(d, "scale", 0, 1, 0.5, 0.3)
	if d.rarely("softcap") {
		a.c.Softcap = pick(d, "cap", 0.5, 2, 30)
	}
	if d.flag("drops") {
		a.c.Dropout = graph.DropoutConfig{P: pick(d, "p", 0.1, 0.5, 0.9), Site: d.int("site", 0, 3)}
		a.key = float64(d.int("key", -1000, 1000))
	}
	if d.flag("bias") {
		a.bias = d.addend("bias", d.broadcast("bias", a.z)...)
	}
	if d.rarely("relative bias") {
		a.relative = d.addend("relative bias", pick(d, "rows", 1, a.z.H), a.z.T+a.z.S-1)
	}
	if a.z.T <= a.z.S && d.rarely("forgets") {
		a.gates = d.addend("log gates", a.gateShape()...)
		a.gates.hide = nil // a gate of 0 would make NaN
		a.gates = a.gates.added()
	}
	if d.rarely("sinks") {
		a.sinks = d.addend("sinks", a.z.H)
		a.sinks.v[0] = pick(d, "sink", a.sinks.v[0], 1e4, -1e4)
		a.sinks = a.sinks.added()
	}
	number := d.r.NormFloat64
	if a.huge = d.rarely("huge"); a.huge {
		most := int(100 / math.Sqrt(float64(a.q.axis(-1)/max(a.c.Heads, 1))))
		number = func() float64 { return float64(d.r.IntN(2*most+1) - most) }
		a.c.Scale = pick(d, "exact scale", 1, 0.5)
	}
	for i := range a.q.v {
		a.q.v[i] = float64(float32(number()))
	}
	for i := range a.k.v {
		a.k.v[i] = float64(float32(number()))
	}
	for i := range a.v.v {
		a.v.v[i] = float64(float32(d.r.NormFloat64()))
	}
}

// gateShape returns the shape of log-gates.
func (a *drawnAttention) gateShape() []int {
	s := slices.Clone(a.z.batch)
	switch {
	case a.c.Heads > 0:
		return append(s, a.z.S, a.z.H)
	case a.z.heads:
		s = append(s, a.z.H)
	}
	return append(s, a.z.S)
}

// addend draws multiples of 1/8, which stay exact beside huge scores, and some −∞.
func (d drawing) addend(name string, shape ...int) addend {
	a := addend{name: name, array: normal(d.r, shape...), detached: d.rarely("detached")}
	for i, v := range a.v {
		a.v[i] = math.Round(8*v) / 8
	}
	if d.rarely("some −∞") {
		a.hide = make([]float64, len(a.v))
		for i := range a.hide {
			if d.r.IntN(3) == 0 {
				a.hide[i] = math.Inf(-1)
			}
		}
	}
	return a.added()
}

// added returns the addend with its sum.
func (a addend) added() addend {
	a.sum = array{a.shape, slices.Clone(a.v)}
	for i, v := range a.hide {
		a.sum.v[i] += v
	}
	return a
}

// broadcast draws a shape that broadcasts to the scores.
func (d drawing) broadcast(name string, z sizes) []int {
	s := z.shape(0)
	if d.flag(name + " for all batches") {
		for i := range z.batch {
			s[i] = 1
		}
	}
	for i := len(z.batch); i < len(s); i++ {
		if d.flag(fmt.Sprintf("%s for all of axis %d", name, i)) {
			s[i] = 1
		}
	}
	for len(s) > 0 && s[0] == 1 && d.flag(name+" without the first axis") {
		s = s[1:]
	}
	return s
}
