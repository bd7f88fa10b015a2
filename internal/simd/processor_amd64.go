//go:build !noasm

package simd

import "encoding/binary"

// cpuid is the instruction CPUID of a leaf.
func cpuid(leaf uint32) (a, b, c, d uint32)

// thisProcessor returns what CPUID gives.
func thisProcessor() processor {
	_, b, c, d := cpuid(0)
	maker := binary.LittleEndian.AppendUint32(nil, b)
	maker = binary.LittleEndian.AppendUint32(maker, d)
	maker = binary.LittleEndian.AppendUint32(maker, c)
	a, _, _, _ := cpuid(1)
	family, model := signature(a)
	return processor{string(maker), family, model}
}
