//go:build !amd64 || noasm

package simd

// thisProcessor returns nothing: no processor is known here.
func thisProcessor() processor { return processor{} }
