package bench

import (
	"encoding/json"
	"strings"
	"testing"

	"attention/cmd/attention/internal/commandtest"

	"github.com/stretchr/testify/require"
)

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
