package serve

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"attention/cmd/attention/internal/view/follow"

	"github.com/stretchr/testify/require"
)

// The runs of a folder are listed, and each has its own page below the token. The server answers 404 for a name that is
// not a run of the folder, and no path leaves the folder.
func TestRunsOfAFolder(t *testing.T) {
	dir := t.TempDir()
	names := []string{"a b", "b%2f", "c", "d", "e"}
	for _, name := range names {
		require.NoError(t, os.CopyFS(filepath.Join(dir, name), os.DirFS("../testdata/run")))
	}
	all, err := follow.OpenFolder(dir)
	require.NoError(t, err)
	opened := 0
	s, err := New(Config{Addr: "127.0.0.1:0", Folder: all, Open: func(path string) (c Config, err error) {
		opened++
		c.Run, err = follow.Open(path)
		return c, err
	}})
	require.NoError(t, err)
	start(t, s)
	code, text, _ := ask(t, http.MethodGet, s.URL+"runs", "", nil)
	require.Equal(t, http.StatusOK, code)
	var listed []follow.Listed
	require.NoError(t, json.Unmarshal([]byte(text), &listed))
	require.Len(t, listed, 5)
	require.NotContains(t, text, "attention train", "no commands")
	for _, name := range names {
		at := s.URL + "at/" + url.PathEscape(name) + "/"
		code, text, _ = ask(t, http.MethodGet, at+"view", "", nil)
		require.Equal(t, http.StatusOK, code)
		require.Contains(t, text, `"training":true`)
		require.Contains(t, text, `"one":true`)
		code, text, _ = ask(t, http.MethodGet, at+"training", "", nil)
		require.Equal(t, http.StatusOK, code)
		require.Contains(t, text, `"steps":[{`)
		code, _, _ = ask(t, http.MethodGet, at+"main.js", "", nil)
		require.Equal(t, http.StatusOK, code)
		code, text, _ = ask(t, http.MethodGet, s.URL+"curves?run="+url.QueryEscape(name), "", nil)
		require.Equal(t, http.StatusOK, code)
		require.Contains(t, text, `"evaluations":[{`)
	}
	require.Equal(t, 5, opened)
	require.Len(t, s.opened.all, maxOpened)
	for _, path := range []string{"at/none/view", "at/../view", "at/%2e%2e/view", "at/a%20b%2f..%2fc/view", "at//view"} {
		code, _, _ = ask(t, http.MethodGet, s.URL+path, "", func(r *http.Request) { r.URL.Opaque = "" })
		require.Equal(t, http.StatusNotFound, code, path)
	}
	code, text, _ = ask(t, http.MethodGet, s.URL+"curves?run=..", "", nil)
	require.Equal(t, http.StatusBadRequest, code)
	require.Contains(t, text, `run: got \"..\", want one of 5 in `)
}

// A server without a folder does not answer requests about runs.
func TestNoFolder(t *testing.T) {
	s := served(t)
	for path, want := range map[string]int{"runs": http.StatusBadRequest, "curves?run=a": http.StatusBadRequest,
		"at/a/view": http.StatusNotFound, "reverse?text=abc": http.StatusBadRequest} {
		code, _, _ := ask(t, http.MethodGet, s.URL+path, "", nil)
		require.Equal(t, want, code, path)
	}
}
