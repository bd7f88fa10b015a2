package blas

import (
	"testing"

	"gonum.org/v1/gonum/blas/testblas"
)

// everySize makes the kernels do what is otherwise left to gonum for being small.
func everySize(t testing.TB) {
	before := least
	least = work{}
	t.Cleanup(func() { least = before })
}

// gonumTests is what gonum publishes to test a BLAS, which is of float64.
var gonumTests = map[string]func(t *testing.T, i Implementation){
	"Dasum":  func(t *testing.T, i Implementation) { testblas.DasumTest(t, i) },
	"Daxpy":  func(t *testing.T, i Implementation) { testblas.DaxpyTest(t, i) },
	"Dcopy":  func(t *testing.T, i Implementation) { testblas.DcopyTest(t, i) },
	"Ddot":   func(t *testing.T, i Implementation) { testblas.DdotTest(t, i) },
	"Dgbmv":  func(t *testing.T, i Implementation) { testblas.DgbmvTest(t, i) },
	"Dgemm":  func(t *testing.T, i Implementation) { testblas.TestDgemm(t, i) },
	"Dgemv":  func(t *testing.T, i Implementation) { testblas.DgemvTest(t, i) },
	"Dger":   func(t *testing.T, i Implementation) { testblas.DgerTest(t, i) },
	"Dnrm2":  func(t *testing.T, i Implementation) { testblas.Dnrm2Test(t, i) },
	"Drot":   func(t *testing.T, i Implementation) { testblas.DrotTest(t, i) },
	"Drotg":  func(t *testing.T, i Implementation) { testblas.DrotgTest(t, i, false) },
	"Drotm":  func(t *testing.T, i Implementation) { testblas.DrotmTest(t, i) },
	"Drotmg": func(t *testing.T, i Implementation) { testblas.DrotmgTest(t, i) },
	"Dsbmv":  func(t *testing.T, i Implementation) { testblas.DsbmvTest(t, i) },
	"Dscal":  func(t *testing.T, i Implementation) { testblas.DscalTest(t, i) },
	"Dspmv":  func(t *testing.T, i Implementation) { testblas.DspmvTest(t, i) },
	"Dspr":   func(t *testing.T, i Implementation) { testblas.DsprTest(t, i) },
	"Dspr2":  func(t *testing.T, i Implementation) { testblas.Dspr2Test(t, i) },
	"Dswap":  func(t *testing.T, i Implementation) { testblas.DswapTest(t, i) },
	"Dsymm":  func(t *testing.T, i Implementation) { testblas.DsymmTest(t, i) },
	"Dsymv":  func(t *testing.T, i Implementation) { testblas.DsymvTest(t, i) },
	"Dsyr":   func(t *testing.T, i Implementation) { testblas.DsyrTest(t, i) },
	"Dsyr2":  func(t *testing.T, i Implementation) { testblas.Dsyr2Test(t, i) },
	"Dsyr2k": func(t *testing.T, i Implementation) { testblas.Dsyr2kTest(t, i) },
	"Dsyrk":  func(t *testing.T, i Implementation) { testblas.DsyrkTest(t, i) },
	"Dtbmv":  func(t *testing.T, i Implementation) { testblas.DtbmvTest(t, i) },
	"Dtbsv":  func(t *testing.T, i Implementation) { testblas.DtbsvTest(t, i) },
	"Dtpmv":  func(t *testing.T, i Implementation) { testblas.DtpmvTest(t, i) },
	"Dtpsv":  func(t *testing.T, i Implementation) { testblas.DtpsvTest(t, i) },
	"Dtrmm":  func(t *testing.T, i Implementation) { testblas.DtrmmTest(t, i) },
	"Dtrmv":  func(t *testing.T, i Implementation) { testblas.DtrmvTest(t, i) },
	"Dtrsm":  func(t *testing.T, i Implementation) { testblas.DtrsmTest(t, i) },
	"Dtrsv":  func(t *testing.T, i Implementation) { testblas.DtrsvTest(t, i) },
	"Dtxmv":  func(t *testing.T, i Implementation) { testblas.DtxmvTest(t, i) },
	"Idamax": func(t *testing.T, i Implementation) { testblas.IdamaxTest(t, i) },
}

// gonum's suite passes as a user meets the package, and with the kernels doing every size.
func TestGonumsSuite(t *testing.T) {
	for name, test := range gonumTests {
		t.Run(name, func(t *testing.T) { test(t, Implementation{}) })
		t.Run(name+"/every size", func(t *testing.T) {
			everySize(t)
			test(t, Implementation{})
		})
	}
}
