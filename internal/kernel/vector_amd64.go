//go:build !noasm

package kernel

import "unsafe"

// Assembly knows no bounds: every function here first makes sure that what the assembly reaches lies inside its
// slices.
func inside(n int, lengths ...int) {
	for _, length := range lengths {
		if n < 0 || n > length {
			panic("kernel: vector: a row reaches outside its slice")
		}
	}
}

// vectorCode is an instruction set and a type of elements.
type vectorCode uint8

const (
	single512 vectorCode = iota
	single2
	double512
	double2
)

func instructions[F Float](p path) vectorCode {
	switch single := sizeOf[F]() == 4; {
	case single && p == pathAVX512:
		return single512
	case single:
		return single2
	case p == pathAVX512:
		return double512
	}
	return double2
}

func first[F Float](x []F) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(x)) }

// expRun sets y ← e^x.
func expRun[F Float](p path, y, x []F) {
	n := len(x)
	if p == pathGo || n == 0 {
		expPlain(y, x)
		return
	}
	inside(n, len(y))
	py, px := first(y), first(x)
	switch instructions[F](p) {
	case single512:
		sexpAVX512(n, (*float32)(px), (*float32)(py))
	case single2:
		sexpAVX2(n, (*float32)(px), (*float32)(py))
	case double512:
		dexpAVX512(n, (*float64)(px), (*float64)(py))
	default:
		dexpAVX2(n, (*float64)(px), (*float64)(py))
	}
}

// tanhRun sets y ← tanh x.
func tanhRun[F Float](p path, y, x []F) {
	n := len(x)
	if p == pathGo || n == 0 {
		tanhPlain(y, x)
		return
	}
	inside(n, len(y))
	py, px := first(y), first(x)
	switch instructions[F](p) {
	case single512:
		stanhAVX512(n, (*float32)(px), (*float32)(py))
	case single2:
		stanhAVX2(n, (*float32)(px), (*float32)(py))
	case double512:
		dtanhAVX512(n, (*float64)(px), (*float64)(py))
	default:
		dtanhAVX2(n, (*float64)(px), (*float64)(py))
	}
}

// tanhBackwardRun sets dx ← dy·(1 − y²).
func tanhBackwardRun[F Float](p path, dx, y, dy []F) {
	n := len(y)
	if p == pathGo || n == 0 {
		tanhBackwardPlain(dx, y, dy)
		return
	}
	inside(n, len(dx), len(dy))
	pdx, py, pdy := first(dx), first(y), first(dy)
	switch instructions[F](p) {
	case single512:
		stanhBackwardAVX512(n, (*float32)(py), (*float32)(pdy), (*float32)(pdx))
	case single2:
		stanhBackwardAVX2(n, (*float32)(py), (*float32)(pdy), (*float32)(pdx))
	case double512:
		dtanhBackwardAVX512(n, (*float64)(py), (*float64)(pdy), (*float64)(pdx))
	default:
		dtanhBackwardAVX2(n, (*float64)(py), (*float64)(pdy), (*float64)(pdx))
	}
}

// geluTanhRun sets y ← GELU(x), in its tanh form.
func geluTanhRun[F Float](p path, y, x []F) {
	n := len(x)
	if p == pathGo || n == 0 {
		geluTanhPlain(y, x)
		return
	}
	inside(n, len(y))
	py, px := first(y), first(x)
	switch instructions[F](p) {
	case single512:
		sgeluTanhAVX512(n, (*float32)(px), (*float32)(py))
	case single2:
		sgeluTanhAVX2(n, (*float32)(px), (*float32)(py))
	case double512:
		dgeluTanhAVX512(n, (*float64)(px), (*float64)(py))
	default:
		dgeluTanhAVX2(n, (*float64)(px), (*float64)(py))
	}
}

// geluTanhBackwardRun sets dx ← dy·GELU′(x).
func geluTanhBackwardRun[F Float](p path, dx, x, dy []F) {
	n := len(x)
	if p == pathGo || n == 0 {
		geluTanhBackwardPlain(dx, x, dy)
		return
	}
	inside(n, len(dx), len(dy))
	pdx, px, pdy := first(dx), first(x), first(dy)
	switch instructions[F](p) {
	case single512:
		sgeluTanhBackwardAVX512(n, (*float32)(px), (*float32)(pdy), (*float32)(pdx))
	case single2:
		sgeluTanhBackwardAVX2(n, (*float32)(px), (*float32)(pdy), (*float32)(pdx))
	case double512:
		dgeluTanhBackwardAVX512(n, (*float64)(px), (*float64)(pdy), (*float64)(pdx))
	default:
		dgeluTanhBackwardAVX2(n, (*float64)(px), (*float64)(pdy), (*float64)(pdx))
	}
}

// mulRun sets z ← x·y.
func mulRun[F Float](p path, z, x, y []F) {
	n := len(x)
	if p == pathGo || n == 0 {
		mulPlain(z, x, y)
		return
	}
	inside(n, len(z), len(y))
	pz, px, py := first(z), first(x), first(y)
	switch instructions[F](p) {
	case single512:
		smulAVX512(n, (*float32)(px), (*float32)(py), (*float32)(pz))
	case single2:
		smulAVX2(n, (*float32)(px), (*float32)(py), (*float32)(pz))
	case double512:
		dmulAVX512(n, (*float64)(px), (*float64)(py), (*float64)(pz))
	default:
		dmulAVX2(n, (*float64)(px), (*float64)(py), (*float64)(pz))
	}
}

// scaleRun sets y ← c·x.
func scaleRun[F Float](p path, y, x []F, c F) {
	n := len(x)
	if p == pathGo || n == 0 {
		scalePlain(y, x, c)
		return
	}
	inside(n, len(y))
	py, px := first(y), first(x)
	switch instructions[F](p) {
	case single512:
		sscaleAVX512(n, (*float32)(px), (*float32)(py), float32(c))
	case single2:
		sscaleAVX2(n, (*float32)(px), (*float32)(py), float32(c))
	case double512:
		dscaleAVX512(n, (*float64)(px), (*float64)(py), float64(c))
	default:
		dscaleAVX2(n, (*float64)(px), (*float64)(py), float64(c))
	}
}

// adamRun does a step of Adam.
func adamRun[F Float](p path, value, grad, m, v []F, k *AdamConstants[F]) {
	n := len(value)
	if p == pathGo || n == 0 {
		adamPlain(value, grad, m, v, k)
		return
	}
	inside(n, len(grad), len(m), len(v))
	pvalue, pgrad, pm, pv := first(value), first(grad), first(m), first(v)
	pk := unsafe.Pointer(k)
	switch instructions[F](p) {
	case single512:
		sadamAVX512(n, (*float32)(pvalue), (*float32)(pgrad), (*float32)(pm), (*float32)(pv), (*float32)(pk))
	case single2:
		sadamAVX2(n, (*float32)(pvalue), (*float32)(pgrad), (*float32)(pm), (*float32)(pv), (*float32)(pk))
	case double512:
		dadamAVX512(n, (*float64)(pvalue), (*float64)(pgrad), (*float64)(pm), (*float64)(pv), (*float64)(pk))
	default:
		dadamAVX2(n, (*float64)(pvalue), (*float64)(pgrad), (*float64)(pm), (*float64)(pv), (*float64)(pk))
	}
}

// sgdRun does a step of SGD.
func sgdRun[F Float](p path, value, grad []F, rate, decay F) {
	n := len(value)
	if p == pathGo || n == 0 {
		sgdPlain(value, grad, rate, decay)
		return
	}
	inside(n, len(grad))
	pvalue, pgrad := first(value), first(grad)
	switch instructions[F](p) {
	case single512:
		ssgdAVX512(n, (*float32)(pvalue), (*float32)(pgrad), float32(rate), float32(decay))
	case single2:
		ssgdAVX2(n, (*float32)(pvalue), (*float32)(pgrad), float32(rate), float32(decay))
	case double512:
		dsgdAVX512(n, (*float64)(pvalue), (*float64)(pgrad), float64(rate), float64(decay))
	default:
		dsgdAVX2(n, (*float64)(pvalue), (*float64)(pgrad), float64(rate), float64(decay))
	}
}

// momentumRun does a step of SGD with momentum.
func momentumRun[F Float](p path, value, grad, buffer []F, rate, momentum, decay F) {
	n := len(value)
	if p == pathGo || n == 0 {
		momentumPlain(value, grad, buffer, rate, momentum, decay)
		return
	}
	inside(n, len(grad), len(buffer))
	pvalue, pgrad, pbuffer := first(value), first(grad), first(buffer)
	switch instructions[F](p) {
	case single512:
		smomentumAVX512(n, (*float32)(pvalue), (*float32)(pgrad), float32(rate), float32(decay), (*float32)(pbuffer), float32(momentum))
	case single2:
		smomentumAVX2(n, (*float32)(pvalue), (*float32)(pgrad), float32(rate), float32(decay), (*float32)(pbuffer), float32(momentum))
	case double512:
		dmomentumAVX512(n, (*float64)(pvalue), (*float64)(pgrad), float64(rate), float64(decay), (*float64)(pbuffer), float64(momentum))
	default:
		dmomentumAVX2(n, (*float64)(pvalue), (*float64)(pgrad), float64(rate), float64(decay), (*float64)(pbuffer), float64(momentum))
	}
}

// sumSquaresRun is Σ x², summed in float64.
func sumSquaresRun[F Float](p path, x []F) (sum float64) {
	n := len(x)
	if p == pathGo || n == 0 {
		return sumSquaresPlain(x)
	}
	px := first(x)
	switch instructions[F](p) {
	case single512:
		ssumSquaresAVX512(n, (*float32)(px), &sum)
	case single2:
		ssumSquaresAVX2(n, (*float32)(px), &sum)
	case double512:
		dsumSquaresAVX512(n, (*float64)(px), &sum)
	default:
		dsumSquaresAVX2(n, (*float64)(px), &sum)
	}
	return sum
}
