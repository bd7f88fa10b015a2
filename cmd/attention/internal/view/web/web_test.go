package web

import (
	"encoding/base64"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// The committed bundle of other authors' code equals the output for its source, byte for byte.
func TestBundleIsThatOfItsSource(t *testing.T) {
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("there is no node, which makes the bundle")
	}
	if _, err := os.Stat("node_modules/esbuild"); err != nil {
		t.Skip("there are no packages to make the bundle with: npm ci in cmd/attention/internal/view/web installs them")
	}
	out := t.TempDir()
	text, err := exec.Command("node", "build.mjs", out).CombinedOutput()
	require.NoError(t, err, "%s", text)
	made, err := os.ReadDir(out)
	require.NoError(t, err)
	kept, err := os.ReadDir("dist")
	require.NoError(t, err)
	require.Len(t, made, len(kept))
	for _, f := range made {
		want, err := os.ReadFile(filepath.Join(out, f.Name()))
		require.NoError(t, err)
		got, err := os.ReadFile(filepath.Join("dist", f.Name()))
		require.NoError(t, err)
		require.True(t, string(want) == string(got), "dist/%s is another: go generate ./cmd/attention/internal/view/web",
			f.Name())
	}
}

// All assets exist, with the licences of the packages, and the lock file names no registry.
func TestAssets(t *testing.T) {
	for path := range files {
		text, err := File(path)
		require.NoError(t, err, path)
		require.NotEmpty(t, text)
	}
	for _, path := range []string{"/", "/app.css", "/icon.svg", "/main.js", "/d3.js"} {
		require.Contains(t, files, path)
	}
	require.Equal(t, "dist/d3.js", files["/d3.js"].name)
	licences, err := File("/licences.txt")
	require.NoError(t, err)
	require.Contains(t, string(licences), "d3-zoom 3.0.1 (")
	lock, err := os.ReadFile("package-lock.json")
	require.NoError(t, err)
	require.NotContains(t, string(lock), "://registry")
	require.NotContains(t, string(lock), `"resolved"`)
}

// The modules of a page in one file import only each other, by the names of the import map.
func TestModules(t *testing.T) {
	all, err := Modules()
	require.NoError(t, err)
	for name, url := range all {
		coded, ok := strings.CutPrefix(url, "data:text/javascript;base64,")
		require.True(t, ok, name)
		text, err := base64.StdEncoding.DecodeString(coded)
		require.NoError(t, err)
		for _, found := range regexp.MustCompile(`(?m)^(?:import|\} from|export).* '(.*)';$`).FindAllStringSubmatch(string(text), -1) {
			require.Contains(t, all, found[1], "imported by %s", name)
		}
	}
	require.Contains(t, all, "page/panels/training.js")
}

// The lines of modules and of the style have at most 120 characters, and a module has at most 250 lines.
func TestLinesAreShort(t *testing.T) {
	for url, f := range files {
		if strings.HasPrefix(f.name, "dist/") || path.Ext(url) == ".svg" {
			continue
		}
		text, err := File(url)
		require.NoError(t, err)
		if path.Ext(url) == ".js" {
			require.LessOrEqual(t, strings.Count(string(text), "\n"), 250, f.name)
		}
		for i, line := range strings.Split(string(text), "\n") {
			require.LessOrEqual(t, utf8.RuneCountInString(line), 120, "%s:%d", f.name, i+1)
		}
	}
}
