package jinja

import (
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
)

// Patterns of the texts that Python's float and int accept.
var (
	pythonFloat = regexp.MustCompile(`(?i)^[-+]?(((\d+_)*\d+\.?|((\d+_)*\d+)?\.(\d+_)*\d+)(e[-+]?(\d+_)*\d+)?|` +
		`inf(inity)?|nan)$`)
	pythonInt = regexp.MustCompile(`^[-+]?(\d+_)*\d+$`)
)

// toFloat is the filter float: the number of a text, or of a number.
func toFloat(r *run, x any, g given) any {
	f, ok := r.parseFloat(x)
	if !ok {
		return g.at(0, 0.0)
	}
	return f
}

func (r *run) parseFloat(x any) (float64, bool) {
	if isNumber(x) {
		return floatOf(x), true
	}
	r.noUndefined(x)
	text, ok := textOf(x)
	r.spend(len(text)) // in addition to the steps already paid: parsing digits takes time
	if text = strings.TrimFunc(text, isSpace); !ok || !pythonFloat.MatchString(text) {
		return 0, false
	}
	f, _ := strconv.ParseFloat(strings.ReplaceAll(text, "_", ""), 64) // a float out of range is infinite
	return f, true
}

// toInteger is the filter int.
func toInteger(r *run, x any, g given) any {
	if n, ok := integerIn(x); ok {
		return integerOf(n)
	}
	text, ok := textOf(x)
	r.spend(len(text))
	if text = strings.TrimFunc(text, isSpace); ok && pythonInt.MatchString(text) && len(text) <= mostDigits {
		return parseInteger(strings.ReplaceAll(text, "_", ""), 10)
	}
	f, ok := r.parseFloat(x)
	if !ok || math.IsInf(f, 0) || math.IsNaN(f) {
		return g.at(0, 0)
	}
	n, _ := big.NewFloat(f).Int(nil)
	return integerOf(n)
}

// noUndefined returns an error for an undefined value.
func (r *run) noUndefined(x any) {
	if u, ok := x.(undefined); ok {
		fail("got nothing defined: %s, want a value", u.name)
	}
}

// absolute is the filter abs.
func absolute(r *run, x any, g given) any {
	if f, ok := x.(float64); ok {
		return math.Abs(f)
	}
	n, ok := integerIn(x)
	if !ok {
		fail("%s: got %s, want a number", g.of, typeName(x))
	}
	return integerOf(new(big.Int).Abs(n))
}

// rounded is the filter round.
func rounded(r *run, x any, g given) any {
	precision, how := argumentOf(g, 0, 0), argumentOf(g, 1, "common")
	if !isNumber(x) || precision < -300 || precision > 300 {
		fail("%s: got %s to %d digits, want a number", g.of, typeName(x), precision)
	}
	scale := math.Pow(10, float64(precision))
	switch how {
	case "ceil":
		return math.Ceil(floatOf(x)*scale) / scale
	case "floor":
		return math.Floor(floatOf(x)*scale) / scale
	}
	n, whole := integerIn(x)
	if whole && precision >= 0 {
		return integerOf(n)
	}
	f := floatOf(x)
	if precision >= 0 {
		f, _ = strconv.ParseFloat(strconv.FormatFloat(f, 'f', precision, 64), 64)
	} else {
		f = math.RoundToEven(f*scale) / scale
	}
	if whole {
		return integerOf(big.NewInt(int64(f)))
	}
	return f
}
