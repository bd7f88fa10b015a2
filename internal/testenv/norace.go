//go:build !race

package testenv

// Race reports whether the race detector is built in. With it, plain Go is ten times slower, and sync.Pool drops
// objects.
const Race = false
