package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The kernels of the number formats of GGUF files, for AVX2 and AVX-512. Sixteen numbers are one vector of signed bytes
// before they become floats.
var formatKernels = []kernel{
	{
		name:   "unpackBlocks",
		params: "n, kind size; values, a [n]uint8; y [n]F",
		only:   "float32",
		write:  func(g *generator) { g.blocks(false) },
	},
	{
		name:   "dotBlocks",
		params: "m, n, kind size; values, a [n]uint8; x [n]F; y [m]F",
		only:   "float32",
		write:  func(g *generator) { g.blocks(true) },
	},
	{
		name:   "unpackGroup",
		params: "n, kind size; layout, a [n]uint8; scale, plus, y [n]F",
		only:   "float32",
		write:  (*generator).group,
	},
}

// unpacker is the state of a kernel that unpacks 16 numbers at a time.
type unpacker struct {
	*generator
	p                         map[string]reg.GPVirtual
	number, other             reg.VecPhysical // of bytes
	low, high, values, up     reg.VecPhysical // masks, a table or a value to subtract, and a number of bits
	bits, spread              reg.VecPhysical // to extract bits from words
	scale, plus, vector, half reg.VecPhysical
	sums                      [2]reg.VecPhysical
}

func (g *generator) unpacker(params ...string) *unpacker {
	x := func(i int) reg.VecPhysical { return g.vectors[i].AsX().(reg.VecPhysical) }
	return &unpacker{generator: g, p: g.load(params...), number: x(0), other: x(1), low: x(2), high: x(3), values: x(4),
		up: x(5), bits: x(6), spread: x(7), scale: g.vectors[8], plus: g.vectors[9], vector: g.vectors[10], half: x(11),
		sums: [2]reg.VecPhysical{g.vectors[12], g.vectors[13]}}
}

// choose writes a body for each kind, from 1 on, and the jumps to them.
func (u *unpacker) choose(bodies ...func()) {
	end, labels := u.label("end"), make([]string, len(bodies))
	for i := range bodies {
		labels[i] = u.label("kind")
		u.check(u.p["kind"], operand.U32(i+1))
		u.jumpIf(same, labels[i])
	}
	u.jump(end)
	for i, body := range bodies {
		u.Label(labels[i])
		body()
		u.jump(end)
	}
	u.Label(end)
}

// floats writes 16 signed bytes as floats, scaled and added to plus, and calls sink with each vector.
func (u *unpacker) floats(plus bool, sink func(lane int)) {
	for lane := 0; lane < 16; lane += u.lanes() {
		if lane > 0 {
			u.VPSRLDQ(operand.U8(lane), u.number, u.number)
		}
		u.VPMOVSXBD(u.number, u.vector)
		u.VCVTDQ2PS(u.vector, u.vector)
		u.mul(u.scale, u.vector, u.vector)
		if plus {
			u.add(u.plus, u.vector, u.vector)
		}
		sink(lane)
	}
}

// blocks writes the unpacking of blocks of 32 numbers, or the products of rows of blocks with a vector, which have the
// bits of dot. The kinds are those of package simd.
func (g *generator) blocks(dot bool) {
	u := g.unpacker("n", "kind", "values", "a", "y")
	if dot {
		u.p["m"], u.p["x"] = g.GP64(), g.GP64()
		g.parameter("m", u.p["m"])
	}
	g.VMOVDQU(operand.Mem{Base: u.p["values"]}, u.values)
	g.VMOVDQU(g.bytesOf("lowBits", 0x0f), u.low)
	g.VMOVDQU(g.bytesOf("fifthBit", 0x10), u.high)
	g.VMOVDQU(g.words("eachBit", []uint64{0x8040201008040201, 0x8040201008040201}), u.bits)
	g.VMOVDQU(g.words("eachByte", []uint64{0, 0x0101010101010101}), u.spread)
	var bodies []func()
	for _, b := range []struct {
		bytes int
		plus  bool
		read  func(u *unpacker, run, at int)
	}{
		{34, false, (*unpacker).ownBytes}, {18, false, (*unpacker).fromTable}, {20, true, (*unpacker).fromTable},
		{22, false, (*unpacker).withFifth}, {24, true, (*unpacker).withFifth}, {64, false, nil},
	} {
		bodies = append(bodies, func() {
			u.rows(dot, func() {
				if b.read == nil {
					u.halves(dot)
					return
				}
				at := 2
				u.broadcastHalf(0, u.scale)
				if b.plus {
					at = 4
					u.broadcastHalf(2, u.plus)
				}
				for run := range 2 {
					b.read(u, run, at)
					u.floats(b.plus, func(lane int) { u.sink(dot, 16*run+lane) })
				}
			}, b.bytes)
		})
	}
	u.choose(bodies...)
}

// bytesOf returns the address of 16 equal bytes.
func (g *generator) bytesOf(name string, b uint64) operand.Mem {
	word := b * 0x0101010101010101
	return g.words(name, []uint64{word, word})
}

// rows loops over the blocks of a row, and for products over rows.
func (u *unpacker) rows(dot bool, block func(), bytes int) {
	row, loop, n := u.label("row"), u.label("block"), u.GP64()
	u.Label(row)
	u.set(u.p["n"], n)
	if dot {
		u.parameter("x", u.p["x"])
		u.zero(u.sums[0])
		u.zero(u.sums[1])
	}
	u.Label(loop)
	block()
	u.increase(operand.U32(bytes), u.p["a"])
	u.increase(operand.U32(32*u.size), u.p[u.moving(dot)])
	u.decrease(operand.U32(32), n)
	u.jumpIf(above, loop)
	if dot {
		u.add(u.sums[1], u.sums[0], u.sums[0])
		u.sumTo(operand.Mem{Base: u.p["y"]}, u.sums[0], u.vector)
		u.increase(operand.U32(u.size), u.p["y"])
		u.countDown(u.p["m"])
		u.jumpIf(other, row)
	}
}

// moving returns the slice of floats that advances with the blocks.
func (u *unpacker) moving(dot bool) string {
	if dot {
		return "x"
	}
	return "y"
}

// sink stores a vector or multiplies it: even and odd vectors have separate sums, like those of dot.
func (u *unpacker) sink(dot bool, lane int) {
	at := operand.Mem{Base: u.p[u.moving(dot)], Disp: lane * u.size}
	if dot {
		u.fma(at, u.vector, u.sums[lane/u.lanes()%2])
	} else {
		u.move(u.vector, at)
	}
}

func (u *unpacker) at(disp int) operand.Mem { return operand.Mem{Base: u.p["a"], Disp: disp} }

// broadcastHalf sets all lanes to a half-precision number of the block.
func (u *unpacker) broadcastHalf(disp int, to reg.VecPhysical) {
	from := u.half
	if u.masked {
		from = u.half.AsY().(reg.VecPhysical)
	}
	u.VPBROADCASTW(u.at(disp), from)
	u.VCVTPH2PS(from, to)
}

func (u *unpacker) halves(dot bool) {
	for lane := 0; lane < 32; lane += u.lanes() {
		u.VCVTPH2PS(u.at(2*lane), u.vector)
		u.sink(dot, lane)
	}
}

func (u *unpacker) ownBytes(run, at int) { u.VMOVDQU(u.at(at+16*run), u.number) }

func (u *unpacker) nibbles(run, at int) {
	u.VMOVDQU(u.at(at), u.number)
	if run == 1 {
		u.VPSRLW(operand.U8(4), u.number, u.number)
	}
	u.VPAND(u.low, u.number, u.number)
}

func (u *unpacker) fromTable(run, at int) {
	u.nibbles(run, at)
	u.VPSHUFB(u.number, u.values, u.number)
}

// withFifth adds the fifth bits, which lie in a word before the others.
func (u *unpacker) withFifth(run, at int) {
	u.nibbles(run, at+4)
	u.VPBROADCASTW(u.at(at+2*run), u.other)
	u.VPSHUFB(u.spread, u.other, u.other)
	u.VPAND(u.bits, u.other, u.other)
	u.VPCMPEQB(u.bits, u.other, u.other)
	u.addHigh()
}

// addHigh adds the high bits and subtracts the values.
func (u *unpacker) addHigh() {
	u.VPAND(u.high, u.other, u.other)
	u.VPOR(u.other, u.number, u.number)
	u.VPSUBB(u.values, u.number, u.number)
}

// Offsets in a Layout of package simd, in bytes.
const (
	layoutLow, layoutHigh, layoutValues = 0, 16, 32 // masks, and a table or a value to subtract
	layoutUp                            = 48        // a count of bits
	layoutRuns, layoutRun               = 64, 16    // the beginning and the size
)

// group writes the unpacking of a block of 256 numbers, whose places a layout describes.
func (g *generator) group() {
	u := g.unpacker("n", "kind", "layout", "a", "scale", "plus", "y")
	layout := func(disp int) operand.Mem { return operand.Mem{Base: u.p["layout"], Disp: disp} }
	g.VMOVDQU(layout(layoutLow), u.low)
	g.VMOVDQU(layout(layoutHigh), u.high)
	g.VMOVDQU(layout(layoutValues), u.values)
	g.VMOVDQU(layout(layoutUp), u.up)
	g.increase(operand.U32(layoutRuns), u.p["layout"])
	load := func(word int, to reg.VecPhysical) {
		at := g.GP64()
		g.MOVL(layout(4*word), at.As32())
		g.VMOVDQU(operand.Mem{Base: u.p["a"], Index: at, Scale: 1}, to)
		g.VMOVD(layout(4*word+4), u.half)
		g.VPSRLW(u.half, to, to)
	}
	run := func(read func()) func() {
		return func() {
			loop := g.label("run")
			g.Label(loop)
			load(0, u.number)
			g.VPAND(u.low, u.number, u.number)
			read()
			g.broadcast(operand.Mem{Base: u.p["scale"]}, u.scale)
			g.broadcast(operand.Mem{Base: u.p["plus"]}, u.plus)
			u.floats(true, func(lane int) { u.sink(false, lane) })
			g.increase(operand.U32(layoutRun), u.p["layout"])
			g.increase(operand.U32(16*g.size), u.p["y"])
			g.increase(operand.U32(g.size), u.p["scale"])
			g.increase(operand.U32(g.size), u.p["plus"])
			g.decrease(operand.U32(16), u.p["n"])
			g.jumpIf(above, loop)
		}
	}
	u.choose(run(func() { g.VPSHUFB(u.number, u.values, u.number) }), run(func() {
		load(2, u.other)
		g.VPSLLW(u.up, u.other, u.other)
		u.addHigh()
	}))
}
