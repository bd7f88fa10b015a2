//go:build (!amd64 && !arm64) || noasm

package kernel

func bestPath() path { return pathGo }
