//go:build !noasm

package kernel

// geluRun sets y ← x·Φ(x).
func geluRun[F Float](p path, y, x []F) {
	n := len(x)
	if p == pathGo || n == 0 || sizeOf[F]() == 8 {
		geluPlain(y, x)
		return
	}
	inside(n, len(y))
	py, px := first(y), first(x)
	if instructions[F](p) == single512 {
		sgeluAVX512(n, (*float32)(px), (*float32)(py))
	} else {
		sgeluAVX2(n, (*float32)(px), (*float32)(py))
	}
}

// geluBackwardRun sets dx ← dy·(Φ(x) + x·φ(x)).
func geluBackwardRun[F Float](p path, dx, x, dy []F) {
	n := len(x)
	if p == pathGo || n == 0 || sizeOf[F]() == 8 {
		geluBackwardPlain(dx, x, dy)
		return
	}
	inside(n, len(dx), len(dy))
	pdx, px, pdy := first(dx), first(x), first(dy)
	if instructions[F](p) == single512 {
		sgeluBackwardAVX512(n, (*float32)(px), (*float32)(pdy), (*float32)(pdx))
	} else {
		sgeluBackwardAVX2(n, (*float32)(px), (*float32)(pdy), (*float32)(pdx))
	}
}
