package commandtest

import (
	"context"
	"time"
)

// Await waits until a condition holds, or until the context ends.
func Await(ctx context.Context, holds func() bool) {
	for ctx.Err() == nil && !holds() {
		time.Sleep(time.Millisecond)
	}
}
