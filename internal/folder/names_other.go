//go:build !unix && !windows

package folder

import "os"

// countNames returns 1, since this system does not report the number.
func countNames(*os.File) (int, error) { return 1, nil }
