package program

import (
	"runtime"
	"runtime/debug"
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
