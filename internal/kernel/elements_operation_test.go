package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"attention/internal/simd"
	"attention/internal/testenv"

	"github.com/stretchr/testify/require"
)

// operationsOf are the operations, spelled out.
func operationsOf[F Float]() map[Operation]func(x, y F) F {
	return map[Operation]func(x, y F) F{
		Plus:  func(x, y F) F { return x + y },
		Minus: func(x, y F) F { return x - y },
		Times: func(x, y F) F { return x * y },
		Over:  func(x, y F) F { return x / y },
		Lesser: func(x, y F) F {
			if y < x || y != y {
				return y
			}
			return x
		},
		Greater: func(x, y F) F {
			if y > x || y != y {
				return y
			}
			return x
		},
		Less:        func(x, y F) F { return simd.OneWhere[F](x < y) },
		LessOrEqual: func(x, y F) F { return simd.OneWhere[F](x <= y) },
		More:        func(x, y F) F { return simd.OneWhere[F](x > y) },
		MoreOrEqual: func(x, y F) F { return simd.OneWhere[F](x >= y) },
		Equal:       func(x, y F) F { return simd.OneWhere[F](x == y) },
		Differs:     func(x, y F) F { return simd.OneWhere[F](x != y) },
	}
}

// edges are numbers at which functions behave differently, each with its negative.
func edges[F Float]() []F {
	tiny, huge := F(math.SmallestNonzeroFloat32), F(math.MaxFloat32)
	if simd.SizeOf[F]() == 8 {
		tiny, huge = F(math.Float64frombits(1)), F(math.Float64frombits(0x7fefffffffffffff))
	}
	x := []F{
		0, tiny, 3 * tiny, 1e-38, 0.25, 0.49999997, 0.5, F(math.Sqrt2 / 2), 0.75, 1, 1.5, math.Sqrt2, 2, 2.5, 1 << 23,
		1<<23 + 1, huge, F(math.Inf(1)), F(math.NaN()),
	}
	for _, v := range slices.Clone(x) {
		x = append(x, -v)
	}
	return x
}

// requireSame requires the same bits; all NaNs count as equal.
func requireSame[F Float](t *testing.T, want, got F, what ...any) {
	same := math.Float64bits(float64(want)) == math.Float64bits(float64(got))
	if !same && (want == want || got == got) {
		t.Helper()
		require.Equal(t, math.Float64bits(float64(want)), math.Float64bits(float64(got)), what...)
	}
}

// pairs returns all pairs of numbers.
func pairs[F Float](numbers []F) (x, y []F) {
	for _, v := range numbers {
		for _, w := range numbers {
			x, y = append(x, v), append(y, w)
		}
	}
	return x, y
}

func testArithmetic[F Float](t *testing.T) {
	r := rand.New(rand.NewPCG(4, 1))
	for op, f := range operationsOf[F]() {
		for _, p := range paths() {
			t.Run(fmt.Sprint(op, p), func(t *testing.T) {
				onPath(t, p)
				for _, c := range broadcasts {
					b, shape, ok := NewBroadcast(c.x, c.y)
					require.True(t, ok)
					require.Equal(t, c.want, shape)
					x, y := normals[F](r, countOf(c.x)), normals[F](r, countOf(c.y))
					z := nans[F](countOf(shape))
					Arithmetic(op, z, x, y, b)
					for i, v := range z {
						requireSame(t, f(x[operandAt(c.x, shape, i)], y[operandAt(c.y, shape, i)]), v, "%v %v", c.x, c.y)
					}
				}
				x, y := pairs(edges[F]())
				b, _, _ := NewBroadcast([]int{len(x)}, []int{len(x)})
				z := nans[F](len(x))
				Arithmetic(op, z, x, y, b)
				for i, v := range z {
					requireSame(t, f(x[i], y[i]), v, "%v and %v", x[i], y[i])
				}
			})
		}
	}
}

func TestArithmetic(t *testing.T) {
	t.Run("float32", testArithmetic[float32])
	t.Run("float64", testArithmetic[float64])
}

func testCompare[F Float](t *testing.T) {
	r := rand.New(rand.NewPCG(4, 2))
	for op := Less; op <= Differs; op++ {
		f := operationsOf[F]()[op]
		for _, c := range broadcasts {
			b, shape, _ := NewBroadcast(c.x, c.y)
			x, y := normals[F](r, countOf(c.x)), normals[F](r, countOf(c.y))
			x[0], y[0] = y[0], x[0]
			z := make([]bool, countOf(shape))
			Compare(op, z, x, y, b)
			for i, got := range z {
				want := f(x[operandAt(c.x, shape, i)], y[operandAt(c.y, shape, i)])
				if got != (want == 1) {
					require.Failf(t, "differs", "operation %d, %v %v, element %d", op, c.x, c.y, i)
				}
			}
		}
	}
}

func TestCompare(t *testing.T) {
	t.Run("float32", testCompare[float32])
	t.Run("float64", testCompare[float64])
}

func TestArithmeticAllocatesNothing(t *testing.T) {
	for _, c := range broadcasts {
		b, shape, _ := NewBroadcast(c.x, c.y)
		x, y, z := make([]float32, countOf(c.x)), make([]float32, countOf(c.y)), make([]float32, countOf(shape))
		holds := make([]bool, len(z))
		testenv.NoAllocations(t, fmt.Sprint(c), func() { Arithmetic(Plus, z, x, y, b) })
		testenv.NoAllocations(t, fmt.Sprint(c), func() { Compare(Less, holds, x, y, b) })
	}
}
