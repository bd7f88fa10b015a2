package bench

import (
	"encoding/json"
	"maps"
	"runtime"
	"strings"
	"testing"

	"attention/cmd/attention/internal/commandtest"
	"attention/cmd/attention/internal/program"
	"attention/internal/simd"

	"github.com/stretchr/testify/require"
)

func TestBenchJSON(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	out, err := commandtest.Output(t.Context(), New(), "--json", "--runs", "3", "--threads", "1",
		"--batch", "2", "--tokens", "7", "--width", "6", "--heads", "3", "--mode", "forward")
	require.NoError(t, err)
	require.Equal(t, before, runtime.GOMAXPROCS(0), "threads are put back")
	require.Equal(t, 1, strings.Count(out, "\n"))
	var fields map[string]any
	require.NoError(t, json.Unmarshal([]byte(out), &fields))
	delete(fields, "passed_over") // as the processor and the environment have it
	delete(fields, "bf16")
	measured := map[string]float64{}
	for _, name := range []string{"seconds", "seconds_min", "peak_rss_bytes", "flop_per_second", "peak_flop_per_second"} {
		measured[name] = fields[name].(float64)
		delete(fields, name)
	}
	require.Equal(t, map[string]any{
		"name": "B2 T7 E6 H3 forward", "batch": 2.0, "tokens": 7.0, "embed_dim": 6.0, "num_heads": 3.0,
		"num_kv_heads": 3.0,
		"causal":       true, "mode": "forward", "dtype": "float32", "precision": "full", "threads": 1.0, "runs": 3.0,
		"cores": 1.0, "kernels": simd.InstructionSet(),
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
		"--runs", "2", "--tokens", "64", "--width", "24", "--heads", "3", "--dtype", "float64", "--threads", "3")
	require.NoError(t, err)
	require.Regexp(t, `^
kernels (\w+), \S+ GFLOP/s in float64 on \d cores?(;
 +.*)*

WORK \(threads: 3\)                   SECONDS    LEAST    GFLOP GFLOP/S PEAK   MIB
B2 T64 E24 H3 float64 forward-backward
 {34} +\S+ +\S+ +\S+ +\S+ +\d+% +(\d+|-)
$`, "\n"+out)

	var b strings.Builder
	r := &result{Name: "name", work: work{Dtype: "float32"}, Threads: 2, Seconds: 0.25, SecondsMin: 0.125,
		PeakRSS: 3 << 19, Flop: 5e9, FlopPerSecond: 20e9,
		Kernels: program.Kernels{Name: "avx2", Cores: 2, Peak: 40e9,
			PassedOver: []simd.PassedOver{{Name: "avx512", Why: "a reason"}}}}
	require.NoError(t, (&printer{out: &b}).print(r))
	head, table, _ := strings.Cut(b.String(), "\n\n")
	require.Equal(t, "kernels avx2, 40 GFLOP/s in float32 on 2 cores; avx512 passed over: a reason", head)
	_, row, _ := strings.Cut(table, "\n")
	require.Equal(t, []string{"name", "0.25", "0.125", "5", "20", "50%", "2"}, strings.Fields(row))
}

// In bfloat16 the share is of its peak, which a processor without instructions for it does not have.
func TestBenchTableInBFloat16(t *testing.T) {
	t.Setenv(simd.BF16Variable, "emulated")
	args := []string{"--runs", "2", "--tokens", "7", "--width", "6", "--heads", "3", "--precision", "bf16"}
	out, err := commandtest.Output(t.Context(), New(), args...)
	require.NoError(t, err)
	head, share := `kernels \w+, \S+ GFLOP/s in bf16 on \d cores?;\s+bf16: ATTENTION_BF16=emulated,`, `\d+%`
	if !simd.BF16() {
		head, share = `kernels \w+, no peak in bf16 on \d cores?;\s+bf16: ATTENTION_BF16=emulated,\s+in plain Go`, "-"
	}
	require.Regexp(t, "^"+head, out)
	require.Regexp(t, `\nB2 T7 E6 H3 bf16 forward-backward\s+\S+ +\S+ +\S+ +\S+ +`+share+` +(\d+|-)\n$`, out)

	out, err = commandtest.Output(t.Context(), New(), append(args, "--json")...)
	require.NoError(t, err)
	var r result
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	require.Equal(t, "bf16", r.Precision)
	require.Equal(t, simd.BF16(), r.Peak > 0)
	require.Contains(t, r.BF16, "ATTENTION_BF16=emulated")
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

// A profile names the ops of a run, whose times add up to no more than the runs'.
func TestBenchProfile(t *testing.T) {
	args := strings.Fields("--mode gpt-step --batch 2 --tokens 8 --width 12 --heads 3 --layers 2 --vocab 9 --runs 3 " +
		"--profile")
	out, err := commandtest.Output(t.Context(), New(), args...)
	require.NoError(t, err)
	require.Regexp(t, `(?m)^  OP +CALLS +MS +SHARE +IDLE$`, out)
	require.Regexp(t, `(?m)^  FusedAttentionBackward +2 +\d`, out)
	require.Regexp(t, `(?m)^  solver +1 +\d`, out)

	out, err = commandtest.Output(t.Context(), New(), append(args, "--json")...)
	require.NoError(t, err)
	var r result
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	sum := 0.0
	for _, op := range r.Ops {
		require.LessOrEqual(t, op.Idle, 1.0, op.Name)
		sum += op.Seconds
	}
	require.Greater(t, sum, 0.3*r.SecondsMin)
}
