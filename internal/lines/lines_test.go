package lines_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"attention/internal/folder"
	"attention/internal/lines"

	"github.com/stretchr/testify/require"
)

const most = 16

func number(line []byte) (int, error) { return strconv.Atoi(string(line[:len(line)-1])) }

// A reader that continues yields each complete line once, and starts again if earlier lines have changed.
func TestReadFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lines")
	var at lines.Place
	for _, row := range []struct {
		reason, text string
		anew         int
		want         []int
		err          string
	}{
		{reason: "none", err: "no such file"},
		{reason: "empty"},
		{reason: "incomplete", text: "1"},
		{reason: "whole", text: "1\n2\n", want: []int{1, 2}},
		{reason: "the same", text: "1\n2\n"},
		{reason: "grown", text: "1\n2\n3\n4", want: []int{3}},
		{reason: "refused", text: "1\n2\n3\n4\nx\n6\n", want: []int{4}, err: `line 5: strconv.Atoi: parsing "x"`},
		{reason: "refused again", text: "1\n2\n3\n4\nx\n", err: "line 5: strconv.Atoi"},
		{reason: "too long", text: "1\n2\n3\n4\n5555555555555555\n", err: "line 5: got more than 16 bytes, want a shorter line"},
		{reason: "as long as may be", text: "1\n2\n3\n4\n000000000000005\n", want: []int{5}},
		{reason: "truncated", text: "1\n2\n", anew: 1, want: []int{1, 2}},
		{reason: "replaced", text: "1\n3\n4\n", anew: 1, want: []int{1, 3, 4}},
		{reason: "gone", err: "no such file", anew: 1},
		{reason: "another", text: "7\n", want: []int{7}},
	} {
		require.NoError(t, os.WriteFile(path, []byte(row.text), 0o644))
		if row.err == "no such file" {
			require.NoError(t, os.Remove(path))
		}
		var got []int
		var err error
		anew := 0
		for n, wrong := range lines.ReadFile(path, &at, most, func() { anew++ }, number) {
			if err = wrong; err == nil {
				got = append(got, n)
			}
		}
		require.Equal(t, row.want, got, row.reason)
		require.Equal(t, row.anew, anew, row.reason)
		if row.err == "" {
			require.NoError(t, err, row.reason)
			continue
		}
		require.ErrorContains(t, err, path+": ", row.reason)
		require.Equal(t, row.err == "no such file", errors.Is(err, fs.ErrNotExist), row.reason)
		if !errors.Is(err, fs.ErrNotExist) {
			require.ErrorContains(t, err, row.err, row.reason)
		}
	}
	require.NoError(t, os.WriteFile(path, []byte("8\n9\n"), 0o644))
	at = lines.Place{}
	for want := 8; want < 10; want++ { // the place is behind the line that a caller has seen
		for n, err := range lines.ReadFile(path, &at, most, nil, number) {
			require.NoError(t, err)
			require.Equal(t, want, n)
			break
		}
	}
	require.Equal(t, 2, at.Lines)
}

// A file without line ends is not read whole.
func TestHostileFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lines")
	require.NoError(t, os.WriteFile(path, nil, 0o644))
	require.NoError(t, os.Truncate(path, 3<<30))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, err := range lines.ReadFile(path, new(lines.Place), 1<<16, nil, number) {
		require.EqualError(t, err, path+": line 1: got more than 65536 bytes, want a shorter line")
	}
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20))
}

// Changes of the file during a run are reported, and Rewrite repairs them.
func TestAppender(t *testing.T) {
	for _, row := range []struct {
		reason string
		spoil  func(path string) error
		moved  bool
		want   string
	}{
		{reason: "nothing", spoil: func(string) error { return nil }},
		{reason: "removed", spoil: os.Remove, moved: true, want: "got none or another file, want the one that the run writes: "},
		{reason: "replaced", spoil: func(path string) error {
			return errors.Join(os.Remove(path), os.WriteFile(path, []byte("9\n"), 0o644))
		}, moved: true, want: "got none or another file, want the one that the run writes: "},
		{reason: "truncated", spoil: func(path string) error { return os.Truncate(path, 1) },
			want: "got 1 bytes, want the 4 that the run has written: it was changed during the run"},
	} {
		dir, err := folder.Enter(t.TempDir())
		require.NoError(t, err)
		path := dir.Path("lines")
		require.NoError(t, os.WriteFile(path, []byte("1\n2\n3\n4"), 0o644))
		a, err := lines.Append(dir, "lines", most, 0)
		require.NoError(t, err)
		require.NoError(t, a.Truncate(2))
		require.NoError(t, a.Add(2))
		require.EqualError(t, a.Add("fourteen bytes"), "got a line of 16 bytes, want less than 16")
		require.NoError(t, row.spoil(path))
		require.Equal(t, !row.moved, a.InPlace(), row.reason)
		if changed := a.Changed(); row.want == "" {
			require.NoError(t, changed)
		} else {
			require.ErrorContains(t, changed, path+": "+row.want, row.reason)
		}
		require.NoError(t, a.Rewrite(func(w io.Writer) error {
			if row.moved { // the open file still has them
				_, err := io.Copy(w, a.Content())
				return err
			}
			_, err := io.WriteString(w, "1\n2\n")
			return err
		}))
		require.NoError(t, a.Changed(), row.reason)
		require.NoError(t, a.Add(3))
		require.NoError(t, a.Sync())
		require.Equal(t, int64(6), a.Size())
		require.NoError(t, a.Close())
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, "1\n2\n3\n", string(text), row.reason)
		require.NoError(t, dir.Close())
	}
}
