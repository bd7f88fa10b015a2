//go:build !noasm

package kernel

import "golang.org/x/sys/cpu"

// multipliesQuads reports whether the AVX-512 of this processor multiplies 64-bit integers.
var multipliesQuads = cpu.X86.HasAVX512DQ

// bestPath asks the processor, and whether the operating system saves the registers, which x/sys/cpu includes in its
// answers. The AVX-512 kernels need F and, for masks made with BZHI, BMI2.
func bestPath() path {
	switch {
	case cpu.X86.HasAVX512F && cpu.X86.HasAVX2 && cpu.X86.HasFMA && cpu.X86.HasBMI2:
		return pathAVX512
	case cpu.X86.HasAVX2 && cpu.X86.HasFMA:
		return pathAVX2
	}
	return pathGo
}
