package main

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// rooms lists the packages of this module that each package may import. A line of code
// belongs to the lowest room whose nouns it uses; imports go down, never up.
var rooms = map[string][]string{
	"attention/internal/kernel":      {},
	"attention/internal/expr":        {},
	"attention/internal/torchrand":   {},
	"attention/internal/safetensors": {},
	"attention/internal/config":      {},
	"attention/internal/exports":     {},
	"attention/internal/golden":      {"attention/internal/safetensors"},
	"attention/internal/folder":      {"attention/internal/safetensors"},
	"attention/internal/dense":       {},
	"attention/internal/tensorprint": {},
	"attention/graph/mask":           {"attention/internal/config", "attention/internal/dense", "attention/internal/kernel"},
	"attention/graph/machine":        {"attention/internal/kernel"},
	"attention/graph":                {"attention/graph/mask", "attention/internal/config", "attention/internal/dense", "attention/internal/kernel", "attention/internal/expr"},
	"attention/graph/gradcheck":      {"attention/graph", "attention/graph/machine"},
	"attention/graph/gradcases":      {"attention/graph", "attention/graph/mask", "attention/graph/gradcheck"},
	"attention/layers":               {"attention/graph", "attention/graph/mask", "attention/internal/config", "attention/internal/expr", "attention/internal/torchrand"},
	"attention/layers/chapter":       {"attention/layers", "attention/graph", "attention/graph/mask", "attention/graph/machine", "attention/internal/config", "attention/internal/expr"},
	"attention/layers/gradcases":     {"attention/layers", "attention/layers/chapter", "attention/graph", "attention/graph/mask", "attention/graph/gradcases", "attention/graph/gradcheck"},
	"attention/layers/generate":      {"attention/internal/config", "attention/layers", "attention/graph", "attention/graph/machine"},
	"attention/train": {"attention/layers", "attention/graph", "attention/graph/machine",
		"attention/internal/config", "attention/internal/folder", "attention/internal/kernel", "attention/internal/safetensors"},
	"attention/train/text":       {"attention/train", "attention/layers", "attention/graph", "attention/internal/config"},
	"attention/train/pretrained": {"attention/train/text", "attention/layers", "attention/internal/config", "attention/internal/safetensors"},

	"attention/cmd/attention/internal/term":        {},
	"attention/cmd/attention/internal/flags":       {},
	"attention/cmd/attention/internal/plot":        {},
	"attention/cmd/attention/internal/commandtest": {"attention/train", "attention/train/text", "attention/train/pretrained", "attention/layers", "attention/layers/chapter"},
	"attention/cmd/attention/internal/run": {"attention/train", "attention/train/text", "attention/train/pretrained",
		"attention/layers", "attention/layers/chapter", "attention/layers/generate", "attention/internal/config", "attention/internal/folder", "attention/internal/safetensors"},

	"attention/cmd/attention/internal/apply": {"attention/internal/config", "attention/layers", "attention/layers/chapter", "attention/graph", "attention/graph/mask", "attention/graph/machine", "attention/internal/safetensors"},
	"attention/cmd/attention/internal/bench": {"attention/cmd/attention/internal/flags", "attention/train", "attention/train/text", "attention/layers", "attention/graph", "attention/graph/mask", "attention/graph/machine",
		"attention/internal/kernel"},
	"attention/cmd/attention/internal/chapter": {"attention/cmd/attention/internal/flags", "attention/internal/tensorprint", "attention/layers/chapter"},
	"attention/cmd/attention/internal/export":  {"attention/cmd/attention/internal/flags", "attention/cmd/attention/internal/run", "attention/train/pretrained"},
	"attention/cmd/attention/internal/generate": {"attention/cmd/attention/internal/flags", "attention/cmd/attention/internal/run", "attention/cmd/attention/internal/term",
		"attention/train", "attention/train/text", "attention/train/pretrained", "attention/layers", "attention/layers/generate", "attention/internal/config"},
	"attention/cmd/attention/internal/gradcheck": {"attention/cmd/attention/internal/term",
		"attention/layers/gradcases", "attention/graph/gradcases", "attention/graph/gradcheck"},
	"attention/cmd/attention/internal/train": {"attention/cmd/attention/internal/flags", "attention/cmd/attention/internal/plot", "attention/cmd/attention/internal/run",
		"attention/internal/tensorprint", "attention/cmd/attention/internal/term",
		"attention/train", "attention/train/text", "attention/layers", "attention/layers/chapter", "attention/layers/generate", "attention/graph", "attention/graph/machine"},
	"attention/cmd/attention/internal/translate": {"attention/cmd/attention/internal/flags", "attention/cmd/attention/internal/plot", "attention/cmd/attention/internal/run",
		"attention/internal/tensorprint", "attention/cmd/attention/internal/term",
		"attention/train", "attention/train/text", "attention/layers", "attention/graph", "attention/graph/machine"},

	"attention/cmd/attention": append(commandRooms(), "attention/cmd/attention/internal/term"),
}

// commandRooms returns the rooms of the program's commands. None imports another, in its tests neither.
func commandRooms() (rooms []string) {
	for _, name := range []string{"apply", "bench", "chapter", "export", "generate", "gradcheck", "train", "translate"} {
		rooms = append(rooms, "attention/cmd/attention/internal/"+name)
	}
	return rooms
}

// forTests lists packages that, apart from rooms, only the external tests of one room may
// import.
var forTests = map[string]string{
	"attention/graph/gradcases":  "attention/graph",
	"attention/layers/gradcases": "attention/layers",
}

// listedPackage is a package as go list describes it.
type listedPackage struct {
	ImportPath                         string
	GoFiles, IgnoredGoFiles            []string // the second for other systems
	Imports, TestImports, XTestImports []string
}

func listPackages(t *testing.T) (all []listedPackage) {
	out, err := exec.Command("go", "list",
		"-json=ImportPath,GoFiles,IgnoredGoFiles,Imports,TestImports,XTestImports", "attention/...").Output()
	require.NoError(t, err)
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listedPackage
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else {
			require.NoError(t, err)
		}
		all = append(all, p)
	}
}

func TestRoomsImportOnlyWhatTheyMay(t *testing.T) {
	packages := listPackages(t)
	for _, p := range packages {
		allowed, ok := rooms[p.ImportPath]
		require.True(t, ok, "%s is in no room: add it to the plan", p.ImportPath)
		for _, i := range p.Imports {
			if strings.HasPrefix(i, "attention/") {
				require.True(t, slices.Contains(allowed, i), "%s may not import %s", p.ImportPath, i)
			}
		}
	}
	require.Equal(t, len(rooms), len(packages), "rooms that are not there any more")
}

// No test uses the gradient cases of another room, and no internal test imports those of
// its own, which would be a cycle.
func TestGradientCasesServeTheirRoomsTests(t *testing.T) {
	used := map[string]bool{}
	for _, p := range listPackages(t) {
		for cases, room := range forTests {
			if slices.Contains(rooms[p.ImportPath], cases) || p.ImportPath == cases {
				continue
			}
			require.NotContains(t, p.TestImports, cases, "the tests inside %s", p.ImportPath)
			if p.ImportPath == room {
				require.Contains(t, p.XTestImports, cases, "the tests of %s", room)
				used[cases] = true
				continue
			}
			require.NotContains(t, p.XTestImports, cases, "the tests of %s", p.ImportPath)
		}
	}
	require.Len(t, used, len(forTests))
}

func TestCommandsImportNoOtherCommand(t *testing.T) {
	commands := commandRooms()
	for _, p := range listPackages(t) {
		if !slices.Contains(commands, p.ImportPath) {
			continue
		}
		for _, i := range slices.Concat(p.Imports, p.TestImports, p.XTestImports) {
			require.False(t, i != p.ImportPath && slices.Contains(commands, i), "%s imports %s", p.ImportPath, i)
		}
	}
}

// Each command has its own package.
func TestProgramIsSmall(t *testing.T) {
	for _, p := range listPackages(t) {
		if p.ImportPath == "attention/cmd/attention" {
			require.LessOrEqual(t, len(p.GoFiles)+len(p.IgnoredGoFiles), 3)
			return
		}
	}
	t.Fatal("no program")
}
