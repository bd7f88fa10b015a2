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

func TestRow(t *testing.T) {
	require.Equal(t, "abc  1 2\n", Row("abc", 4, " 1 2"))
	require.Equal(t, "äbcd 1 2\n", Row("äbcd", 4, " 1 2"))
	require.Equal(t, "abcde\n     1 2\n", Row("abcde", 4, " 1 2"))
}
