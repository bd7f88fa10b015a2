//go:build !amd64 || noasm

package kernel

func expRun[F Float](_ path, y, x []F) { expPlain(y, x) }

func tanhRun[F Float](_ path, y, x []F) { tanhPlain(y, x) }

func tanhBackwardRun[F Float](_ path, dx, y, dy []F) { tanhBackwardPlain(dx, y, dy) }

func geluTanhRun[F Float](_ path, y, x []F) { geluTanhPlain(y, x) }

func geluRun[F Float](_ path, y, x []F) { geluPlain(y, x) }

func geluBackwardRun[F Float](_ path, dx, x, dy []F) { geluBackwardPlain(dx, x, dy) }

func geluTanhBackwardRun[F Float](_ path, dx, x, dy []F) { geluTanhBackwardPlain(dx, x, dy) }

func mulRun[F Float](_ path, z, x, y []F) { mulPlain(z, x, y) }

func scaleRun[F Float](_ path, y, x []F, c F) { scalePlain(y, x, c) }

func adamRun[F Float](_ path, value, grad, m, v []F, k *AdamConstants[F]) {
	adamPlain(value, grad, m, v, k)
}

func sgdRun[F Float](_ path, value, grad []F, rate, decay F) { sgdPlain(value, grad, rate, decay) }

func momentumRun[F Float](_ path, value, grad, buffer []F, rate, momentum, decay F) {
	momentumPlain(value, grad, buffer, rate, momentum, decay)
}

func sumSquaresRun[F Float](_ path, x []F) float64 { return sumSquaresPlain(x) }

func softmaxRows[F Float](_ path, rows, cols int, y, x []F, scale, empty F) {
	softmaxRowsPlain(rows, cols, y, x, scale, empty)
}

func sumExpRows[F Float](_ path, rows, cols int, x, top, sum []F) {
	sumExpRowsPlain(rows, cols, x, top, sum)
}

func softmaxBackwardRows[F Float](_ path, rows, cols int, dx, y, dy []F) {
	softmaxBackwardRowsPlain(rows, cols, dx, y, dy)
}

func normRows[F Float](_ path, rows, cols int, y, mean, rstd, x, gamma, beta []F, eps F) {
	normRowsPlain(rows, cols, y, mean, rstd, x, gamma, beta, eps)
}

func normBackwardRows[F Float](_ path, rows, cols int, dx, dy, x, gamma, mean, rstd []F) {
	normBackwardRowsPlain(rows, cols, dx, dy, x, gamma, mean, rstd)
}

func normColumns[F Float](_ path, rows, cols int, dgamma, dbeta, dy, x, mean, rstd []F) {
	normColumnsPlain(rows, cols, dgamma, dbeta, dy, x, mean, rstd)
}

func addRows[F Float](_ path, rows, cols int, z, x, y []F) { addRowsPlain(rows, cols, z, x, y) }

func sumRows[F Float](_ path, rows, n, ld int, y, x []F) { sumRowsPlain(rows, n, ld, y, x) }
