package follow

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Of any number of values the first, the last and evenly spread ones are kept, at least half of most.
func TestThinned(t *testing.T) {
	var l thinned[int]
	_, ok := l.end()
	require.False(t, ok)
	for n := range 5*most + 7 {
		l.add(n)
		last, ok := l.end()
		if few := len(l.kept) <= most/2 && n >= most; !ok || last != n || len(l.kept) > most || few {
			require.Fail(t, "kept wrongly", "value %d: the last is %d, %t, of %d", n, last, ok, len(l.kept))
		}
	}
	for i, v := range l.kept[:len(l.kept)-1] {
		require.Equal(t, i*l.every, v)
	}
	l.setEnd(-1)
	require.Equal(t, -1, l.kept[len(l.kept)-1])
}
