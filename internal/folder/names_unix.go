//go:build unix

package folder

import (
	"os"
	"syscall"
)

// countNames returns the number of names that an open file has.
func countNames(f *os.File) (int, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(stat.Nlink), nil
	}
	return 1, nil
}
