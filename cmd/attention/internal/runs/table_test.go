package runs

import (
	"testing"

	"attention/cmd/attention/internal/session"

	"github.com/stretchr/testify/require"
)

func TestCells(t *testing.T) {
	require.Equal(t, "-", loss(nil))
	for x, want := range map[float64]string{1.25: "1.250", 99999.5: "99999.500", 1e300: "1e+300"} {
		require.Equal(t, want, loss(&x))
	}
	require.Equal(t, "multi_hea…", short("multi_head_wrapper"))
	for n, want := range map[int]string{0: "-", 812: "812", 999: "999", 1000: "1k", 104896: "105k", 999_600: "1M",
		124_439_808: "124M", 2_000_000_000_000_000: "2e+03T"} {
		require.Equal(t, want, count(n))
	}
	require.Equal(t, "300", steps(session.Summary{Steps: 300}))
	require.Equal(t, "120/300", steps(session.Summary{Steps: 300, Report: session.Report{Best: 120}}))
	for seconds, want := range map[float64]string{0.04: "0.0s", 59.9: "59.9s", 60: "1m", 61.4: "1m1s", 3600: "1h0m",
		90000: "25h0m"} {
		require.Equal(t, want, duration(session.Summary{Seconds: &seconds}))
	}
}
