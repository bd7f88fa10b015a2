package term

import (
	"strings"
	"testing"

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
