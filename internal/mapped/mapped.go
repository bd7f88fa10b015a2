// Package mapped maps files into memory, and turns the faults of reading a truncated file into errors.
package mapped

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
)

// ErrCut is wrapped by the error about reading memory behind the end of a file that was truncated after it was mapped.
var ErrCut = errors.New("the file was cut while it was in use")

// Catch turns faults of this goroutine into panics until restore is called. Fault recognises them.
func Catch() (restore func()) {
	before := debug.SetPanicOnFault(true)
	return func() { debug.SetPanicOnFault(before) }
}

// Fault returns the address that a goroutine could not read, given the result of recover, and whether it is such a
// panic.
func Fault(recovered any) (address uintptr, ok bool) {
	err, ok := recovered.(runtime.Error)
	if !ok {
		return 0, false
	}
	at, ok := err.(interface{ Addr() uintptr })
	if !ok {
		return 0, false
	}
	return at.Addr(), true
}

// Guard calls do, which reads mapped memory, and returns its error, or ErrCut.
func Guard(do func() error) (err error) {
	defer Catch()()
	defer func() {
		r := recover()
		if _, ok := Fault(r); ok {
			err = fmt.Errorf("mapped memory: %w", ErrCut)
		} else if r != nil {
			panic(r)
		}
	}()
	return do()
}
