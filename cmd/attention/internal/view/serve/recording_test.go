package serve

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"attention/cmd/attention/internal/view/follow"
	"attention/train/record"

	"github.com/stretchr/testify/require"
)

// The recording of a run is packed once for all readers, and packed again when it has grown. A reader who has
// disconnected gets nothing.
func TestRecordingIsPackedOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	require.NoError(t, os.CopyFS(dir, os.DirFS("../testdata/run")))
	r, err := follow.Open(dir)
	require.NoError(t, err)
	s := &Server{config: Config{Run: r}}
	ask := func(ctx context.Context) (bytesPacked, error) {
		got, err := s.recording(new(http.Request).WithContext(ctx))
		if err != nil {
			return nil, err
		}
		return got.(bytesPacked), nil
	}
	left, leave := context.WithCancel(t.Context())
	leave()
	_, err = ask(left)
	require.ErrorIs(t, err, context.Canceled)
	require.Nil(t, s.moves.of)
	first, err := ask(t.Context())
	require.NoError(t, err)
	second, err := ask(t.Context())
	require.NoError(t, err)
	require.Same(t, &first[0], &second[0])

	path := filepath.Join(dir, record.LinesFile)
	lines, err := os.ReadFile(path)
	require.NoError(t, err)
	more := []byte(`{"step":41,"params":[{"name":"w","norm":1,"change":null,"change_from_start":0,"gradient":null}]}` + "\n")
	require.NoError(t, os.WriteFile(path, append(lines, more...), 0o644))
	third, err := ask(t.Context())
	require.NoError(t, err)
	require.Greater(t, len(third), len(first))
	require.NoError(t, os.WriteFile(path, nil, 0o644))
	none, err := ask(t.Context())
	require.NoError(t, err)
	require.Contains(t, string(none), `"records":[]`, "a file without a record")
}
