package bench

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"attention/cmd/attention/internal/commandtest"
	"attention/layers/chapter"

	"github.com/stretchr/testify/require"
)

// Every variant has a row with times and a bar, at most 80 columns wide; the slowest one's bar is
// the longest.
func TestBenchVariants(t *testing.T) {
	flags := strings.Fields("--mode variants --batch 1 --tokens 5 --width 6 --heads 3 --runs 2")
	out, err := commandtest.Output(t.Context(), New(), flags...)
	require.NoError(t, err)
	longest := 0
	for _, v := range chapter.Variants() {
		row := regexp.MustCompile(`(?m)^` + v.Name + ` +\d+ +\S+ +\S+  ([█░]*)$`).FindStringSubmatch(out)
		require.NotNil(t, row, "%s in %s", v.Name, out)
		longest = max(longest, utf8.RuneCountInString(row[1]))
		require.Contains(t, out, v.Text)
	}
	require.Equal(t, 38, longest)
	for line := range strings.Lines(out) {
		require.LessOrEqual(t, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")), 80, line)
	}

	out, err = commandtest.Output(t.Context(), New(), append(flags, "--json")...)
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	require.Len(t, lines, len(chapter.Variants()))
	for i, v := range chapter.Variants() {
		var r variantResult
		require.NoError(t, json.Unmarshal([]byte(lines[i]), &r))
		require.Equal(t, v.Name, r.Variant)
		require.Positive(t, r.Forward)
		require.Positive(t, r.Both)
		require.Positive(t, r.Ops)
		require.Equal(t, v.Name == "sdpa_weights" || v.Name == "torch_mha", r.Weights)
	}
}
