//go:build !noasm

package kernel

import "golang.org/x/sys/cpu"

// builtPaths are the paths in assembly, best first.
var builtPaths = []path{pathNEON}

// lacked asks the processor. All that run Go have Advanced SIMD, which is also called NEON.
func lacked(path) string {
	if cpu.ARM64.HasASIMD {
		return ""
	}
	return "ASIMD"
}
