//go:build !unix

package term

import "os"

// LostSignals returns nil: the system has no such signals.
func LostSignals() []os.Signal { return nil }

// FinishSignals returns nil: the system has no such signals.
func FinishSignals() []os.Signal { return nil }

// ofConnection returns false: the system has no such signals.
func ofConnection(os.Signal) bool { return false }
