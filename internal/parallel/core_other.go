//go:build !linux

package parallel

// A core is unknown on this system. Threads count as being on different cores.
type core struct{}

func (c *core) here()  {}
func (c *core) leave() {}

// yieldCore does nothing.
func yieldCore() {}
