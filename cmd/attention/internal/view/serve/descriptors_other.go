//go:build !unix

package serve

import "math"

// descriptors returns the limit of open descriptors of this process; this system has no known limit.
func descriptors() uint64 { return math.MaxInt32 }
