package parallel

import "sync"

// A Call is one call of a function over elements, rows or columns: its arguments, and a method that computes a part of
// it. Parts are independent, so the bits of the results do not depend on how a call is split.
type Call interface {
	Do(lo, hi int) // the elements, rows or columns [lo,hi)
}

// Do computes a call of n elements, rows or columns in the way of For, with blocks of at least grain. It allocates
// nothing.
func Do[C Call](c C, n, grain int) {
	if n < 2*grain {
		if n > 0 {
			c.Do(0, n)
		}
		return
	}
	pool := sharedCalls[C]()
	shared := pool.Get().(*sharedCall[C])
	shared.call = c
	For(n, grain, shared.do)
	var none C
	shared.call = none
	pool.Put(shared)
}

// A sharedCall is a call that goroutines share. It is kept for the next call of the same type, so that Do allocates
// nothing.
type sharedCall[C Call] struct {
	call C
	do   func(lo, hi int) // call.Do, made once
}

// callPools holds a pool of *sharedCall[C] for the type *C.
var callPools sync.Map

func sharedCalls[C Call]() *sync.Pool {
	key := any((*C)(nil))
	pool, ok := callPools.Load(key)
	if !ok {
		pool, _ = callPools.LoadOrStore(key, &sync.Pool{New: func() any {
			s := new(sharedCall[C])
			// Passed by address: a copy on the stack for each part would wait for the stores of the part before.
			s.do = any(&s.call).(Call).Do
			return s
		}})
	}
	return pool.(*sync.Pool)
}
