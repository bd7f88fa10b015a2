package record

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"attention/internal/folder"

	"github.com/stretchr/testify/require"
)

// lineOf returns the line of a record of some parameters.
func lineOf(step, params int) string {
	var b strings.Builder
	fmt.Fprintf(&b, `{"step":%d,"params":[`, step)
	for i := range params {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, `{"name":"transformer.h.%d.attn.weight","norm":1.25,"change":0.0625,"change_from_start":0.5,`+
			`"gradient":%d.75}`, i, step)
	}
	return b.String() + "]}\n"
}

// Lines that were read are not read again; a file that was replaced or truncated is read from its beginning.
func TestReadGoesOn(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, LinesFile)
	write := func(text string) { require.NoError(t, os.WriteFile(path, []byte(text), 0o644)) }
	read := func(before *Recording, want ...int) *Recording {
		w, err := Read(t.Context(), dir, before)
		require.NoError(t, err)
		var got []int
		for _, r := range w.Records {
			got = append(got, r.Step)
			require.Len(t, r.Params, 3)
		}
		require.Equal(t, want, got)
		return w
	}
	largest := strings.Replace(lineOf(0, 3), "1.25", "3.4028235e+38", 1)
	write(largest)
	read(nil, 0)
	write("")
	empty := read(nil)
	write(lineOf(0, 3) + lineOf(5, 3))
	first := read(empty, 0, 5)
	require.Same(t, first, read(first, 0, 5))
	write(lineOf(0, 3) + lineOf(5, 3) + lineOf(10, 3)[:40])
	require.Same(t, first, read(first, 0, 5), "a line that is being written")
	write(strings.Replace(lineOf(0, 3), "transformer", "0.0.0.0.0.0", 1) + lineOf(5, 3) + lineOf(10, 3))
	second := read(first, 0, 5, 10)
	require.Equal(t, first.Records[0].Params[0].Name, second.Records[0].Params[0].Name, "the first line is not read again")
	require.Len(t, first.Records, 2)
	read(first, 0, 5, 10) // two continue one
	write(lineOf(0, 3) + lineOf(5, 3))
	require.Len(t, read(second, 0, 5).Records, 2, "cut")
	write(lineOf(1, 3))
	read(second, 1)
	require.NoError(t, os.Remove(path))
	_, err := Read(t.Context(), dir, second)
	require.ErrorIs(t, err, os.ErrNotExist)

	write(lineOf(0, 3))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = Read(ctx, dir, nil)
	require.ErrorIs(t, err, context.Canceled, "whoever asked has left")
	var none context.Context
	_, err = Read(none, dir, nil)
	require.EqualError(t, err, "train: record: context: got nil, want one")
}

// A file with more lines than a run writes is refused before it is read completely.
func TestReadRefusesALargeFile(t *testing.T) {
	dir := t.TempDir()
	line := strings.Replace(lineOf(0, 1), "transformer", strings.Repeat("x", 1<<19), 1)
	file, err := os.Create(filepath.Join(dir, LinesFile))
	require.NoError(t, err)
	for step := range 1 << 7 {
		_, err := file.WriteString(strings.Replace(line, `"step":0,`, fmt.Sprintf(`"step":%d,`, step), 1))
		require.NoError(t, err)
	}
	require.NoError(t, file.Close())
	_, err = Read(t.Context(), dir, nil)
	require.ErrorContains(t, err, ": line 64: got more than 33554432 bytes of lines, want a shorter file")
}

// The file never exceeds its limit, however many evaluations a run has and however long its lines are; records become
// rarer, but do not end.
func TestLinesAreBounded(t *testing.T) {
	for _, line := range []int64{2_000, 25_000, 400_000, folder.MaxWatchLine} {
		size, records, last, half := int64(0), 0, 0, 0
		const evaluations = 2_000_000
		for i := range evaluations {
			stride := sizeStride(size)
			if stride == 0 || i%max(recordStride(i), stride) != 0 {
				continue
			}
			size += line
			if records++; 2*size <= mostLines-mostLine {
				half = records
			}
			last = i
		}
		if 2*size > mostLines-mostLine && line > 2_000 {
			require.LessOrEqual(t, half, last, "all of the first ones")
			require.Equal(t, int((mostLines-mostLine)/2/line), half, "line of %d bytes", line)
		}
		require.LessOrEqual(t, size, int64(mostLines-mostLine), "room for the last record")
		require.Greater(t, last, 1000, "line of %d bytes", line)
		t.Logf("lines of %d bytes: %d records, the last one of evaluation %d, %d MiB", line, records, last, size>>20)
	}
}
