//go:build !unix

package term

import "os"

// LostSignals returns none: the system has no such signals.
func LostSignals() []os.Signal { return nil }
