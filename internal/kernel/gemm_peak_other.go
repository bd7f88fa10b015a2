//go:build !amd64 || noasm

package kernel

func fmaLoop[F Float](_ path, n int) float64 { return fmaLoopGo[F](n) }
