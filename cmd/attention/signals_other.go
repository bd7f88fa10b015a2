//go:build !unix

package main

import "os"

// lostSignals are none where the system has none of them.
func lostSignals() []os.Signal { return nil }
