//go:build !unix

package term

import "os"

// LostSignals returns nil: the system has no such signals.
func LostSignals() []os.Signal { return nil }
