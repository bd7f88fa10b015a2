package bench

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"attention/cmd/attention/internal/commandtest"
	"attention/cmd/attention/internal/term"
	"attention/internal/simd"

	"github.com/stretchr/testify/require"
)

// TestMain makes the test binary act as the command when attention bench starts itself again. The work whose --tokens
// are those of failsVariable fails.
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

	t.Setenv(simd.BF16Variable, "emulated")
	out, err = commandtest.Output(t.Context(), newCommand(works), append(args, "--precision", "bf16")...)
	require.NoError(t, err)
	require.Equal(t, []string{"B2 T3 E6 H3 bf16 forward", "B2 T5 E6 H3 bf16 forward-backward",
		"B2 T4 E6 H3 bf16 forward-backward"}, names(out))

	out, err = commandtest.Output(t.Context(), newCommand(works), "--runs", "1")
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(out, "WORK"))
	require.Equal(t, 1, strings.Count(out, "kernels "))
	_, table, _ := strings.Cut(out, "\n\n")
	require.Equal(t, 4, strings.Count(table, "\n"))

	t.Setenv(failsVariable, "5")
	out, err = commandtest.Output(t.Context(), newCommand(works), args...)
	require.EqualError(t, err, "1 of 3 works failed: "+
		"B2 T5 E6 H3 forward-backward: exit status 2: fatal error: out of memory")
	require.Equal(t, []string{"B2 T3 E6 H3 forward", "B2 T4 E6 H3 forward-backward"}, names(out),
		"the others are done all the same")
}
