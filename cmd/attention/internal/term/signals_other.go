//go:build !unix

package term

import "os"

// LostSignals returns nil: the system has no such signals.
func LostSignals() []os.Signal { return nil }

// FinishSignals returns nil: the system has no such signals.
func FinishSignals() []os.Signal { return nil }

// isPipe and ofConnection return false: the system has no such signal.
func isPipe(os.Signal) bool { return false }
func ofConnection() bool    { return false }
