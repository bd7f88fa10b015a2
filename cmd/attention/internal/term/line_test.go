package term

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// Text that a terminal would interpret is escaped as in Go's strings.
func TestPrintable(t *testing.T) {
	for _, c := range []struct{ text, want, reason string }{
		{text: "a\r\n\tb\n", want: "a\n\tb\n", reason: "line ends"},
		{text: " é😀'\"\\", want: " é😀'\"\\"},
		{text: "a\u00a0b 漢\u3000字 👩\u200d💻", want: "a\u00a0b 漢\u3000字 👩\u200d💻",
			reason: "spaces and joined emoji"},
		{text: "\r\x1b[31m\x00\a\b\x7f", want: `\r\x1b[31m\x00\a\b\x7f`, reason: "C0 and DEL"},
		{text: "\u009b31m\u0085", want: `\u009b31m\u0085`, reason: "C1"},
		{text: "\x9b31m\xe2\x82", want: `\x9b31m\xe2\x82`, reason: "not UTF-8"},
		{text: "a\u202eb\u2066c\u200fd\u061c", want: `a\u202eb\u2066c\u200fd\u061c`, reason: "the direction of writing"},
		{text: "a\u2028b\u2029", want: `a\u2028b\u2029`, reason: "line separators"},
	} {
		require.Equal(t, c.want, Printable(c.text), c.reason)
		require.Equal(t, c.want, Printable(c.want), "what is escaped stays")
	}
}

// A line has a limited length, and enough of a name in it to recognise the name.
func TestLine(t *testing.T) {
	long := strings.Repeat("é", 200)
	for _, c := range []struct{ text, want, reason string }{
		{text: " a\n b\t\tc ", want: "a b c"},
		{text: "\x1b[2J: b", want: `\x1b[2J: b`},
		{text: "x: \"a " + long + " b\": missing", want: "x: \"a " + long[:122] + "…" + long[:122] + " b\": missing",
			reason: "a quoted name"},
		{text: `x: "a\"` + long + ` b": missing`, want: `x: "a\"` + long[:122] + "…" + long[:122] + ` b": missing`,
			reason: "a quote in a name"},
		{text: `5" wide: a ` + long[:20] + `\`, want: `5" wide: a ` + long[:20] + `\`, reason: "a quote alone"},
		{text: long + ": missing", want: long[:126] + "…" + long[:124] + ": missing"},
	} {
		require.Equal(t, c.want, Line(c.text), c.reason)
	}
	const most = 8 << 20
	for _, text := range []string{strings.Repeat("a", most), strings.Repeat("a b", most/3),
		strings.Repeat("\x1b", most), strings.Repeat("\x80", most),
		`"` + strings.Repeat("漢", most/3), strings.Repeat(`"a`, most/2), `"` + strings.Repeat(`\"`, most/2)} {
		line := OneLine(errors.New("begin " + text + " end"))
		require.LessOrEqual(t, len(line), 4096)
		require.True(t, utf8.ValidString(line))
		require.Regexp(t, `^begin .*….*end$`, line)
	}
}
