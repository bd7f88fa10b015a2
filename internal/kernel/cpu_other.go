//go:build (!amd64 && !arm64) || noasm

package kernel

// builtPaths are the paths in assembly: there are none.
var builtPaths []path

func lacked(path) string { return "" }
