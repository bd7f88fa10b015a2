//go:build !noasm

package kernel

// fmaLoop runs independent multiply-adds n times over, and returns how many floating-point operations that is.
func fmaLoop[F Float](p path, n int) float64 {
	rows, lanes := tileShape[F](p)
	single := sizeOf[F]() == 4
	switch {
	case p == pathGo:
		return fmaLoopGo[F](n)
	case p == pathAVX512 && single:
		sfmaLoopAVX512(n)
	case p == pathAVX512:
		dfmaLoopAVX512(n)
	case single:
		sfmaLoopAVX2(n)
	default:
		dfmaLoopAVX2(n)
	}
	return float64(n) * float64(2*rows*lanes*2)
}
