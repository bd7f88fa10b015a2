package main

import (
	"slices"
	"strconv"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/gotypes"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// simd is an instruction set: how wide its vectors are and which tiles fit into its registers.
type simd struct {
	name, file string
	processor  string // GOARCH
	width      int    // bytes of a vector
	rows       []int  // heights of tiles, largest first, ending in 1
	vectors    []reg.VecPhysical
	masked     bool // has mask registers
	grows      bool // whether there are registers for a tile with one row more than the tallest
	target     func(*generator) target
}

// avx512 keeps 12×2 accumulators in its 32 registers, or 13×2.
func avx512() *simd {
	v := []reg.VecPhysical{
		reg.Z0, reg.Z1, reg.Z2, reg.Z3, reg.Z4, reg.Z5, reg.Z6, reg.Z7,
		reg.Z8, reg.Z9, reg.Z10, reg.Z11, reg.Z12, reg.Z13, reg.Z14, reg.Z15,
		reg.Z16, reg.Z17, reg.Z18, reg.Z19, reg.Z20, reg.Z21, reg.Z22, reg.Z23,
		reg.Z24, reg.Z25, reg.Z26, reg.Z27, reg.Z28, reg.Z29, reg.Z30, reg.Z31,
	}
	return &simd{name: "AVX512", file: "avx512", processor: "amd64", width: 64, rows: []int{12, 8, 4, 2, 1},
		vectors: v, masked: true, grows: true, target: newAVX}
}

// avx2 keeps 6×2 accumulators in its 16 registers.
func avx2() *simd {
	v := []reg.VecPhysical{
		reg.Y0, reg.Y1, reg.Y2, reg.Y3, reg.Y4, reg.Y5, reg.Y6, reg.Y7,
		reg.Y8, reg.Y9, reg.Y10, reg.Y11, reg.Y12, reg.Y13, reg.Y14, reg.Y15,
	}
	return &simd{name: "AVX2", file: "avx2", processor: "amd64", width: 32, rows: []int{6, 4, 2, 1},
		vectors: v, target: newAVX}
}

// element is the type of a number.
type element struct {
	letter, typ string
	word        string // function that gives the address of a slice
	size        int
	shift       operand.U8 // log2 of size
}

var elements = []element{
	{letter: "s", typ: "float32", word: "single", size: 4, shift: 2},
	{letter: "d", typ: "float64", word: "double", size: 8, shift: 3},
}

// generator writes the functions of one instruction set, for one type of element at a time.
type generator struct {
	*build.Context
	target
	*simd
	element
	kernel    *kernel // the one being written
	constants []constant
	table     reg.GPVirtual              // address of the constants
	held      map[string]reg.VecPhysical // constants in registers
	labels    int
	data      []string // the names of the data written so far
}

// begin opens the version of a kernel that g is to write.
func (g *generator) begin(k *kernel) {
	g.kernel, g.held = k, map[string]reg.VecPhysical{}
	name := k.version(g.simd, g.element)
	g.Function(name)
	g.Doc(name + " is " + k.name + " of " + g.typ + " with " + g.simd.name + ".")
	g.Pragma("noescape")
	g.SignatureExpr(k.assemblySignature(g.typ))
}

// end returns from the function.
func (g *generator) end() {
	g.leave()
}

// ofElements returns a generator that continues g's function for another type of element.
func (g *generator) ofElements(e element) *generator {
	other := *g
	other.element = e
	other.target = g.simd.target(&other)
	return &other
}

// lanes returns how many elements a vector holds.
func (g *generator) lanes() int { return g.width / g.size }

func (g *generator) single() bool { return g.size == 4 }

// label makes a label that is new in its function.
func (g *generator) label(name string) string {
	g.labels++
	return name + "_" + strconv.Itoa(g.labels)
}

// load loads parameters that are integers or pointers, in this order; strides become bytes.
func (g *generator) load(names ...string) map[string]reg.GPVirtual {
	loaded := map[string]reg.GPVirtual{}
	for _, name := range names {
		loaded[name] = g.GP64()
		g.loadInto(loaded[name], name)
	}
	return loaded
}

func (g *generator) loadInto(r reg.GPVirtual, name string) {
	g.parameter(name, r)
	if g.kernel.param(name).typ == "stride" {
		g.shiftLeft(g.shift, r)
	}
}

// inMemory returns the place of a parameter or a result in memory.
func inMemory(c gotypes.Component) operand.Mem {
	b, err := c.Resolve()
	if err != nil {
		panic(err)
	}
	return b.Addr
}

// words returns the address of constant words, which are written when they are first asked for.
func (g *generator) words(name string, words []uint64) operand.Mem {
	if !slices.Contains(g.data, name) {
		g.data = append(g.data, name)
		g.StaticGlobal(name)
		g.DataAttributes(attr.RODATA | attr.NOPTR)
		for i, w := range words {
			g.AddDatum(8*i, operand.U64(w))
		}
	}
	return operand.NewDataAddr(operand.NewStaticSymbol(name), 0)
}
