package program

import (
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"attention/internal/simd"

	"github.com/stretchr/testify/require"
)

func TestVersion(t *testing.T) {
	require.Regexp(t, ` go1\.\S+ `+runtime.GOOS+"/"+runtime.GOARCH+" "+simd.InstructionSet()+"$", Version())
}

func TestVersionOf(t *testing.T) {
	const revision = "1fe6aca0123456789"
	build := func(version string, settings ...debug.BuildSetting) *debug.BuildInfo {
		return &debug.BuildInfo{Main: debug.Module{Version: version}, Settings: settings}
	}
	at, modified := debug.BuildSetting{Key: "vcs.revision", Value: revision},
		debug.BuildSetting{Key: "vcs.modified", Value: "true"}
	for _, row := range []struct {
		reason string
		info   *debug.BuildInfo
		want   string
	}{
		{reason: "of a test", info: build(""), want: "(devel)"},
		{reason: "of go run", info: build("(devel)"), want: "(devel)"},
		{reason: "of a tag", info: build("v1.2.0"), want: "v1.2.0"},
		{reason: "of a clone", info: build("(devel)", at), want: "(devel) 1fe6aca01234"},
		{reason: "of a changed clone", info: build("(devel)", at, modified), want: "(devel) 1fe6aca01234+dirty"},
		{reason: "of a clone, by a newer Go", info: build("v0.0.0-20260101000000-1fe6aca01234+dirty", at, modified),
			want: "v0.0.0-20260101000000-1fe6aca01234+dirty"},
	} {
		require.Equal(t, row.want, versionOf(row.info), row.reason)
	}
}

func TestNameOf(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	temporary := filepath.Join(t.TempDir(), "go-build12", "b001", "exe", "attention")
	for _, row := range []struct {
		reason, onPath, typed, want string
	}{
		{reason: "installed", onPath: self, typed: "attention", want: "attention"},
		{reason: "installed, but typed as a path", onPath: self, typed: "/home/me/go/bin/attention", want: "attention"},
		{reason: "by go run", typed: temporary, want: "go run ./cmd/attention"},
		{reason: "by go run, again", typed: "/cache/96/" + strings.Repeat("9a", 32) + "-d/attention",
			want: "go run ./cmd/attention"},
		{reason: "by go run, beside another program of that name", onPath: os.DevNull, typed: temporary,
			want: "go run ./cmd/attention"},
		{reason: "built here", typed: "./attention", want: "./attention"},
		{reason: "a path with a blank", typed: "./my program", want: "'./my program'"},
		{reason: "a test", typed: "/tmp/go-build12/b001/program.test", want: "/tmp/go-build12/b001/program.test"},
	} {
		bin := t.TempDir()
		if row.onPath != "" {
			require.NoError(t, os.Symlink(row.onPath, filepath.Join(bin, "attention")))
		}
		t.Setenv("PATH", bin)
		require.Equal(t, row.want, NameOf(row.typed), row.reason)
	}
}

func TestShell(t *testing.T) {
	require.Equal(t, "train --resume runs/1", Shell("train", "--resume", "runs/1"))
	require.Equal(t, `--resume 'it'\''s a run' ''`, Shell("--resume", "it's a run", ""))
	require.Equal(t, "attention train", Command("train"))
}
