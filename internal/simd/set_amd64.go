//go:build !noasm

package simd

import (
	"strings"

	"golang.org/x/sys/cpu"
)

// multipliesQuads reports whether the AVX-512 of this processor multiplies 64-bit integers.
var multipliesQuads = cpu.X86.HasAVX512DQ

// builtSets are the sets in assembly, best first.
var builtSets = []Set{AVX512, AVX2}

// lacked asks for the processor's features. The answers of x/sys/cpu include whether the operating system saves the
// registers. The AVX-512 kernels need F and, for masks made with BZHI, BMI2.
func lacked(p Set) string {
	var missing []string
	for _, f := range []struct {
		name      string
		has, need bool
	}{
		{"AVX2", cpu.X86.HasAVX2, true},
		{"FMA", cpu.X86.HasFMA, true},
		{"BMI2", cpu.X86.HasBMI2, p == AVX512},
		{"AVX512F", cpu.X86.HasAVX512F, p == AVX512},
	} {
		if f.need && !f.has {
			missing = append(missing, f.name)
		}
	}
	return strings.Join(missing, " and ")
}
