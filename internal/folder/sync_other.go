//go:build !unix

package folder

// sync does nothing: only Unix flushes folders.
func (d *Dir) sync() error { return nil }
