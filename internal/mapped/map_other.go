//go:build !linux && !darwin

package mapped

import (
	"errors"
	"os"
)

// Map returns errors.ErrUnsupported. On Windows a mapped file cannot be replaced.
func Map(*os.File, int64) ([]byte, error) { return nil, errors.ErrUnsupported }
