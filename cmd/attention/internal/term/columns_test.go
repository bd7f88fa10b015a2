package term

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"attention/cmd/attention/internal/commandtest"

	"github.com/stretchr/testify/require"
)

func TestFill(t *testing.T) {
	long := strings.Repeat("é", 60)
	for _, row := range []struct {
		reason  string
		phrases []string
		want    string
	}{
		{reason: "one line", phrases: []string{"one, ", "two words"}, want: "text  one, two words\n"},
		{reason: "80 columns of characters, not bytes", phrases: []string{long, "234567890123"},
			want: "text  " + long + " 234567890123\n"},
		{reason: "81 columns", phrases: []string{long, "12345678901234", "more"},
			want: "text  " + long + "\n      12345678901234 more\n"},
		{reason: "a phrase longer than a line", phrases: []string{long + long, "more"},
			want: "text  " + long + long + "\n      more\n"},
		{reason: "none", want: "text  \n"},
	} {
		require.Equal(t, row.want, Fill("text  ", row.phrases...), row.reason)
	}
}

func TestTable(t *testing.T) {
	var b strings.Builder
	table := Table{Title: "title\n", Form: "%-4s", Names: []any{"name"}}
	table.Add("%6.2f", "share")
	table.Row(&b, "abc", 0.125)
	table.Row(&b, "äbcd", 12.0)
	table.Row(&b, "ab%de", 12.0)
	require.Equal(t, "title\nname share\nabc   0.12\näbcd 12.00\nab%de\n     12.00\n", b.String())
}

func TestOutputKeepsTheFirstError(t *testing.T) {
	out := NewOutput(commandtest.Full{})
	fmt.Fprint(out, "a")
	first := out.Err()
	fmt.Fprint(out, "b")
	require.EqualError(t, first, "printing: no space left")
	require.Same(t, first, out.Err())
}

// A file gets no progress bar.
func TestNoBarInAFile(t *testing.T) {
	f, err := os.CreateTemp(t.TempDir(), "")
	require.NoError(t, err)
	p := NewProgress(f, 10)
	require.Nil(t, p.bar)
	p.Step(1)
	p.Clear()
	at, err := f.Seek(0, io.SeekCurrent)
	require.NoError(t, err)
	require.Zero(t, at)
	require.NoError(t, f.Close())
}

// A bar shows the time left, at the speed of the steps since the first.
func TestTimeLeft(t *testing.T) {
	p := &Progress{n: 101}
	at := time.Unix(1000, 0)
	require.Equal(t, "loss 2.500", p.describe(2.5, at))
	require.Equal(t, "loss 2.000, 1m39s left", p.describe(2, at.Add(time.Second)))
	for range 98 {
		p.describe(1, at)
	}
	require.Equal(t, "loss 1.000, 0s left", p.describe(1, at.Add(2*time.Minute)))
}
