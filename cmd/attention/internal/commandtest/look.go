package commandtest

import (
	"bytes"
	"context"
	"runtime"
	"time"
)

// AwaitLook waits until a page asks for the weights of a run that trains in this process, or until the context ends. A
// run that calls it between two steps gives them after its next step.
func AwaitLook(ctx context.Context) {
	stacks := make([]byte, 1<<20)
	for ctx.Err() == nil && !bytes.Contains(stacks[:runtime.Stack(stacks, true)], []byte("/live.(*live).now(")) {
		time.Sleep(time.Millisecond)
	}
}
