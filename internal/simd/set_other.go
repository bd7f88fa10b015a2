//go:build (!amd64 && !arm64) || noasm

package simd

// builtSets are the sets in assembly: there are none.
var builtSets []Set

func lacked(Set) string { return "" }
