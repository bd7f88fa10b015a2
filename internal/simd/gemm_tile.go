package simd

// weighGo adds α·x[i] times row i of A to y, for every i.
func weighGo[F Float](alpha F, a []F, aRow int, x, y []F) {
	for i, v := range x {
		w := alpha * v
		row := a[i*aRow:][:len(y)]
		for j, v := range row {
			y[j] += w * v
		}
	}
}

// addOuterGo adds α·x·yᵀ to the (rows,n) matrix A, whose rows have the stride ld.
func addOuterGo[F Float](rows, n, ld int, alpha F, a, x, y []F) {
	for i := range rows {
		w := alpha * x[i]
		row := a[i*ld:][:n]
		for j, v := range y[:n] {
			row[j] += w * v
		}
	}
}

// The tile of plain Go: eight sums and the operands of one step fit into the registers of most processors.
const (
	goRows    = 2
	goColumns = 4
)

// tileGo computes C ← α·A·B + β·C for m rows and n ≤ goColumns columns. A is read through two strides, and
// every group of goRows rows of A begins aPanel after the one before. As in all tiles, a sum adds its
// products in the order of k.
func tileGo[F Float](m, n, k int, alpha F, a []F, aRow, aCol, aPanel int, b []F, bRow int, beta F, c []F, cRow int) {
	for i := 0; i < m; i += goRows {
		ai, ci := a[i/goRows*aPanel:], c[i*cRow:]
		if n == goColumns && m-i >= goRows {
			tile2x4(k, alpha, ai, ai[aRow:], aCol, b, bRow, beta, ci, ci[cRow:])
			continue
		}
		for r := range min(goRows, m-i) {
			rowGo(k, alpha, ai[r*aRow:], aCol, b, bRow, beta, ci[r*cRow:][:n])
		}
	}
}

// tile2x4 computes two rows of four columns.
func tile2x4[F Float](k int, alpha F, a0, a1 []F, aCol int, b []F, bRow int, beta F, c0, c1 []F) {
	var s00, s01, s02, s03, s10, s11, s12, s13 F
	for p, ia, ib := 0, 0, 0; p < k; p, ia, ib = p+1, ia+aCol, ib+bRow {
		bp := b[ib:][:goColumns]
		x, y := a0[ia], a1[ia]
		s00 += x * bp[0]
		s01 += x * bp[1]
		s02 += x * bp[2]
		s03 += x * bp[3]
		s10 += y * bp[0]
		s11 += y * bp[1]
		s12 += y * bp[2]
		s13 += y * bp[3]
	}
	updateGo(alpha, [goColumns]F{s00, s01, s02, s03}, beta, c0[:goColumns])
	updateGo(alpha, [goColumns]F{s10, s11, s12, s13}, beta, c1[:goColumns])
}

// rowGo computes the at most goColumns columns of one row.
func rowGo[F Float](k int, alpha F, a []F, aCol int, b []F, bRow int, beta F, c []F) {
	var s [goColumns]F
	for p := range k {
		x := a[p*aCol]
		for j, v := range b[p*bRow:][:len(c)] {
			s[j] += x * v
		}
	}
	updateGo(alpha, s, beta, c)
}

// updateGo sets c ← α·s + β·c without reading c when β = 0.
func updateGo[F Float](alpha F, s [goColumns]F, beta F, c []F) {
	if beta == 0 {
		for j := range c {
			c[j] = alpha * s[j]
		}
		return
	}
	for j := range c {
		c[j] = alpha*s[j] + beta*c[j]
	}
}

// dotGo computes y[i] ← Σ a[i·aRow+p]·x[p] for every i of y and p of x, in four interleaved sums.
func dotGo[F Float](a []F, aRow int, x, y []F) {
	for i := range y {
		row := a[i*aRow:][:len(x)]
		var s0, s1, s2, s3 F
		p := 0
		for ; p+4 <= len(row); p += 4 {
			r, v := row[p:p+4:p+4], x[p:p+4:p+4]
			s0 += r[0] * v[0]
			s1 += r[1] * v[1]
			s2 += r[2] * v[2]
			s3 += r[3] * v[3]
		}
		for ; p < len(row); p++ {
			s0 += row[p] * x[p]
		}
		y[i] = (s0 + s1) + (s2 + s3)
	}
}

// rowDotsGo computes y[i] ← Σ a[i·aRow+q]·x[i·xRow+q] for every i of y and q < k.
func rowDotsGo[F Float](k int, a []F, aRow int, x []F, xRow int, y []F) {
	for i := range y {
		dotGo(a[i*aRow:], 0, x[i*xRow:][:k], y[i:i+1])
	}
}

// copyPanelGo sets dst[p·dstRow+j] ← src[p·srcRow+j] for p < k and j < n.
func copyPanelGo[F Float](k, n int, src []F, srcRow int, dst []F, dstRow int) {
	for p := range k {
		copy(dst[p*dstRow:][:n], src[p*srcRow:])
	}
}

// prefetchGo leaves prefetching to the processor.
func prefetchGo[F Float](k, n int, b []F, bRow int) {}

// transposePanelGo sets dst[p·dstRow+j] ← src[j·srcRow+p] for p < k and j < n.
func transposePanelGo[F Float](k, n int, src []F, srcRow int, dst []F, dstRow int) {
	for j := range n {
		for p, v := range src[j*srcRow:][:k] {
			dst[p*dstRow+j] = v
		}
	}
}
