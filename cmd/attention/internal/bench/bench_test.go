package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"attention/cmd/attention/internal/commandtest"
	"attention/cmd/attention/internal/term"
	"attention/graph/machine"

	"github.com/stretchr/testify/require"
)

// TestMain makes the test binary stand in for the command when attention bench
// starts itself again. The work whose --tokens are those of failsVariable fails.
func TestMain(m *testing.M) {
	if os.Getenv(childVariable) == "" {
		os.Exit(m.Run())
	}
	if n := os.Getenv(failsVariable); n != "" && strings.Contains(strings.Join(os.Args, " "), "--tokens "+n+" ") {
		fmt.Fprintln(os.Stderr, "fatal error: out of memory\n\ngoroutine 1")
		os.Exit(2)
	}
	os.Exit(term.Main(commandtest.Root(New())))
}

const failsVariable = "ATTENTION_TEST_BENCH_FAILS"

// small is a work that takes hardly any time.
func small(tokens int, mode string) work {
	return work{batch: 2, tokens: tokens, width: 6, heads: 3, mode: mode, dtype: "float32"}
}

func TestBenchFlop(t *testing.T) {
	for _, c := range []struct {
		w                 work
		forward, backward int
	}{
		// One token: four projections of one number, a score and a context (2 each);
		// four weight gradients, dcontext, and four of attention.
		{w: work{batch: 1, tokens: 1, width: 1, heads: 1}, forward: 4*2 + 2 + 2, backward: 4*2 + 2 + 4*2},
		// Two tokens see 1 + 2 = 3 keys: 4·16 + 3·(4+4); 4·16 + 16 + 3·16.
		{w: work{batch: 1, tokens: 2, width: 2, heads: 1}, forward: 88, backward: 128},
		// Without a mask they see 4.
		{w: work{batch: 1, tokens: 2, width: 2, heads: 1, full: true}, forward: 96, backward: 144},
		// Two heads of width 2 that share keys and values: projections of 4·4, 4·2, 4·2
		// and 4·4 products, a pair for each head.
		{w: work{batch: 1, tokens: 1, width: 4, heads: 2, kvHeads: 1}, forward: 2*48 + 2*2*4, backward: 2*48 + 2*16 + 2*2*8},
		{w: work{batch: 32, tokens: 32, width: 64, heads: 4}, forward: 33554432 + 4325376,
			backward: 33554432 + 8388608 + 8650752},
		// GPT-2 small: 4·2·2048·768² and 4·64 for each of 2·12·1024·1025/2 pairs.
		{w: work{batch: 2, tokens: 1024, width: 768, heads: 12}, forward: 9663676416 + 3224371200,
			backward: 9663676416 + 2415919104 + 6448742400},
	} {
		c.w.mode = forwardOnly
		require.Equal(t, c.forward, c.w.flop(), "%+v", c.w)
		c.w.mode = forwardBackward
		require.Equal(t, c.forward+c.backward, c.w.flop(), "%+v", c.w)
	}
}

// A step of a GPT of one block and one token: 4 projections, 8 products of the MLP, score
// and context, and the scores of 65 tokens; then twice that for the gradients.
func TestBenchStepFlop(t *testing.T) {
	w := work{batch: 1, tokens: 1, width: 1, heads: 1, layers: 1, mode: gptStep}
	require.Equal(t, 3*2*(4+8+2+65), w.flop())
	w.layers = 3
	require.Equal(t, 3*2*(3*(4+8+2)+65), w.flop())
}

func TestBenchTimesAStepOfAGPT(t *testing.T) {
	out, err := commandtest.Output(t.Context(), New(), "--json", "--runs", "2", "--mode", "gpt-step",
		"--batch", "2", "--tokens", "7", "--width", "6", "--heads", "3", "--layers", "2")
	require.NoError(t, err)
	var r result
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	require.Equal(t, "B2 T7 E6 H3 L2 gpt-step", r.Name)
	require.Equal(t, 2, r.Layers)
	require.Positive(t, r.Seconds)
}

// The operations of the largest works fit an int.
func TestBenchSizesFitAnInt(t *testing.T) {
	for _, w := range []work{
		{batch: 1, tokens: 1 << 15, width: 1 << 15, heads: 1},
		{batch: 1, tokens: maxSize, width: 64, heads: 64},
		{batch: maxSize, tokens: 64, width: 1, heads: 1},
	} {
		w.mode, w.dtype = forwardBackward, "float64"
		require.NoError(t, w.validate())
		rows, e, n := float64(w.batch*w.tokens), float64(w.width), float64(w.tokens)
		require.InEpsilon(t, 18*rows*e*e+6*rows*(n+1)*e, float64(w.flop()), 1e-12, w.name())
	}
}

func TestBenchJSON(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	out, err := commandtest.Output(t.Context(), New(), "--json", "--runs", "3", "--threads", "1",
		"--batch", "2", "--tokens", "7", "--width", "6", "--heads", "3", "--mode", "forward")
	require.NoError(t, err)
	require.Equal(t, before, runtime.GOMAXPROCS(0), "threads are put back")
	require.Equal(t, 1, strings.Count(out, "\n"))
	var fields map[string]any
	require.NoError(t, json.Unmarshal([]byte(out), &fields))
	measured := map[string]float64{}
	for _, name := range []string{"seconds", "seconds_min", "peak_rss_bytes", "flop_per_second", "peak_flop_per_second"} {
		measured[name] = fields[name].(float64)
		delete(fields, name)
	}
	require.Equal(t, map[string]any{
		"name": "B2 T7 E6 H3 forward", "batch": 2.0, "tokens": 7.0, "width": 6.0, "heads": 3.0, "kv_heads": 3.0,
		"causal": true, "mode": "forward", "dtype": "float32", "threads": 1.0, "runs": 3.0,
		"flop": 4.0*2*14*6*6 + 4*2*(2*3*28),
	}, fields)
	require.Positive(t, measured["seconds_min"])
	require.LessOrEqual(t, measured["seconds_min"], measured["seconds"])
	require.Equal(t, fields["flop"].(float64)/measured["seconds"], measured["flop_per_second"])
	require.Positive(t, measured["peak_flop_per_second"])
	if runtime.GOOS == "linux" {
		require.Positive(t, measured["peak_rss_bytes"])
	}
}

func TestBenchTable(t *testing.T) {
	out, err := commandtest.Output(t.Context(), New(),
		"--runs", "2", "--tokens", "7", "--width", "6", "--heads", "3", "--dtype", "float64", "--threads", "3")
	require.NoError(t, err)
	require.Regexp(t, `^WORK                                   THREADS   SECONDS     LEAST    GFLOP  GFLOP/S  OF PEAK  PEAK MIB
B2 T7 E6 H3 float64 forward-backward         3 +\S+ +\S+ +\S+ +\S+ +\d+% +(\d+\.\d|unknown)
$`, out)

	var b strings.Builder
	r := &result{Name: "name", Threads: 2, Seconds: 0.25, SecondsMin: 0.125, PeakRSS: 3 << 19, Flop: 5e9,
		FlopPerSecond: 20e9, PeakFlopPerSecond: 40e9}
	require.NoError(t, (&printer{out: &b}).print(r))
	_, row, _ := strings.Cut(b.String(), "\n")
	require.Equal(t, []string{"name", "2", "0.25", "0.125", "5", "20", "50%", "1.5"}, strings.Fields(row))
}

// The work computes the output and, with backward, the gradient of each parameter.
func TestBenchComputesWhatItSays(t *testing.T) {
	for mode, want := range map[string][][]int{
		forwardOnly:     {{2, 7, 6}},
		forwardBackward: {{2, 7, 6}, {6, 6}, {6, 6}, {6, 6}, {6, 6}, {6}},
	} {
		wanted, err := graphOf(small(7, mode))
		require.NoError(t, err)
		m, err := machine.New(wanted...)
		require.NoError(t, err)
		require.NoError(t, m.RunAll())
		var got [][]int
		for _, n := range wanted {
			got = append(got, n.Shape())
			for _, x := range n.Value().Data().([]float32) {
				require.False(t, x == 0 || math.IsNaN(float64(x)) || math.IsInf(float64(x), 0), "%v: %v", n, x)
			}
		}
		require.Equal(t, want, got, mode)
	}
}

func TestBenchWorksInChildren(t *testing.T) {
	works := []work{small(3, forwardOnly), small(5, forwardBackward), small(4, forwardBackward)}
	names := func(out string) (names []string) {
		for line := range strings.Lines(out) {
			var r result
			require.NoError(t, json.Unmarshal([]byte(line), &r))
			require.Equal(t, []int{2, 2}, []int{r.Runs, r.Threads})
			names = append(names, r.Name)
		}
		return names
	}
	args := []string{"--json", "--runs", "2", "--threads", "2"}
	out, err := commandtest.Output(t.Context(), newCommand(works), append(args, "--dtype", "float64")...)
	require.NoError(t, err)
	require.Equal(t, []string{"B2 T3 E6 H3 float64 forward", "B2 T5 E6 H3 float64 forward-backward",
		"B2 T4 E6 H3 float64 forward-backward"}, names(out))

	out, err = commandtest.Output(t.Context(), newCommand(works), "--runs", "1")
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(out, "WORK"))
	require.Equal(t, 4, strings.Count(out, "\n"))

	t.Setenv(failsVariable, "5")
	out, err = commandtest.Output(t.Context(), newCommand(works), args...)
	require.EqualError(t, err, "bench: 1 of 3 works failed: "+
		"B2 T5 E6 H3 forward-backward: exit status 2: fatal error: out of memory")
	require.Equal(t, []string{"B2 T3 E6 H3 forward", "B2 T4 E6 H3 forward-backward"}, names(out),
		"the others are done all the same")
}

// A child's flags choose the same work again.
func TestBenchFlagsMakeTheWork(t *testing.T) {
	works := map[string]bool{}
	for _, w := range standardWorks() {
		require.NoError(t, w.validate())
		require.False(t, works[w.name()], "%s comes twice", w.name())
		works[w.name()] = true
	}
	require.Len(t, works, 10)
	require.Contains(t, works, "B12 T64 E128 H4 L4 gpt-step")
	require.Contains(t, works, "B32 T32 E64 H4 forward-backward")
	require.Contains(t, works, "B1 T4096 E768 H12 forward-backward")

	w := work{batch: 3, tokens: 5, width: 12, heads: 4, kvHeads: 2, full: true, mode: forwardOnly, dtype: "float64"}
	require.Equal(t, "B3 T5 E12 H4 K2 no-causal float64 forward", w.name())
	f := New().Flags()
	require.NoError(t, f.Parse(w.flags()))
	for name, want := range map[string]string{"batch": "3", "tokens": "5", "width": "12", "heads": "4", "kv-heads": "2",
		"no-causal": "true", "mode": "forward", "dtype": "float64"} {
		require.Equal(t, want, f.Lookup(name).Value.String(), name)
	}
	for _, name := range sizeFlags {
		require.True(t, f.Changed(name), "--%s makes a work", name)
	}
}

func TestBenchTimesRuns(t *testing.T) {
	calls := 0
	count := func() error { calls++; return nil }
	for runs, want := range map[int]int{1: 1, 3: 3, 0: 1000} {
		calls = 0
		took, err := timeRuns(runs, count)
		require.NoError(t, err)
		require.Len(t, took, want)
		require.Equal(t, want+1, calls, "one run to warm up")
	}
	for fails := range 3 {
		calls = 0
		_, err := timeRuns(2, func() error {
			if calls++; calls > fails {
				return errors.New("broken")
			}
			return nil
		})
		require.EqualError(t, err, "broken")
	}

	for want, x := range map[float64][]float64{7: {7}, 2.5: {4, 1}, 3: {9, 3, 1}, 5: {100, 2, 4, 6}} {
		before := slices.Clone(x)
		require.Equal(t, want, median(x))
		require.Equal(t, before, x, "the times stay in order")
	}
}

// The help names every field of the JSON.
func TestBenchHelpNamesEveryField(t *testing.T) {
	text, err := json.Marshal(result{})
	require.NoError(t, err)
	var fields map[string]any
	require.NoError(t, json.Unmarshal(text, &fields))
	for name := range maps.Keys(fields) {
		require.Contains(t, help, name)
	}
}
