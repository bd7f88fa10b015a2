package kernel

// Transpose is whether a matrix is used as stored or transposed.
type Transpose bool

const (
	NoTrans Transpose = false
	Trans   Transpose = true
)

// Gemm computes C ← α·op(A)·op(B) + β·C for row-major matrices, where op(A) is (m,k), op(B) is (k,n), C is
// (m,n), and op transposes the stored matrix or leaves it. lda, ldb and ldc are the distances between the
// rows of the stored matrices. With β = 0, C is not read and may hold anything; with α = 0 or k = 0, A and
// B are not read. C must not overlap A or B. The bits of the result do not depend on GOMAXPROCS.
func Gemm[F Float](transA, transB Transpose, m, n, k int, alpha F, a []F, lda int, b []F, ldb int,
	beta F, c []F, ldc int) {
	GemmStrided(1, transA, transB, m, n, k, alpha, a, lda, 0, b, ldb, 0, beta, c, ldc, 0)
}

// GemmStrided computes Gemm for a batch of matrices: matrix i of A starts at a[i*strideA], and so on. Heads that lie
// side by side in a row, as in (T,H,D) memory, are multiplied in place with lda = H·D and a stride of D. A stride of 0
// shares one matrix among the batch; the matrices of C must not share any element.
func GemmStrided[F Float](batch int, transA, transB Transpose, m, n, k int, alpha F, a []F, lda, strideA int,
	b []F, ldb, strideB int, beta F, c []F, ldc, strideC int) {
	compiledFor[F]().gemmStrided(batch, transA, transB, m, n, k, alpha, a, lda, strideA, b, ldb, strideB,
		beta, c, ldc, strideC)
}

func (compiledHere[F]) gemmStrided(batch int, transA, transB Transpose, m, n, k int, alpha F, a []F, lda, strideA int,
	b []F, ldb, strideB int, beta F, c []F, ldc, strideC int) {
	if min(batch, m, n, k) < 0 {
		panic("kernel: gemm: negative dimension")
	}
	if min(batch, m, n) == 0 {
		return
	}
	if alpha == 0 {
		k = 0
	}
	checkProduct(batch, transA, transB, m, n, k, len(a), lda, strideA, len(b), ldb, strideB, len(c), ldc, strideC)
	g := product[F]{
		m: m, n: n, k: k, alpha: alpha, beta: beta,
		a: view(transA, a, lda), b: view(transB, b, ldb), c: view(NoTrans, c, ldc),
	}
	if g.prepare() {
		strideA, strideB = strideB, strideA
	}
	runBatch(chosenPath, batch, &g, strideA, strideB, strideC)
}

// gemmSymmetric is Gemm for a symmetric product, with a symmetric C if it is read: C (n,n) ← α·op(A)·op(B) + β·C. The
// bits are Gemm's. By tiles it computes the panels down to the diagonal and copies the rest.
func gemmSymmetric[F Float](transA, transB Transpose, n, k int, alpha F, a []F, lda int, b []F, ldb int, beta F,
	c []F, ldc int) {
	compiledFor[F]().gemmSymmetric(transA, transB, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
}

func (compiledHere[F]) gemmSymmetric(transA, transB Transpose, n, k int, alpha F, a []F, lda int, b []F, ldb int,
	beta F, c []F, ldc int) {
	checkProduct(1, transA, transB, n, n, k, len(a), lda, 0, len(b), ldb, 0, len(c), ldc, 0)
	g := product[F]{
		m: n, n: n, k: k, alpha: alpha, beta: beta,
		a: view(transA, a, lda), b: view(transB, b, ldb), c: view(NoTrans, c, ldc),
	}
	g.prepare()
	g.upper = g.how == byTiles
	runBatch(chosenPath, 1, &g, 0, 0, 0)
	if !g.upper {
		return
	}
	_, lanes := tileShape[F](chosenPath)
	for j, width := 0, 2*lanes; j+width < n; j += width {
		end := j + width
		transposePanel(chosenPath, n-end, width, c[j*ldc+end:], ldc, c[end*ldc+j:], ldc)
	}
}

// checkProduct makes sure that the matrices of a batch lie inside slices of the given lengths.
func checkProduct(batch int, transA, transB Transpose, m, n, k, a, lda, strideA, b, ldb, strideB, c, ldc, strideC int) {
	if k > 0 {
		checkMatrix("gemm: a", transA, m, k, a, lda, batch, strideA)
		checkMatrix("gemm: b", transB, k, n, b, ldb, batch, strideB)
	}
	checkMatrix("gemm: c", NoTrans, m, n, c, ldc, batch, strideC)
	if batch > 1 && strideC == 0 {
		panic("kernel: gemm: c: matrices of the batch share memory")
	}
}

// checkMatrix makes sure that every matrix of the batch lies inside its slice.
func checkMatrix(name string, trans Transpose, rows, cols, length, ld, batch, stride int) {
	if trans {
		rows, cols = cols, rows
	}
	if ld < cols {
		panic("kernel: " + name + ": leading dimension is shorter than a row")
	}
	checkSteps(name, length, cols, []int{batch, rows}, []int{stride, ld})
}
