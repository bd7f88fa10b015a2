//go:build !unix

package term

import "os"

// lostSignals returns none: the system has no such signals.
func lostSignals() []os.Signal { return nil }
