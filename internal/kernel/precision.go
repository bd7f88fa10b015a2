package kernel

// Precision is how the operands of products of float32 are read. Sums, results and everything else stay float32.
type Precision uint8

const (
	Full     Precision = iota // of the operands' own type
	BFloat16                  // rounded to bfloat16, the upper half of a float32
)

// String returns "full" or "bf16".
func (p Precision) String() string {
	if p == BFloat16 {
		return "bf16"
	}
	return "full"
}

// GemmOf is Gemm in a precision, which for float64 is Full.
func GemmOf[F Float](p Precision, transA, transB Transpose, m, n, k int, alpha F, a []F, lda int, b []F, ldb int,
	beta F, c []F, ldc int) {
	GemmStridedOf(p, 1, transA, transB, m, n, k, alpha, a, lda, 0, b, ldb, 0, beta, c, ldc, 0)
}

// GemmStridedOf is GemmStrided in a precision, which for float64 is Full.
func GemmStridedOf[F Float](p Precision, batch int, transA, transB Transpose, m, n, k int, alpha F, a []F,
	lda, strideA int, b []F, ldb, strideB int, beta F, c []F, ldc, strideC int) {
	if p == BFloat16 {
		GemmStridedBF16(batch, transA, transB, m, n, k, float32(alpha), singles(a), lda, strideA,
			singles(b), ldb, strideB, float32(beta), singles(c), ldc, strideC)
		return
	}
	GemmStrided(batch, transA, transB, m, n, k, alpha, a, lda, strideA, b, ldb, strideB, beta, c, ldc, strideC)
}
