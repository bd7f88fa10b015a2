package main

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// rooms lists the packages of this module that each package may import, by their paths in the module. Code belongs to
// the lowest room whose terms it uses, and imports only go down.
var rooms = map[string]string{
	"internal/about":       "",
	"internal/parallel":    "",
	"internal/simd":        "",
	"internal/kernel":      `internal/parallel internal/simd`,
	"internal/expr":        "",
	"internal/shapes":      `internal/dense`,
	"internal/torchrand":   "",
	"internal/safetensors": `internal/config internal/folder internal/mapped internal/oneline`,
	"internal/gguf":        `internal/dense internal/folder internal/kernel internal/mapped internal/safetensors internal/simd`,
	"internal/config":      `internal/oneline`,
	"internal/apiwalk":     `internal/exports`,
	"internal/exports":     "",
	"internal/testenv":     "",
	"internal/golden":      `internal/dense internal/safetensors`,
	"internal/folder":      `internal/oneline`,
	"internal/lines":       `internal/folder internal/oneline`,
	"internal/oneline":     "",
	"internal/dense":       `internal/kernel internal/mapped internal/oneline`,
	"internal/mapped":      "",
	"internal/moved":       `internal/dense`,
	"internal/pattern":     "",
	"internal/refusal":     `internal/config`,
	"internal/tensorprint": "",
	"graph/mask":           `internal/config internal/dense internal/kernel`,
	"internal/stock":       `internal/dense internal/kernel internal/parallel`,
	"graph/machine":        `internal/dense internal/mapped internal/stock internal/expr internal/parallel internal/simd`,
	"graph/blas":           `internal/kernel`,
	"graph":                `graph/mask internal/config internal/dense internal/kernel internal/expr internal/parallel internal/simd`,
	"graph/gradcheck":      `graph/machine internal/dense internal/expr`,
	"graph/gradcases":      `graph graph/mask graph/gradcheck internal/dense internal/expr`,
	"layers": `graph graph/machine graph/mask internal/config internal/dense internal/expr internal/oneline
		internal/pattern internal/shapes internal/torchrand`,
	"layers/chapter": `layers graph graph/mask graph/machine internal/config internal/dense internal/expr
		internal/oneline`,
	"layers/gradcases": `layers layers/chapter graph graph/mask graph/gradcases graph/gradcheck`,
	"layers/heads":     `layers graph graph/mask internal/dense internal/expr`,
	"layers/apply": `layers layers/chapter graph graph/mask graph/machine internal/config internal/dense
		internal/folder internal/oneline internal/safetensors`,
	"layers/generate": `internal/config internal/expr layers graph graph/machine internal/dense internal/oneline`,
	"train": `layers graph graph/machine internal/config internal/dense internal/expr internal/kernel
		internal/pattern internal/shapes internal/parallel internal/simd`,
	"train/loop": `train layers graph internal/config internal/dense internal/expr
		internal/oneline internal/simd`,
	"train/checkpoint": `train train/loop layers graph internal/about internal/config internal/dense
		internal/folder internal/safetensors internal/oneline internal/simd`,
	"train/record": `train train/loop layers graph/machine internal/about internal/config internal/dense internal/expr
		internal/folder internal/kernel internal/lines internal/safetensors internal/oneline`,
	"train/metrics": `train train/loop train/checkpoint internal/folder internal/lines internal/oneline`,
	"internal/small": `train train/loop train/checkpoint train/parallel train/text layers layers/chapter
		graph internal/folder internal/golden internal/safetensors`,
	"train/tasks": `train`,
	"train/tasks/dates": `train train/tasks train/text layers graph graph/machine internal/config internal/dense
		internal/oneline`,
	"train/tasks/reversal": `train train/tasks layers graph internal/dense`,
	"train/tasks/tiles":    `train layers graph graph/mask`,
	"train/tasks/lookback": `train train/tasks train/text layers graph internal/dense`,
	"train/text": `train train/text/jinja layers graph internal/config internal/folder internal/gguf
		internal/oneline`,
	"train/text/jinja": "",
	"train/parallel":   `train internal/dense internal/kernel internal/oneline`,
	"train/pretrained": `train train/text layers graph graph/mask internal/config internal/dense
		internal/folder internal/gguf internal/safetensors internal/oneline internal/mapped`,
	"train/encoders": `train train/text train/pretrained layers graph internal/config internal/dense`,

	"cmd/attention/internal/term":    "cmd/attention/internal/program",
	"cmd/attention/internal/program": `internal/simd`,
	"cmd/attention/internal/flags":   `cmd/attention/internal/program graph`,
	"cmd/attention/internal/plot":    "",
	"cmd/attention/internal/commandtest": `cmd/attention/internal/flags cmd/attention/internal/plot
		cmd/attention/internal/program cmd/attention/internal/run/models cmd/attention/internal/run/settings
		train/checkpoint train/text train/tasks/dates train/pretrained layers layers/chapter graph`,
	"cmd/attention/internal/pictures": `cmd/attention/internal/plot layers train/record train/text`,
	"cmd/attention/internal/run/settings": `cmd/attention/internal/flags graph graph/mask internal/about
		internal/config internal/folder internal/gguf internal/pattern internal/safetensors layers layers/chapter train
		train/checkpoint train/loop train/text train/tasks/dates`,
	"cmd/attention/internal/run/models": `cmd/attention/internal/flags cmd/attention/internal/program
		cmd/attention/internal/run/settings internal/about internal/config internal/folder internal/gguf internal/oneline
		internal/safetensors layers layers/generate train train/checkpoint train/pretrained train/text
		train/tasks/dates`,
	"cmd/attention/internal/session": `cmd/attention/internal/flags cmd/attention/internal/pictures
		cmd/attention/internal/program cmd/attention/internal/run/models cmd/attention/internal/run/settings
		cmd/attention/internal/term train train/loop train/checkpoint train/metrics train/record train/parallel
		train/encoders layers graph internal/about internal/config internal/folder internal/oneline internal/simd`,

	"cmd/attention/internal/apply": `cmd/attention/internal/flags cmd/attention/internal/term
		internal/oneline layers/apply internal/safetensors internal/dense`,
	"cmd/attention/internal/bench": `cmd/attention/internal/flags cmd/attention/internal/program
		cmd/attention/internal/term train train/loop train/text layers layers/chapter graph graph/mask
		graph/machine internal/dense`,
	"cmd/attention/internal/chapter": `cmd/attention/internal/flags
		cmd/attention/internal/plot cmd/attention/internal/term
		internal/config internal/folder internal/oneline internal/tensorprint
		layers layers/chapter internal/dense`,
	"cmd/attention/internal/chat": `cmd/attention/internal/program cmd/attention/internal/run/models
		cmd/attention/internal/run/settings cmd/attention/internal/term train/text layers layers/generate
		internal/folder`,
	"cmd/attention/internal/embed": `cmd/attention/internal/program cmd/attention/internal/run/models
		cmd/attention/internal/run/settings cmd/attention/internal/term train/pretrained internal/safetensors`,
	"cmd/attention/internal/rank": `cmd/attention/internal/program cmd/attention/internal/run/models
		cmd/attention/internal/run/settings cmd/attention/internal/term train/pretrained`,
	"cmd/attention/internal/tag": `cmd/attention/internal/program cmd/attention/internal/run/models
		cmd/attention/internal/run/settings cmd/attention/internal/term train/pretrained`,
	"cmd/attention/internal/export": `cmd/attention/internal/program cmd/attention/internal/run/models
		cmd/attention/internal/run/settings cmd/attention/internal/term train/pretrained train/text`,
	"cmd/attention/internal/generate": `cmd/attention/internal/flags cmd/attention/internal/program
		cmd/attention/internal/run/models cmd/attention/internal/run/settings cmd/attention/internal/term train
		train/checkpoint train/text layers layers/generate internal/config`,
	"cmd/attention/internal/classify": `cmd/attention/internal/program cmd/attention/internal/run/models
		cmd/attention/internal/run/settings
		cmd/attention/internal/term`,
	"cmd/attention/internal/finetune": `graph cmd/attention/internal/flags cmd/attention/internal/program
		cmd/attention/internal/run/models cmd/attention/internal/run/settings cmd/attention/internal/session
		cmd/attention/internal/term cmd/attention/internal/view/live train train/loop train/checkpoint train/metrics
		train/text train/encoders train/pretrained layers layers/generate internal/config internal/folder internal/oneline
		internal/simd`,
	"cmd/attention/internal/tokenize": `cmd/attention/internal/run/settings cmd/attention/internal/term train/text
		internal/folder`,
	"cmd/attention/internal/gradcheck": `cmd/attention/internal/term layers/gradcases
		graph/gradcases graph/gradcheck`,
	"cmd/attention/internal/runs": `cmd/attention/internal/program cmd/attention/internal/run/models
		cmd/attention/internal/run/settings cmd/attention/internal/session cmd/attention/internal/term internal/folder
		internal/oneline`,
	"cmd/attention/internal/train": `cmd/attention/internal/flags cmd/attention/internal/plot
		cmd/attention/internal/program cmd/attention/internal/run/models cmd/attention/internal/run/settings
		cmd/attention/internal/session cmd/attention/internal/term cmd/attention/internal/view/live train train/loop
		train/checkpoint train/record train/text layers layers/generate layers/heads graph internal/dense internal/expr
		internal/folder internal/moved internal/oneline internal/tensorprint internal/simd`,
	"cmd/attention/internal/translate": `cmd/attention/internal/flags
		train/tasks/dates cmd/attention/internal/plot cmd/attention/internal/program cmd/attention/internal/run/models
		cmd/attention/internal/run/settings cmd/attention/internal/session cmd/attention/internal/term
		internal/folder internal/oneline train train/loop train/checkpoint train/record train/text layers`,
	"cmd/attention/internal/trials": `cmd/attention/internal/term internal/folder internal/parallel`,
	"cmd/attention/internal/why": `cmd/attention/internal/flags cmd/attention/internal/plot
		cmd/attention/internal/program cmd/attention/internal/term cmd/attention/internal/trials
		cmd/attention/internal/view/serve internal/dense internal/safetensors
		train train/loop train/tasks/reversal train/tasks/tiles layers`,
	"cmd/attention/internal/compare": `cmd/attention/internal/flags cmd/attention/internal/plot
		cmd/attention/internal/program cmd/attention/internal/run/settings cmd/attention/internal/term
		cmd/attention/internal/trials train train/loop train/tasks/lookback train/text layers layers/generate graph`,
	"cmd/attention/internal/view": `cmd/attention/internal/program cmd/attention/internal/run/models
		cmd/attention/internal/run/settings
		cmd/attention/internal/term cmd/attention/internal/view/examples cmd/attention/internal/view/follow
		cmd/attention/internal/view/forward cmd/attention/internal/view/serve internal/folder internal/oneline`,
	"cmd/attention/internal/view/examples": `internal/oneline`,
	"cmd/attention/internal/view/follow": `cmd/attention/internal/program cmd/attention/internal/run/models
		cmd/attention/internal/run/settings cmd/attention/internal/session internal/folder train train/loop
		train/metrics train/record`,
	"cmd/attention/internal/view/forward": `cmd/attention/internal/run/models
		cmd/attention/internal/run/settings train/tasks train/tasks/dates train/checkpoint train/pretrained train/text layers
		graph graph/machine graph/mask internal/config internal/expr layers/chapter layers/heads internal/dense`,
	"cmd/attention/internal/view/serve": `cmd/attention/internal/plot cmd/attention/internal/program
		cmd/attention/internal/view/follow cmd/attention/internal/view/forward cmd/attention/internal/view/web
		train/record train/tasks/reversal train/text internal/safetensors`,
	"cmd/attention/internal/view/live": `cmd/attention/internal/program cmd/attention/internal/run/models
		cmd/attention/internal/run/settings
		cmd/attention/internal/session cmd/attention/internal/term cmd/attention/internal/view/follow
		cmd/attention/internal/view/forward cmd/attention/internal/view/serve train/text internal/oneline`,
	"cmd/attention/internal/view/web": "",

	"cmd/attention": `cmd/attention/internal/apply cmd/attention/internal/bench cmd/attention/internal/chapter
		cmd/attention/internal/chat
		cmd/attention/internal/classify cmd/attention/internal/compare cmd/attention/internal/embed
		cmd/attention/internal/export cmd/attention/internal/finetune cmd/attention/internal/flags cmd/attention/internal/generate
		cmd/attention/internal/gradcheck
		cmd/attention/internal/program cmd/attention/internal/rank cmd/attention/internal/runs
		cmd/attention/internal/tag cmd/attention/internal/train
		cmd/attention/internal/tokenize cmd/attention/internal/translate cmd/attention/internal/why
		cmd/attention/internal/term
		cmd/attention/internal/view`,
}

// mayImport returns the packages of this module that a package may import. It also reports whether the package is in a
// room.
func mayImport(path string) (allowed []string, ok bool) {
	imports, ok := rooms[strings.TrimPrefix(path, "attention/")]
	for _, room := range strings.Fields(imports) {
		allowed = append(allowed, "attention/"+room)
	}
	return allowed, ok
}

// commandRooms returns the rooms of the program's commands: all packages that the program imports except three.
func commandRooms() []string {
	imported, _ := mayImport("attention/cmd/attention")
	return slices.DeleteFunc(imported, func(room string) bool {
		return slices.Contains([]string{"flags", "program", "term"}, path.Base(room))
	})
}

// forTests lists packages that only external tests of a room may import, in addition to the packages in rooms.
var forTests = map[string][]string{
	"attention/graph/gradcases":  {"attention/graph"},
	"attention/layers/gradcases": {"attention/layers", "attention/layers/heads"},
}

// listedPackage is a package as go list describes it.
type listedPackage struct {
	Dir, ImportPath                    string
	GoFiles, IgnoredGoFiles            []string // the second call is for other systems
	Imports, TestImports, XTestImports []string
}

// list lists the packages of this module.
var list = sync.OnceValues(func() (all []listedPackage, err error) {
	out, err := exec.Command("go", "list",
		"-json=Dir,ImportPath,GoFiles,IgnoredGoFiles,Imports,TestImports,XTestImports", "attention/...").Output()
	if err != nil {
		return nil, err
	}
	for dec := json.NewDecoder(bytes.NewReader(out)); dec.More(); {
		var p listedPackage
		if err := dec.Decode(&p); err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
})

func listPackages(t *testing.T) []listedPackage {
	all, err := list()
	require.NoError(t, err)
	return all
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

// No test uses the gradient cases of another room. No internal test imports those of its own room, because that would
// be an import cycle.
func TestGradientCasesServeTheirRoomsTests(t *testing.T) {
	used := 0
	for _, p := range listPackages(t) {
		for cases, rooms := range forTests {
			if allowed, _ := mayImport(p.ImportPath); slices.Contains(allowed, cases) || p.ImportPath == cases {
				continue
			}
			require.NotContains(t, p.TestImports, cases, "the tests inside %s", p.ImportPath)
			if slices.Contains(rooms, p.ImportPath) {
				require.Contains(t, p.XTestImports, cases, "the tests of %s", p.ImportPath)
				used++
				continue
			}
			require.NotContains(t, p.XTestImports, cases, "the tests of %s", p.ImportPath)
		}
	}
	require.Equal(t, 3, used)
}

// A package with random tests must import package draws: without it the tests leave files.
func TestRandomTestsLeaveNoFiles(t *testing.T) {
	random := 0
	for _, p := range listPackages(t) {
		tests := slices.Concat(p.TestImports, p.XTestImports)
		if slices.Contains(tests, "pgregory.net/rapid") {
			random++
			require.Contains(t, tests, "attention/internal/testenv", "the tests of %s", p.ImportPath)
		}
	}
	require.Greater(t, random, 5)
}

// A command imports no other command, not even in its tests.
func TestCommandsImportNoOtherCommand(t *testing.T) {
	commands := commandRooms()
	require.Contains(t, commands, "attention/cmd/attention/internal/train")
	for _, p := range listPackages(t) {
		if !slices.Contains(commands, p.ImportPath) {
			continue
		}
		for _, i := range slices.Concat(p.Imports, p.TestImports, p.XTestImports) {
			require.False(t, i != p.ImportPath && slices.Contains(commands, i), "%s imports %s", p.ImportPath, i)
		}
	}
}

// Package train does not import the packages below its folder.
func TestTrainImportsNoneOfItsRooms(t *testing.T) {
	for _, p := range listPackages(t) {
		if p.ImportPath == "attention/train" {
			for _, i := range p.Imports {
				require.False(t, strings.HasPrefix(i, "attention/train/"), "%s imports %s", p.ImportPath, i)
			}
			return
		}
	}
	t.Fatal("no package train")
}

// fileCalls are the functions of package os that open, write, remove or list files.
var fileCalls = strings.Fields(`Chmod Chown Chtimes CopyFS Create CreateTemp DirFS Link Mkdir MkdirAll MkdirTemp NewFile
	Open OpenFile OpenInRoot OpenRoot ReadDir ReadFile Remove RemoveAll Rename Symlink Truncate WriteFile`)

// ownFiles lists the packages and files that may open files themselves, with the reason.
var ownFiles = map[string]string{
	"internal/folder":                      "the room of files",
	"internal/golden":                      "reads test values, for tests only",
	"internal/apiwalk":                     "writes the table of its test, by go generate",
	"cmd/attention/internal/commandtest":   "for tests only",
	"cmd/attention/internal/bench":         "reads /proc/self/status",
	"cmd/attention/internal/program":       "reads /proc/self/smaps",
	"cmd/attention/internal/view/examples": "unpacks the models of the program",
	"train/parallel":                       "reads /proc/PID of the processes beside it",
}

// Files are opened, limited, written and removed in one package only, so that the same rules hold for all files.
func TestFilesAreOpenedInOneRoom(t *testing.T) {
	used := map[string]bool{}
	for _, s := range sources(t) {
		for _, call := range append(usesOf(s.file, "os", fileCalls),
			importsOf(s.file, "io/ioutil", "github.com/moby/sys/atomicwriter")...) {
			used[s.room] = true
			require.Contains(t, ownFiles, s.room, "%s uses %s: package folder does that", s.path, call)
		}
	}
	for room := range ownFiles {
		require.True(t, used[room], "%s opens no files any more", room)
	}
}

// Errors have one line, even if two operations fail at once.
func TestErrorsAreJoinedInOneRoom(t *testing.T) {
	for _, s := range sources(t) {
		require.Empty(t, usesOf(s.file, "errors", []string{"Join"}), "%s: package oneline does that", s.path)
	}
}

// source is a Go file of the module that is no test.
type source struct {
	room, path string
	file       *ast.File
}

// parsed holds the sources after they are parsed for the first time.
var parsed []source

func sources(t *testing.T) []source {
	if parsed != nil {
		return parsed
	}
	for _, p := range listPackages(t) {
		for _, name := range slices.Concat(p.GoFiles, p.IgnoredGoFiles) {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			path := filepath.Join(p.Dir, name)
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			require.NoError(t, err)
			parsed = append(parsed, source{strings.TrimPrefix(p.ImportPath, "attention/"), path, file})
		}
	}
	return parsed
}

// usesOf returns the uses of some names of a standard package in a Go file.
func usesOf(file *ast.File, library string, names []string) (uses []string) {
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
func importsOf(file *ast.File, packages ...string) (imports []string) {
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
