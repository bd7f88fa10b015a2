//go:build unix

package serve

import "syscall"

// descriptors returns how many descriptors this process may have open.
func descriptors() uint64 {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0 // the default that leaves the fewest connections
	}
	return uint64(limit.Cur)
}
