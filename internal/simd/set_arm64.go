//go:build !noasm

package simd

import "golang.org/x/sys/cpu"

// builtSets are the sets in assembly, best first.
var builtSets = []Set{NEON}

// lacked asks the processor. All that run Go have Advanced SIMD, which is also called NEON.
func lacked(Set) string {
	if cpu.ARM64.HasASIMD {
		return ""
	}
	return "ASIMD"
}
