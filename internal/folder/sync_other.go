//go:build !unix

package folder

// Sync does nothing: only Unix flushes folders.
func Sync(string) error { return nil }
