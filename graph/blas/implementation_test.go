package blas

import (
	"testing"

	"gonum.org/v1/gonum/blas/testblas"
)

// everySize makes the kernels compute the small sizes that are otherwise left to gonum.
func everySize(t testing.TB) {
	before := least
	least = work{}
	t.Cleanup(func() { least = before })
}

// gonumTests are the tests of matrix products that gonum publishes; they test float64.
var gonumTests = map[string]func(t *testing.T, i Implementation){
	"Dgemm":  func(t *testing.T, i Implementation) { testblas.TestDgemm(t, i) },
	"Dsymm":  func(t *testing.T, i Implementation) { testblas.DsymmTest(t, i) },
	"Dsyr2k": func(t *testing.T, i Implementation) { testblas.Dsyr2kTest(t, i) },
	"Dsyrk":  func(t *testing.T, i Implementation) { testblas.DsyrkTest(t, i) },
	"Dtrmm":  func(t *testing.T, i Implementation) { testblas.DtrmmTest(t, i) },
	"Dtrsm":  func(t *testing.T, i Implementation) { testblas.DtrsmTest(t, i) },
}

// gonum's suite passes for an Implementation as users get it, and with the kernels computing every size.
func TestGonumsSuite(t *testing.T) {
	for name, test := range gonumTests {
		t.Run(name, func(t *testing.T) { test(t, Implementation{}) })
		t.Run(name+"/every size", func(t *testing.T) {
			everySize(t)
			test(t, Implementation{})
		})
	}
}
