//go:build !noasm

package kernel

import "golang.org/x/sys/cpu"

// bestPath asks the processor. All that run Go have Advanced SIMD, which is also called NEON.
func bestPath() path {
	if cpu.ARM64.HasASIMD {
		return pathNEON
	}
	return pathGo
}
