//go:build !noasm

package kernel

// softmaxRows sets y ← scale·softmax(x) in each row; in rows of −∞ alone the softmax is 0·empty.
func softmaxRows[F Float](p path, rows, cols int, y, x []F, scale, empty F) {
	if p == pathGo || rows < 1 || cols < 1 {
		softmaxRowsPlain(rows, cols, y, x, scale, empty)
		return
	}
	inside(rows*cols, len(x), len(y))
	py, px := first(y), first(x)
	switch instructions[F](p) {
	case single512:
		ssoftmaxRowsAVX512(rows, cols, (*float32)(px), (*float32)(py), float32(scale), float32(empty))
	case single2:
		ssoftmaxRowsAVX2(rows, cols, (*float32)(px), (*float32)(py), float32(scale), float32(empty))
	case double512:
		dsoftmaxRowsAVX512(rows, cols, (*float64)(px), (*float64)(py), float64(scale), float64(empty))
	default:
		dsoftmaxRowsAVX2(rows, cols, (*float64)(px), (*float64)(py), float64(scale), float64(empty))
	}
}

// sumExpRows writes each row's maximum to top, and Σ exp(x−max) to sum; from −∞ nothing is subtracted.
func sumExpRows[F Float](p path, rows, cols int, x, top, sum []F) {
	if p == pathGo || rows < 1 || cols < 1 {
		sumExpRowsPlain(rows, cols, x, top, sum)
		return
	}
	inside(rows*cols, len(x))
	inside(rows, len(top), len(sum))
	px, ptop, psum := first(x), first(top), first(sum)
	switch instructions[F](p) {
	case single512:
		ssumExpRowsAVX512(rows, cols, (*float32)(px), (*float32)(ptop), (*float32)(psum))
	case single2:
		ssumExpRowsAVX2(rows, cols, (*float32)(px), (*float32)(ptop), (*float32)(psum))
	case double512:
		dsumExpRowsAVX512(rows, cols, (*float64)(px), (*float64)(ptop), (*float64)(psum))
	default:
		dsumExpRowsAVX2(rows, cols, (*float64)(px), (*float64)(ptop), (*float64)(psum))
	}
}

// softmaxBackwardRows sets dx ← y·(dy − Σ dy·y) in each row.
func softmaxBackwardRows[F Float](p path, rows, cols int, dx, y, dy []F) {
	if p == pathGo || rows < 1 || cols < 1 {
		softmaxBackwardRowsPlain(rows, cols, dx, y, dy)
		return
	}
	inside(rows*cols, len(dx), len(y), len(dy))
	pdx, py, pdy := first(dx), first(y), first(dy)
	switch instructions[F](p) {
	case single512:
		ssoftmaxBackwardRowsAVX512(rows, cols, (*float32)(py), (*float32)(pdy), (*float32)(pdx))
	case single2:
		ssoftmaxBackwardRowsAVX2(rows, cols, (*float32)(py), (*float32)(pdy), (*float32)(pdx))
	case double512:
		dsoftmaxBackwardRowsAVX512(rows, cols, (*float64)(py), (*float64)(pdy), (*float64)(pdx))
	default:
		dsoftmaxBackwardRowsAVX2(rows, cols, (*float64)(py), (*float64)(pdy), (*float64)(pdx))
	}
}

// normRows normalises each row; gamma and beta may be nil.
func normRows[F Float](p path, rows, cols int, y, mean, rstd, x, gamma, beta []F, eps F) {
	if p == pathGo || rows < 1 || cols < 1 {
		normRowsPlain(rows, cols, y, mean, rstd, x, gamma, beta, eps)
		return
	}
	inside(rows*cols, len(x), len(y))
	inside(rows, len(mean), len(rstd))
	if gamma != nil {
		inside(cols, len(gamma))
	}
	if beta != nil {
		inside(cols, len(beta))
	}
	inverse := 1 / F(cols)
	py, pmean, prstd, px := first(y), first(mean), first(rstd), first(x)
	pgamma := first(gamma)
	pbeta := first(beta)
	switch instructions[F](p) {
	case single512:
		snormRowsAVX512(rows, cols, (*float32)(px), (*float32)(pgamma), (*float32)(pbeta), (*float32)(py), (*float32)(pmean), (*float32)(prstd), float32(inverse), float32(eps))
	case single2:
		snormRowsAVX2(rows, cols, (*float32)(px), (*float32)(pgamma), (*float32)(pbeta), (*float32)(py), (*float32)(pmean), (*float32)(prstd), float32(inverse), float32(eps))
	case double512:
		dnormRowsAVX512(rows, cols, (*float64)(px), (*float64)(pgamma), (*float64)(pbeta), (*float64)(py), (*float64)(pmean), (*float64)(prstd), float64(inverse), float64(eps))
	default:
		dnormRowsAVX2(rows, cols, (*float64)(px), (*float64)(pgamma), (*float64)(pbeta), (*float64)(py), (*float64)(pmean), (*float64)(prstd), float64(inverse), float64(eps))
	}
}

// normBackwardRows writes the gradient of each row; gamma may be nil.
func normBackwardRows[F Float](p path, rows, cols int, dx, dy, x, gamma, mean, rstd []F) {
	if p == pathGo || rows < 1 || cols < 1 {
		normBackwardRowsPlain(rows, cols, dx, dy, x, gamma, mean, rstd)
		return
	}
	inside(rows*cols, len(dx), len(dy), len(x))
	inside(rows, len(mean), len(rstd))
	if gamma != nil {
		inside(cols, len(gamma))
	}
	inverse := 1 / F(cols)
	pdx, pdy, px, pmean, prstd := first(dx), first(dy), first(x), first(mean), first(rstd)
	pgamma := first(gamma)
	switch instructions[F](p) {
	case single512:
		snormBackwardRowsAVX512(rows, cols, (*float32)(pdy), (*float32)(px), (*float32)(pgamma), (*float32)(pmean), (*float32)(prstd), (*float32)(pdx), float32(inverse))
	case single2:
		snormBackwardRowsAVX2(rows, cols, (*float32)(pdy), (*float32)(px), (*float32)(pgamma), (*float32)(pmean), (*float32)(prstd), (*float32)(pdx), float32(inverse))
	case double512:
		dnormBackwardRowsAVX512(rows, cols, (*float64)(pdy), (*float64)(px), (*float64)(pgamma), (*float64)(pmean), (*float64)(prstd), (*float64)(pdx), float64(inverse))
	default:
		dnormBackwardRowsAVX2(rows, cols, (*float64)(pdy), (*float64)(px), (*float64)(pgamma), (*float64)(pmean), (*float64)(prstd), (*float64)(pdx), float64(inverse))
	}
}

// normColumns adds what rows have for dgamma and dbeta to those.
func normColumns[F Float](p path, rows, cols int, dgamma, dbeta, dy, x, mean, rstd []F) {
	if p == pathGo || rows < 1 || cols < 1 {
		normColumnsPlain(rows, cols, dgamma, dbeta, dy, x, mean, rstd)
		return
	}
	inside(rows*cols, len(dy), len(x))
	inside(rows, len(mean), len(rstd))
	inside(cols, len(dgamma), len(dbeta))
	pdy, px, pmean, prstd := first(dy), first(x), first(mean), first(rstd)
	pdgamma, pdbeta := first(dgamma), first(dbeta)
	switch instructions[F](p) {
	case single512:
		snormColumnsAVX512(rows, cols, cols, (*float32)(pdy), (*float32)(px), (*float32)(pmean), (*float32)(prstd), (*float32)(pdgamma), (*float32)(pdbeta))
	case single2:
		snormColumnsAVX2(rows, cols, cols, (*float32)(pdy), (*float32)(px), (*float32)(pmean), (*float32)(prstd), (*float32)(pdgamma), (*float32)(pdbeta))
	case double512:
		dnormColumnsAVX512(rows, cols, cols, (*float64)(pdy), (*float64)(px), (*float64)(pmean), (*float64)(prstd), (*float64)(pdgamma), (*float64)(pdbeta))
	default:
		dnormColumnsAVX2(rows, cols, cols, (*float64)(pdy), (*float64)(px), (*float64)(pmean), (*float64)(prstd), (*float64)(pdgamma), (*float64)(pdbeta))
	}
}

// addRows sets z ← x + y, where y is one row.
func addRows[F Float](p path, rows, cols int, z, x, y []F) {
	if p == pathGo || rows < 1 || cols < 1 {
		addRowsPlain(rows, cols, z, x, y)
		return
	}
	inside(rows*cols, len(z), len(x))
	inside(cols, len(y))
	pz, px, py := first(z), first(x), first(y)
	switch instructions[F](p) {
	case single512:
		saddRowsAVX512(rows, cols, (*float32)(px), (*float32)(py), (*float32)(pz))
	case single2:
		saddRowsAVX2(rows, cols, (*float32)(px), (*float32)(py), (*float32)(pz))
	case double512:
		daddRowsAVX512(rows, cols, (*float64)(px), (*float64)(py), (*float64)(pz))
	default:
		daddRowsAVX2(rows, cols, (*float64)(px), (*float64)(py), (*float64)(pz))
	}
}

// sumRows adds n columns of the rows to y.
func sumRows[F Float](p path, rows, n, ld int, y, x []F) {
	if p == pathGo || rows < 1 || n < 1 {
		sumRowsPlain(rows, n, ld, y, x)
		return
	}
	inside((rows-1)*ld+n, len(x))
	inside(n, len(y))
	py, px := first(y), first(x)
	switch instructions[F](p) {
	case single512:
		ssumRowsAVX512(rows, n, ld, (*float32)(px), (*float32)(py))
	case single2:
		ssumRowsAVX2(rows, n, ld, (*float32)(px), (*float32)(py))
	case double512:
		dsumRowsAVX512(rows, n, ld, (*float64)(px), (*float64)(py))
	default:
		dsumRowsAVX2(rows, n, ld, (*float64)(px), (*float64)(py))
	}
}
