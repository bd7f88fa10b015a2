//go:build !linux

package mapped

// Release does nothing here.
func Release([]byte) {}
