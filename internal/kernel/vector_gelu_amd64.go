//go:build !noasm

package kernel

// geluErfRun sets y ← x·Φ(x).
func geluErfRun[F Float](p path, y, x []F) {
	n := len(x)
	if p == pathGo || n == 0 || sizeOf[F]() == 8 {
		geluErfPlain(y, x)
		return
	}
	inside(n, len(y))
	py, px := first(y), first(x)
	if instructions[F](p) == single512 {
		sgeluErfAVX512(n, (*float32)(px), (*float32)(py))
	} else {
		sgeluErfAVX2(n, (*float32)(px), (*float32)(py))
	}
}

// geluErfBackwardRun sets dx ← dy·(Φ(x) + x·φ(x)).
func geluErfBackwardRun[F Float](p path, dx, x, dy []F) {
	n := len(x)
	if p == pathGo || n == 0 || sizeOf[F]() == 8 {
		geluErfBackwardPlain(dx, x, dy)
		return
	}
	inside(n, len(dx), len(dy))
	pdx, px, pdy := first(dx), first(x), first(dy)
	if instructions[F](p) == single512 {
		sgeluErfBackwardAVX512(n, (*float32)(px), (*float32)(pdy), (*float32)(pdx))
	} else {
		sgeluErfBackwardAVX2(n, (*float32)(px), (*float32)(pdy), (*float32)(pdx))
	}
}
