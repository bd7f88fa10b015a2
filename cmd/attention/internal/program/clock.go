package program

import "time"

// Now returns the time. Tests replace it.
var Now = time.Now

// Since returns the time since t by Now.
func Since(t time.Time) time.Duration { return Now().Sub(t) }
