//go:build !linux

package parallel

// A core is not known here: no two threads are on the same one.
type core struct{}

func (c *core) here()  {}
func (c *core) leave() {}

// yieldCore does nothing.
func yieldCore() {}
