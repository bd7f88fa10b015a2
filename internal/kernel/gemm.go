package kernel

// Transpose is whether a matrix is used as stored or transposed.
type Transpose bool

const (
	NoTrans Transpose = false
	Trans   Transpose = true
)

// Batch counts the matrices of a batch on three nested levels, outermost first; a level that is not needed
// is 1. Attention uses {B, K, H/K}: sequences, key/value heads, query heads that share one of them.
type Batch [3]int

// Strides are the steps, in elements, from one matrix to the next on each level of a Batch. A stride of 0
// shares one matrix among the whole level.
type Strides [3]int

// Gemm computes C ← α·op(A)·op(B) + β·C for row-major matrices, where op(A) is (m,k), op(B) is (k,n), C is
// (m,n), and op transposes the stored matrix or leaves it. lda, ldb and ldc are the distances between the
// rows of the stored matrices. With β = 0, C is not read and may hold anything; with α = 0 or k = 0, A and
// B are not read. C must not overlap A or B. The bits of the result do not depend on GOMAXPROCS.
func Gemm[F Float](transA, transB Transpose, m, n, k int, alpha F, a []F, lda int, b []F, ldb int,
	beta F, c []F, ldc int) {
	none := Strides{}
	GemmBatch(Batch{1, 1, 1}, transA, transB, m, n, k, alpha, a, lda, none, b, ldb, none, beta, c, ldc, none)
}

// GemmStrided computes Gemm for a batch of matrices: matrix i of A starts at a[i*strideA], and so on.
// A stride of 0 shares one matrix among the batch; C cannot be shared.
func GemmStrided[F Float](batch int, transA, transB Transpose, m, n, k int, alpha F, a []F, lda, strideA int,
	b []F, ldb, strideB int, beta F, c []F, ldc, strideC int) {
	GemmBatch(Batch{1, 1, batch}, transA, transB, m, n, k, alpha, a, lda, Strides{0, 0, strideA},
		b, ldb, Strides{0, 0, strideB}, beta, c, ldc, Strides{0, 0, strideC})
}

// GemmBatch computes Gemm for a batch nested on up to three levels: matrix (i,j,l) of A starts at
// a[i*stepA[0]+j*stepA[1]+l*stepA[2]], and so on. Heads that lie side by side in a row, as in (B,T,H,D)
// memory, are multiplied in place with lda = H·D and a step of D from head to head. A step of 0 shares one
// matrix among its level; the matrices of C must not share any element.
func GemmBatch[F Float](batch Batch, transA, transB Transpose, m, n, k int, alpha F, a []F, lda int, stepA Strides,
	b []F, ldb int, stepB Strides, beta F, c []F, ldc int, stepC Strides) {
	if m < 0 || n < 0 || k < 0 || min(batch[0], batch[1], batch[2]) < 0 {
		panic("kernel: gemm: negative dimension")
	}
	if min(batch[0], batch[1], batch[2], m, n) == 0 {
		return
	}
	if alpha == 0 {
		k = 0
	}
	if k > 0 {
		checkMatrix("a", transA, m, k, len(a), lda, batch, stepA)
		checkMatrix("b", transB, k, n, len(b), ldb, batch, stepB)
	}
	checkMatrix("c", NoTrans, m, n, len(c), ldc, batch, stepC)
	for l, count := range batch {
		if count > 1 && stepC[l] == 0 {
			panic("kernel: gemm: c: matrices of the batch share memory")
		}
	}
	g := product[F]{
		m: m, n: n, k: k, alpha: alpha, beta: beta,
		a: view(transA, a, lda), b: view(transB, b, ldb), c: view(NoTrans, c, ldc),
	}
	if g.prepare() {
		stepA, stepB = stepB, stepA
	}
	runBatch(chosenPath, batch, &g, stepA, stepB, stepC)
}

// checkMatrix makes sure that every matrix of the batch lies inside its slice, without overflow.
func checkMatrix(name string, trans Transpose, rows, cols, length, ld int, batch Batch, step Strides) {
	if trans {
		rows, cols = cols, rows
	}
	if ld < cols {
		panic("kernel: gemm: " + name + ": leading dimension is shorter than a row")
	}
	room := length - cols
	for l, steps := range [...]int{rows - 1, batch[0] - 1, batch[1] - 1, batch[2] - 1} {
		if steps == 0 {
			continue
		}
		size := ld
		if l > 0 {
			size = step[l-1]
		}
		if size < 0 {
			panic("kernel: gemm: " + name + ": negative stride")
		}
		if size > 0 && steps > room/size {
			room = -1
			break
		}
		room -= steps * size
	}
	if room < 0 {
		panic("kernel: gemm: " + name + ": slice is too short for the matrices")
	}
}
