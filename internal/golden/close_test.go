package golden

import (
	"fmt"
	"math"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// recorder stands in for a test and keeps what is reported to it. The methods
// it does not have would panic, so the code under test cannot use them unseen.
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

// record runs do as a test of its own.
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
		{"nothing", nil, []float64{}, 0, 0},
		{"equal", []float64{1, -2, 0}, []float64{1, -2, 0}, 0, 0},
		{"zeros of both signs", []float64{0}, []float64{math.Copysign(0, -1)}, 0, 0},
		{"atol, exactly reached", []float64{1}, []float64{1.5}, 0.5, 0},
		{"rtol, exactly reached", []float64{-4}, []float64{-5}, 0, 0.25},
		{"both together", []float64{4}, []float64{2.5}, 0.5, 0.25},
		{"NaN and NaN", []float64{nan}, []float64{nan}, 0, 0},
		{"infinities", []float64{inf, -inf}, []float64{inf, -inf}, 0, 0},
		{"a bound beyond the largest float", []float64{1e308}, []float64{-1e308}, 0, 10},
	}
	for _, row := range rows {
		r := record(func(t testing.TB) { Close(t, row.name, row.want, row.got, row.atol, row.rtol) })
		assert.Empty(t, r.messages, row.name)
		assert.False(t, r.stopped, row.name)
	}
}

func TestCloseFails(t *testing.T) {
	rows := []struct {
		name       string
		want, got  []float64
		atol, rtol float64
		message    string
	}{
		{"x", []float64{1, 2}, []float64{1}, 1, 0, "x: got 1 elements, want 2"},
		{"x", []float64{}, []float64{1}, 1, 0, "x: got 1 elements, want 0"},
		{"atol", []float64{1}, []float64{1.75}, 0.5, 0,
			"atol: 1 of 1 elements differ (atol 0.5, rtol 0); worst at [0]: got 1.75, want 1, error 0.75, allowed 0.5"},
		{"rtol is of want, not of got", []float64{4}, []float64{5.25}, 0, 0.25,
			"rtol is of want, not of got: 1 of 1 elements differ (atol 0, rtol 0.25); worst at [0]: got 5.25, want 4, error 1.25, allowed 1"},
		{"below", []float64{1}, []float64{0.25}, 0.5, 0,
			"below: 1 of 1 elements differ (atol 0.5, rtol 0); worst at [0]: got 0.25, want 1, error 0.75, allowed 0.5"},
		{"count and worst", []float64{1, 2, 3, 4}, []float64{1, 2.5, 1, 4.25}, 0, 0,
			"count and worst: 3 of 4 elements differ (atol 0, rtol 0); worst at [2]: got 1, want 3, error 2, allowed 0"},
		// The first is off by 3 with 2 allowed, the second by 2 with none.
		{"worst is beyond its bound", []float64{8, 0}, []float64{11, 2}, 0, 0.25,
			"worst is beyond its bound: 2 of 2 elements differ (atol 0, rtol 0.25); worst at [1]: got 2, want 0, error 2, allowed 0"},
		{"first of equals", []float64{0, 0}, []float64{2, -2}, 0, 0,
			"first of equals: 2 of 2 elements differ (atol 0, rtol 0); worst at [0]: got 2, want 0, error 2, allowed 0"},
		{"NaN got", []float64{1, 1, 1}, []float64{9, nan, 99}, 1, 1,
			"NaN got: 3 of 3 elements differ (atol 1, rtol 1); worst at [1]: got NaN, want 1, error NaN, allowed 2"},
		{"NaN wanted", []float64{nan}, []float64{1}, 1, 1,
			"NaN wanted: 1 of 1 elements differ (atol 1, rtol 1); worst at [0]: got 1, want NaN, error NaN, allowed NaN"},
		{"NaN and Inf", []float64{nan}, []float64{inf}, 1, 1,
			"NaN and Inf: 1 of 1 elements differ (atol 1, rtol 1); worst at [0]: got +Inf, want NaN, error NaN, allowed NaN"},
		{"Inf got", []float64{math.MaxFloat64}, []float64{inf}, 1, 1,
			"Inf got: 1 of 1 elements differ (atol 1, rtol 1); worst at [0]: got +Inf, want 1.7976931348623157e+308, error +Inf, allowed 1.8e+308"},
		{"Inf wanted", []float64{inf}, []float64{1}, 1, 1,
			"Inf wanted: 1 of 1 elements differ (atol 1, rtol 1); worst at [0]: got 1, want +Inf, error +Inf, allowed +Inf"},
		{"other Inf", []float64{inf}, []float64{-inf}, 1, 1,
			"other Inf: 1 of 1 elements differ (atol 1, rtol 1); worst at [0]: got -Inf, want +Inf, error +Inf, allowed +Inf"},
	}
	for _, row := range rows {
		r := record(func(t testing.TB) { Close(t, row.name, row.want, row.got, row.atol, row.rtol) })
		assert.Equal(t, []string{row.message}, r.messages)
		assert.False(t, r.stopped, "%s: the test may go on", row.name)
	}
}

// A tolerance that lets everything or nothing pass is a mistake in the test.
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
