package program

import (
	"cmp"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"attention/internal/simd"
)

// Version returns the version of the program, of Go, the system and the instruction set that the kernels use.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return strings.Join([]string{
		versionOf(info), cmp.Or(info.GoVersion, runtime.Version()), runtime.GOOS + "/" + runtime.GOARCH,
		simd.InstructionSet(),
	}, " ")
}

// versionOf returns the version of the module. A module without one has the development version, with the revision if
// the build recorded it.
func versionOf(info *debug.BuildInfo) string {
	version, settings := cmp.Or(info.Main.Version, "(devel)"), map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	revision := settings["vcs.revision"]
	if revision == "" || strings.Contains(version, revision[:min(12, len(revision))]) { // as a pseudo-version has it
		return version
	}
	version += " " + revision[:min(12, len(revision))]
	if settings["vcs.modified"] == "true" {
		version += "+dirty"
	}
	return version
}

// Now returns the time. Tests replace it.
var Now = time.Now

// Since returns the time since t by Now.
func Since(t time.Time) time.Duration { return Now().Sub(t) }
