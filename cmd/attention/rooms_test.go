package main

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// rooms lists the packages of this module that each package may import, by their paths in the module. A line of code
// belongs to the lowest room whose nouns it uses; imports go down, never up.
var rooms = map[string]string{
	"internal/kernel":      "",
	"internal/expr":        "",
	"internal/torchrand":   "",
	"internal/safetensors": `internal/config internal/folder`,
	"internal/config":      "",
	"internal/apiwalk":     `internal/exports`,
	"internal/exports":     "",
	"internal/golden":      `internal/safetensors`,
	"internal/folder":      `internal/oneline`,
	"internal/oneline":     "",
	"internal/dense":       "",
	"internal/pattern":     "",
	"internal/tensorprint": "",
	"graph/mask":           `internal/config internal/dense internal/kernel`,
	"internal/stock":       `internal/dense internal/kernel`,
	"graph/machine":        `internal/dense internal/kernel internal/stock`,
	"graph/blas":           `internal/kernel`,
	"graph":                `graph/mask internal/config internal/dense internal/kernel internal/expr`,
	"graph/gradcheck":      `graph graph/machine`,
	"graph/gradcases":      `graph graph/mask graph/gradcheck internal/dense internal/expr`,
	"layers": `graph graph/mask internal/config internal/dense internal/expr internal/pattern
		internal/torchrand`,
	"layers/chapter": `layers graph graph/mask graph/machine internal/config internal/dense internal/expr
		internal/oneline`,
	"layers/gradcases": `layers layers/chapter graph graph/mask graph/gradcases graph/gradcheck`,
	"layers/generate":  `internal/config internal/stock layers graph graph/machine internal/oneline`,
	"train": `layers graph graph/machine internal/config internal/dense internal/folder internal/kernel
		internal/pattern internal/safetensors internal/stock internal/oneline`,
	"train/text":       `train layers graph internal/config`,
	"train/parallel":   "",
	"train/pretrained": `train train/text layers internal/config internal/folder internal/safetensors internal/oneline`,

	"cmd/attention/internal/term":    "",
	"cmd/attention/internal/program": `internal/kernel`,
	"cmd/attention/internal/flags":   `cmd/attention/internal/program graph`,
	"cmd/attention/internal/plot":    "",
	"cmd/attention/internal/diagram": `cmd/attention/internal/plot`,
	"cmd/attention/internal/commandtest": `cmd/attention/internal/program
		train train/text train/pretrained layers layers/chapter`,
	"cmd/attention/internal/run": `cmd/attention/internal/flags cmd/attention/internal/plot
		cmd/attention/internal/program cmd/attention/internal/term graph train train/text train/pretrained layers layers/chapter layers/generate
		internal/config internal/folder internal/kernel internal/pattern internal/safetensors
		internal/oneline`,

	"cmd/attention/internal/apply": `cmd/attention/internal/flags cmd/attention/internal/term internal/config
		internal/folder
		layers layers/chapter graph graph/mask graph/machine internal/safetensors internal/oneline`,
	"cmd/attention/internal/bench": `cmd/attention/internal/flags cmd/attention/internal/program
		cmd/attention/internal/term train train/text layers layers/chapter graph graph/mask
		graph/machine internal/kernel`,
	"cmd/attention/internal/chapter": `cmd/attention/internal/diagram cmd/attention/internal/flags
		cmd/attention/internal/plot cmd/attention/internal/term
		internal/config internal/folder internal/oneline internal/tensorprint
		layers layers/chapter graph graph/mask`,
	"cmd/attention/internal/export": `cmd/attention/internal/flags cmd/attention/internal/run train/pretrained`,
	"cmd/attention/internal/generate": `cmd/attention/internal/flags cmd/attention/internal/program
		cmd/attention/internal/run cmd/attention/internal/term train train/text layers layers/generate graph/machine`,
	"cmd/attention/internal/gradcheck": `cmd/attention/internal/flags cmd/attention/internal/term layers/gradcases
		graph/gradcases graph/gradcheck`,
	"cmd/attention/internal/runs": `cmd/attention/internal/flags cmd/attention/internal/program
		cmd/attention/internal/run cmd/attention/internal/term internal/folder`,
	"cmd/attention/internal/train": `cmd/attention/internal/flags cmd/attention/internal/plot
		cmd/attention/internal/program cmd/attention/internal/run internal/tensorprint cmd/attention/internal/term train
		cmd/attention/internal/view/follow cmd/attention/internal/view/look cmd/attention/internal/view/serve
		train/parallel train/text layers layers/chapter layers/generate graph graph/machine internal/folder
		internal/stock internal/oneline`,
	"cmd/attention/internal/dates": `cmd/attention/internal/run internal/config internal/folder internal/oneline
		internal/tensorprint train train/text layers graph graph/machine`,
	"cmd/attention/internal/translate": `cmd/attention/internal/flags cmd/attention/internal/dates
		cmd/attention/internal/plot cmd/attention/internal/program cmd/attention/internal/run
		cmd/attention/internal/term internal/folder internal/oneline internal/tensorprint train layers graph/machine`,
	"cmd/attention/internal/why": `cmd/attention/internal/flags cmd/attention/internal/plot cmd/attention/internal/program
		cmd/attention/internal/run cmd/attention/internal/term internal/folder internal/tensorprint
		train layers graph graph/machine graph/mask internal/kernel`,
	"cmd/attention/internal/view": `cmd/attention/internal/flags cmd/attention/internal/run
		cmd/attention/internal/view/follow cmd/attention/internal/view/look cmd/attention/internal/view/serve
		internal/folder`,
	"cmd/attention/internal/view/follow": `cmd/attention/internal/program cmd/attention/internal/run train`,
	"cmd/attention/internal/view/look": `cmd/attention/internal/dates cmd/attention/internal/run train train/text layers
		graph graph/blas graph/machine graph/mask internal/config internal/kernel internal/stock
		internal/tensorprint layers/chapter`,
	"cmd/attention/internal/view/serve": `cmd/attention/internal/program cmd/attention/internal/run
		cmd/attention/internal/view/follow cmd/attention/internal/view/look cmd/attention/internal/view/web train`,
	"cmd/attention/internal/view/web": "",

	"cmd/attention": `cmd/attention/internal/apply cmd/attention/internal/bench cmd/attention/internal/chapter
		cmd/attention/internal/export cmd/attention/internal/generate cmd/attention/internal/gradcheck
		cmd/attention/internal/program cmd/attention/internal/runs cmd/attention/internal/train
		cmd/attention/internal/translate cmd/attention/internal/why cmd/attention/internal/term
		cmd/attention/internal/view`,
}

// mayImport returns the packages of this module that a package may import, and reports whether it is in a room.
func mayImport(path string) (allowed []string, ok bool) {
	imports, ok := rooms[strings.TrimPrefix(path, "attention/")]
	for _, room := range strings.Fields(imports) {
		allowed = append(allowed, "attention/"+room)
	}
	return allowed, ok
}

// commandRooms returns the rooms of the program's commands. None imports another, in its tests neither.
func commandRooms() (rooms []string) {
	for _, name := range []string{"apply", "bench", "chapter", "export", "generate", "gradcheck", "runs", "train",
		"translate", "view", "why"} {
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
	Dir, ImportPath                    string
	GoFiles, IgnoredGoFiles            []string // the second for other systems
	Imports, TestImports, XTestImports []string
}

func listPackages(t *testing.T) (all []listedPackage) {
	out, err := exec.Command("go", "list",
		"-json=Dir,ImportPath,GoFiles,IgnoredGoFiles,Imports,TestImports,XTestImports", "attention/...").Output()
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
		allowed, ok := mayImport(p.ImportPath)
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
			if allowed, _ := mayImport(p.ImportPath); slices.Contains(allowed, cases) || p.ImportPath == cases {
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

// fileCalls are the functions of package os that open, write, remove or list files.
var fileCalls = strings.Fields(`Chmod Chown Chtimes CopyFS Create CreateTemp DirFS Link Mkdir MkdirAll MkdirTemp NewFile
	Open OpenFile OpenInRoot OpenRoot ReadDir ReadFile Remove RemoveAll Rename Symlink Truncate WriteFile`)

// ownFiles lists the packages, and files of packages, that open files themselves, with the reason.
var ownFiles = map[string]string{
	"internal/folder":                    "the room of files",
	"internal/golden":                    "reads test values, for tests only",
	"internal/apiwalk":                   "writes the table of its test, by go generate",
	"cmd/attention/internal/commandtest": "for tests only",
	"cmd/attention/internal/bench":       "reads /proc/self/status",
}

// Files are opened, limited, written and removed in one room, so that what is true of one file is true of all.
func TestFilesAreOpenedInOneRoom(t *testing.T) {
	used := map[string]bool{}
	forEachFile(t, func(room, path string) {
		for _, call := range append(usesOf(t, path, "os", fileCalls),
			importsOf(t, path, "io/ioutil", "github.com/moby/sys/atomicwriter")...) {
			used[room] = true
			require.Contains(t, ownFiles, room, "%s uses %s: package folder does that", path, call)
		}
	})
	for room := range ownFiles {
		require.True(t, used[room], "%s opens no files any more", room)
	}
}

// Errors have one line, also where two things fail at once.
func TestErrorsAreJoinedInOneRoom(t *testing.T) {
	forEachFile(t, func(_, path string) {
		require.Empty(t, usesOf(t, path, "errors", []string{"Join"}), "%s: package oneline does that", path)
	})
}

// forEachFile calls f with every Go file of the module that is no test, and its room.
func forEachFile(t *testing.T, f func(room, path string)) {
	for _, p := range listPackages(t) {
		for _, name := range slices.Concat(p.GoFiles, p.IgnoredGoFiles) {
			if !strings.HasSuffix(name, "_test.go") {
				f(strings.TrimPrefix(p.ImportPath, "attention/"), filepath.Join(p.Dir, name))
			}
		}
	}
}

// usesOf returns the uses of some names of a package of the standard library in a Go file.
func usesOf(t *testing.T, path, library string, names []string) (uses []string) {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	require.NoError(t, err)
	called := ""
	for _, i := range file.Imports {
		if i.Path.Value == strconv.Quote(library) {
			called = library
			if i.Name != nil {
				called = i.Name.Name
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if of, ok := s.X.(*ast.Ident); ok && of.Name == called && slices.Contains(names, s.Sel.Name) {
				uses = append(uses, library+"."+s.Sel.Name)
			}
		}
		return true
	})
	return uses
}

// importsOf returns those of some packages that a Go file imports.
func importsOf(t *testing.T, path string, packages ...string) (imports []string) {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
	require.NoError(t, err)
	for _, i := range file.Imports {
		if slices.Contains(packages, strings.Trim(i.Path.Value, `"`)) {
			imports = append(imports, i.Path.Value)
		}
	}
	return imports
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
