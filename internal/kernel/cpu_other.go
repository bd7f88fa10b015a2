//go:build !amd64 || noasm

package kernel

func bestPath() path { return pathGo }
