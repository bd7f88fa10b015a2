package jinja

import (
	"cmp"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// mostDigits limits the size of integers: Python does not print longer ones.
const mostDigits = 4300

// mostBits is the size in bits of an integer of mostDigits digits.
const mostBits = 14285

// integerOf returns an integer as int, if it is one.
func integerOf(n *big.Int) any {
	if n.IsInt64() {
		return int(n.Int64())
	}
	if n.BitLen() > mostBits {
		fail("got an integer of more than %d digits, want fewer", mostDigits)
	}
	return n
}

// integerIn returns the integer in a value, 0 or 1 for a boolean, and reports whether there is one.
func integerIn(x any) (*big.Int, bool) {
	if n, ok := x.(*big.Int); ok {
		return n, true
	}
	if n, ok := smallInteger(x); ok {
		return big.NewInt(int64(n)), true
	}
	return nil, false
}

// smallInteger returns the integer in a value if it fits an int, 0 or 1 for a boolean, and reports whether there is
// one.
func smallInteger(x any) (int, bool) {
	switch x := x.(type) {
	case int:
		return x, true
	case bool:
		if x {
			return 1, true
		}
		return 0, true
	}
	return 0, false
}

func isFloat(x any) bool { _, ok := x.(float64); return ok }

// isNumber reports whether a value is a number; to Python booleans are.
func isNumber(x any) bool {
	switch x.(type) {
	case bool, int, *big.Int, float64:
		return true
	}
	return false
}

// floatOf returns a number as a float.
func floatOf(x any) float64 {
	if f, ok := x.(float64); ok {
		return f
	}
	n, _ := integerIn(x)
	f, _ := new(big.Float).SetInt(n).Float64()
	if math.IsInf(f, 0) {
		fail("got an integer that is too large for a float, want a smaller one")
	}
	return f
}

// orderOfNumbers compares numbers: it returns −1, 0 or 1, and reports whether they can be ordered. NaN cannot.
func orderOfNumbers(x, y any) (order int, ok bool) {
	if n, ok := x.(int); ok {
		if m, ok := y.(int); ok {
			return cmp.Compare(n, m), true
		}
	}
	a, whole := integerIn(x)
	b, also := integerIn(y)
	switch {
	case whole && also:
		return a.Cmp(b), true
	case isNaN(x) || isNaN(y):
		return 0, false
	}
	exact := func(n any, i *big.Int) *big.Float {
		if f, ok := n.(float64); ok {
			return big.NewFloat(f)
		}
		return new(big.Float).SetInt(i)
	}
	return exact(x, a).Cmp(exact(y, b)), true
}

func isNaN(x any) bool { f, ok := x.(float64); return ok && math.IsNaN(f) }

// calculateNumbers returns the result of an operator on numbers.
func (r *run) calculateNumbers(operator string, x, y any) any {
	if n, ok := x.(int); ok {
		if m, ok := y.(int); ok && max(n, m) < 1<<31 && min(n, m) > -1<<31 {
			switch operator {
			case "+":
				return n + m
			case "-":
				return n - m
			case "*":
				return n * m
			}
		}
	}
	a, whole := integerIn(x)
	b, also := integerIn(y)
	if strings.ContainsAny(operator, "/%") && !truth(y) {
		fail("got a division by 0, want another number")
	}
	if !whole || !also || operator == "/" || operator == "**" && b.Sign() < 0 {
		if whole && also && operator == "/" && a.Sign() != 0 {
			f, _ := new(big.Rat).SetFrac(a, b).Float64()
			return f
		}
		return calculateFloats(operator, floatOf(x), floatOf(y))
	}
	z := new(big.Int)
	r.spendTimes(1+a.BitLen()/64, 1+b.BitLen()/64)
	switch operator {
	case "+":
		z.Add(a, b)
	case "-":
		z.Sub(a, b)
	case "*":
		z.Mul(a, b)
	case "**":
		if a.BitLen() > 1 && (!b.IsInt64() || b.Int64() > int64(mostBits/(a.BitLen()-1))) {
			fail("got an integer of more than %d digits, want fewer", mostDigits)
		}
		r.spendTimes(a.BitLen(), 2*int(b.Int64()))
		z.Exp(a, b, nil)
	default: // rounded down
		quotient, remainder := new(big.Int).QuoRem(a, b, new(big.Int))
		if remainder.Sign() != 0 && remainder.Sign() != b.Sign() {
			quotient.Sub(quotient, big.NewInt(1))
			remainder.Add(remainder, b)
		}
		if z = quotient; operator == "%" {
			z = remainder
		}
	}
	return integerOf(z)
}

func calculateFloats(operator string, a, b float64) float64 {
	switch operator {
	case "+":
		return a + b
	case "-":
		return a - b
	case "*":
		return a * b
	case "/":
		return a / b
	case "**":
		z := math.Pow(a, b)
		if a == 0 && b < 0 || math.IsInf(z, 0) && !math.IsInf(a, 0) && !math.IsInf(b, 0) || math.IsNaN(z) && a < 0 {
			fail("got %s ** %s, want another power", floatText(a), floatText(b))
		}
		return z
	}
	remainder := math.Mod(a, b)
	quotient := (a - remainder) / b
	if remainder == 0 {
		remainder = math.Copysign(0, b)
	} else if (b < 0) != (remainder < 0) {
		remainder += b
		quotient--
	}
	if operator == "%" {
		return remainder
	}
	if quotient == 0 {
		return math.Copysign(0, a/b)
	}
	return math.RoundToEven(quotient)
}

// floatText returns a float as Python prints it.
func floatText(x float64) string {
	switch {
	case math.IsNaN(x):
		return "nan"
	case math.IsInf(x, 0):
		return strings.ToLower(strings.TrimPrefix(strconv.FormatFloat(x, 'f', -1, 64), "+"))
	}
	text := strconv.FormatFloat(x, 'e', -1, 64)
	exponent, _ := strconv.Atoi(text[strings.IndexByte(text, 'e')+1:])
	if exponent < -4 || exponent >= 16 {
		return text
	}
	text = strconv.FormatFloat(x, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}

// parseInteger parses the digits of an integer in a base; base 0 means the base of their prefix.
func parseInteger(text string, base int) any {
	if len(text) > mostDigits {
		fail("got an integer of %d digits, want at most %d", len(text), mostDigits)
	}
	n, ok := new(big.Int).SetString(text, base)
	if !ok {
		fail("got %q, want an integer", text)
	}
	return integerOf(n)
}
