package kernel

// instances are a generic function's two instances, for float32 and for float64, which this package holds for all. A
// package that calls the function through instance does not compile it, and all that it calls, once more.
type instances [2]any

// instance returns the instance of a function's type.
func instance[Func any](of instances) Func {
	if f, ok := of[0].(Func); ok {
		return f
	}
	return of[1].(Func)
}
