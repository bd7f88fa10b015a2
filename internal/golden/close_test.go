package golden

import (
	"fmt"
	"math"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// recorder replaces a test and records its messages. The methods it lacks would panic, so the code under test cannot
// use them unseen.
type recorder struct {
	testing.TB
	messages []string
	stopped  bool
}

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.messages = append(r.messages, fmt.Sprintf(format, args...))
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	r.stopped = true
	runtime.Goexit()
}

// record runs do with a recorder and returns it.
func record(do func(t testing.TB)) *recorder {
	r := &recorder{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		do(r)
	}()
	<-done
	return r
}

var nan, inf = math.NaN(), math.Inf(1)

func TestClosePasses(t *testing.T) {
	rows := []struct {
		name       string
		want, got  []float64
		atol, rtol float64
	}{
		{name: "nothing", got: []float64{}},
		{name: "equal", want: []float64{1, -2, 0}, got: []float64{1, -2, 0}},
		{name: "zeros of both signs", want: []float64{0}, got: []float64{math.Copysign(0, -1)}},
		{name: "atol, exactly reached", want: []float64{1}, got: []float64{1.5}, atol: 0.5},
		{name: "rtol, exactly reached", want: []float64{-4}, got: []float64{-5}, rtol: 0.25},
		{name: "both together", want: []float64{4}, got: []float64{2.5}, atol: 0.5, rtol: 0.25},
		{name: "NaN and NaN", want: []float64{nan}, got: []float64{nan}},
		{name: "infinities", want: []float64{inf, -inf}, got: []float64{inf, -inf}},
		{name: "a bound beyond the largest float", want: []float64{1e308}, got: []float64{-1e308}, rtol: 10},
	}
	for _, row := range rows {
		r := record(func(t testing.TB) { Close(t, row.name, row.want, row.got, row.atol, row.rtol) })
		assert.Empty(t, r.messages, row.name)
		assert.False(t, r.stopped, row.name)
	}
}

func TestCloseFails(t *testing.T) {
	type s = []float64
	for _, row := range []struct {
		name       string
		want, got  s
		atol, rtol float64
		differ     string // how many
		worst      string
	}{
		{"atol", s{1}, s{1.75}, 0.5, 0, "1 of 1", "[0]: got 1.75, want 1, error 0.75, allowed 0.5"},
		{"rtol is of want, not of got", s{4}, s{5.25}, 0, 0.25, "1 of 1", "[0]: got 5.25, want 4, error 1.25, allowed 1"},
		{"below", s{1}, s{0.25}, 0.5, 0, "1 of 1", "[0]: got 0.25, want 1, error 0.75, allowed 0.5"},
		{"count and worst", s{1, 2, 3, 4}, s{1, 2.5, 1, 4.25}, 0, 0, "3 of 4", "[2]: got 1, want 3, error 2, allowed 0"},
		// The first element has an error of 3 with 2 allowed, the second an error of 2 with none allowed.
		{"worst is beyond its bound", s{8, 0}, s{11, 2}, 0, 0.25, "2 of 2", "[1]: got 2, want 0, error 2, allowed 0"},
		{"first of equals", s{0, 0}, s{2, -2}, 0, 0, "2 of 2", "[0]: got 2, want 0, error 2, allowed 0"},
		{"NaN got", s{1, 1, 1}, s{9, nan, 99}, 1, 1, "3 of 3", "[1]: got NaN, want 1, error NaN, allowed 2"},
		{"NaN wanted", s{nan}, s{1}, 1, 1, "1 of 1", "[0]: got 1, want NaN, error NaN, allowed NaN"},
		{"NaN and Inf", s{nan}, s{inf}, 1, 1, "1 of 1", "[0]: got +Inf, want NaN, error NaN, allowed NaN"},
		{"Inf got", s{math.MaxFloat64}, s{inf}, 1, 1, "1 of 1",
			"[0]: got +Inf, want 1.7976931348623157e+308, error +Inf, allowed 1.8e+308"},
		{"Inf wanted", s{inf}, s{1}, 1, 1, "1 of 1", "[0]: got 1, want +Inf, error +Inf, allowed +Inf"},
		{"other Inf", s{inf}, s{-inf}, 1, 1, "1 of 1", "[0]: got -Inf, want +Inf, error +Inf, allowed +Inf"},
	} {
		r := record(func(t testing.TB) { Close(t, row.name, row.want, row.got, row.atol, row.rtol) })
		assert.Equal(t, []string{fmt.Sprintf("%s: %s elements differ (atol %v, rtol %v); worst at %s", row.name, row.differ,
			row.atol, row.rtol, row.worst)}, r.messages)
		assert.False(t, r.stopped, "%s: the test continues", row.name)
	}
	for _, want := range []s{{1, 2}, {}} {
		r := record(func(t testing.TB) { Close(t, "x", want, s{1}, 1, 0) })
		assert.Equal(t, []string{fmt.Sprintf("x: got 1 elements, want %d", len(want))}, r.messages)
		assert.False(t, r.stopped, "the test continues")
	}
}

// A tolerance that passes everything or nothing is a mistake in the test.
func TestCloseRefusesTolerances(t *testing.T) {
	for _, tol := range [][2]float64{{-1, 0}, {0, -1}, {nan, 0}, {0, nan}, {inf, 0}, {0, inf}} {
		r := record(func(t testing.TB) { Close(t, "x", []float64{1}, []float64{1}, tol[0], tol[1]) })
		require.Len(t, r.messages, 1, "%v", tol)
		assert.Contains(t, r.messages[0], "x: tolerances: got atol ")
		assert.True(t, r.stopped)
	}
}

// float32 values print as float32 and are compared in float64: the difference
// of 2^24+2 and 1 is no float32.
func TestCloseFloat32(t *testing.T) {
	want, got := []float32{1, 0.1}, []float32{1<<24 + 2, 0.1}
	r := record(func(t testing.TB) { Close(t, "x", want, got, 1<<24, 0) })
	assert.Equal(t, []string{"x: 1 of 2 elements differ (atol 1.6777216e+07, rtol 0); " +
		"worst at [0]: got 1.6777218e+07, want 1, error 1.68e+07, allowed 1.68e+07"}, r.messages)
	r = record(func(t testing.TB) { Close(t, "x", want, got, 1<<24+1, 0) })
	assert.Empty(t, r.messages)
}
