//go:build race

package testenv

// Race reports whether the race detector is built in: plain Go is ten times slower then, and sync.Pool drops what it
// is given.
const Race = true
