//go:build !linux && !darwin

package mapped

import (
	"errors"
	"os"
)

// Map returns errors.ErrUnsupported. On Windows no file can take the place of one that is mapped.
func Map(*os.File, int64) ([]byte, error) { return nil, errors.ErrUnsupported }
