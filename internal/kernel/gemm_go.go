package kernel

// gemmGo is one matrix product in plain Go, row by row. k = 0 stands for C ← β·C.
func gemmGo[F Float](transA, transB Transpose, m, n, k int, alpha F, a []F, lda int, b []F, ldb int, beta F, c []F, ldc int) {
	stepK, stepM := 1, lda
	if transA {
		stepK, stepM = lda, 1
	}
	for i := range m {
		row := c[i*ldc:][:n]
		scale(row, beta)
		if transB {
			for j := range row {
				var s F
				bj := b[j*ldb:][:k]
				for p, v := range bj {
					s += a[i*stepM+p*stepK] * v
				}
				row[j] += alpha * s
			}
			continue
		}
		for p := range k {
			v := alpha * a[i*stepM+p*stepK]
			bp := b[p*ldb:][:len(row)]
			for j := range row {
				row[j] += v * bp[j]
			}
		}
	}
}

func scale[F Float](c []F, beta F) {
	switch beta {
	case 0:
		clear(c)
	case 1:
	default:
		for i := range c {
			c[i] *= beta
		}
	}
}
