package layers_test

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"attention/internal/golden"
	"attention/layers"

	"github.com/stretchr/testify/require"
)

// TestReadmePrograms builds and runs the Go blocks of this folder's README and of the cookbook as they stand. Each
// prints the text that follows it.
func TestReadmePrograms(t *testing.T) {
	program := regexp.MustCompile("(?s)```go\n(.*?)```\n(?:.*?)```text\n(.*?)```\n")
	for _, path := range []string{"README.md", "cookbook.md"} {
		content := must(os.ReadFile(path))
		blocks := program.FindAllStringSubmatch(string(content), -1)
		require.Equal(t, strings.Count(string(content), "```go\n"), len(blocks))
		for i, block := range blocks {
			t.Run(fmt.Sprintf("%s %d", path, i+1), func(t *testing.T) {
				t.Parallel()
				formatted := must(format.Source([]byte(block[1])))
				require.Equal(t, string(formatted), block[1])
				path := filepath.Join(t.TempDir(), "main.go")
				require.NoError(t, os.WriteFile(path, formatted, 0o644))
				printed, err := exec.Command("go", "run", path).CombinedOutput()
				require.NoError(t, err, "%s", printed)
				require.Equal(t, block[2], string(printed))
			})
		}
	}
}

// TestReadmeNames type-checks the Go expressions of the READMEs: what begins with a package, and all in the last column
// of the tables of this folder's but words of other libraries, which have small letters only.
func TestReadmeNames(t *testing.T) {
	scope := newReadmeScope(t)
	code := regexp.MustCompile("`([^`]+)`")
	theirs := regexp.MustCompile(`^[a-z_*]+$`)
	ours := regexp.MustCompile(`^(graph|mask|machine|gradcheck|layers|chapter|generate|heads|train|loop|checkpoint|record|parallel|text|pretrained)\.[A-Z]`)
	bare := regexp.MustCompile("Bare names are fields of `([a-zA-Z.]+)`")
	checked := 0
	for _, path := range []string{"../README.md", "README.md", "chapter/README.md", "chapter/afterbook.md",
		"names.md", "cookbook.md", "../cmd/attention/README.md", "../cmd/attention/benchmarks.md"} {
		content := must(os.ReadFile(path))
		text := regexp.MustCompile("(?ms)^```.*?^```$").ReplaceAllStringFunc(string(content), func(block string) string {
			return strings.Repeat("\n", strings.Count(block, "\n")) // code blocks have tests of their own
		})
		config := "layers.AttentionConfig"
		lines := strings.Split(text, "\n")
		for i, line := range lines {
			at := fmt.Sprintf("%s:%d", path, i+1)
			if strings.HasPrefix(line, "#") {
				config = "layers.AttentionConfig"
			}
			if match := bare.FindStringSubmatch(strings.Join(lines[i:min(i+2, len(lines))], " ")); match != nil {
				config = match[1]
			}
			cells := strings.Split(strings.Trim(line, "|"), "|")
			table := (path == "README.md" || path == "names.md") && strings.HasPrefix(line, "|")
			for column, cell := range cells {
				last := column == len(cells)-1
				for _, match := range code.FindAllStringSubmatch(cell, -1) {
					if ours.MatchString(match[1]) || table && last && !theirs.MatchString(match[1]) {
						require.NoError(t, scope.check(match[1], config), at)
						checked++
					}
				}
			}
		}
	}
	require.Greater(t, checked, 300)
}

// TestReadmeSettings finds every field of an attention's config and input, and of a decoder's config, in the README's
// tables.
func TestReadmeSettings(t *testing.T) {
	settings, rest, ok := strings.Cut(readmeText(t), "\n| what, of a call | field |\n")
	require.True(t, ok)
	_, decoder, _ := strings.Cut(rest, "\n## A decoder\n")
	decoder, _, _ = strings.Cut(decoder, "\n## ")
	for _, field := range reflect.VisibleFields(reflect.TypeFor[layers.DecoderConfig]()) {
		require.Contains(t, decoder, "`"+field.Name+"`")
	}
	inputs, _, _ := strings.Cut(rest, "\n\n")
	for _, field := range reflect.VisibleFields(reflect.TypeFor[layers.AttentionConfig]()) {
		require.Contains(t, settings, "`"+field.Name+"`")
	}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[layers.AttentionInput]()) {
		require.Contains(t, inputs, "`in."+field.Name+"`")
	}
}

func readmeText(t *testing.T) string {
	return string(must(os.ReadFile("README.md")))
}

// readmeScope is a package in which the READMEs' expressions are checked: it imports our packages and declares the
// variables that the READMEs speak of.
type readmeScope struct {
	fset    *token.FileSet
	pkg     *types.Package
	imports token.Pos // within the file, where its imports are seen
}

const readmeSource = `package readme

import (
	"attention/graph"
	"attention/graph/gradcheck"
	"attention/graph/machine"
	"attention/graph/mask"
	"attention/layers"
	"attention/layers/chapter"
	"attention/layers/generate"
	"attention/layers/heads"
	"attention/train"
	"attention/train/checkpoint"
	"attention/train/loop"
	"attention/train/parallel"
	"attention/train/pretrained"
	"attention/train/record"
	"attention/train/text"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

var (
	b     *layers.Build
	in    layers.AttentionInput
	layer *layers.Attention
	p     *layers.Params
	state map[string]*tensor.Dense
	w     int
	dir   string
	g     *pretrained.GPT

	m, lengths, past, documents, numbers *gorgonia.Node
)
`

func newReadmeScope(t *testing.T) readmeScope {
	fset := token.NewFileSet()
	file := must(parser.ParseFile(fset, "readme.go", readmeSource, 0))
	list := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}}\t{{.Export}}")
	for _, spec := range file.Imports {
		list.Args = append(list.Args, strings.Trim(spec.Path.Value, `"`))
	}
	var failed bytes.Buffer
	list.Stderr = &failed
	listed, err := list.Output()
	require.NoError(t, err, "%s", failed.String())
	exports := map[string]string{}
	for line := range strings.Lines(string(listed)) {
		path, export, _ := strings.Cut(strings.TrimSpace(line), "\t")
		exports[path] = export
	}
	compiled := importer.ForCompiler(fset, "gc",
		func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	config := types.Config{Importer: compiled, Error: func(err error) {
		if !strings.Contains(err.Error(), "imported and not used") {
			require.NoError(t, err)
		}
	}}
	pkg, _ := config.Check("readme", fset, []*ast.File{file}, nil)
	return readmeScope{fset: fset, pkg: pkg, imports: file.End() - 1}
}

// check returns an error if an expression is wrong: a value or type, a field or method as pkg.Type.Name, or a field of
// the config, alone or with its value.
func (s readmeScope) check(expression, config string) error {
	forms := []string{expression}
	parts := strings.Split(expression, ".")
	switch {
	case regexp.MustCompile(`^[A-Z]\w*: `).MatchString(expression):
		forms = []string{config + "{" + expression + "}"}
	case ast.IsExported(parts[0]):
		forms = []string{"new(" + config + ")." + expression}
	case len(parts) == 3:
		forms = append(forms, "new("+parts[0]+"."+parts[1]+")."+parts[2])
	}
	var wrong []error
	for _, form := range forms {
		_, err := types.Eval(s.fset, s.pkg, s.imports, form)
		if err == nil || strings.Contains(err.Error(), "without instantiation") { // of a generic function, which is there
			return nil
		}
		wrong = append(wrong, err)
	}
	return errors.Join(wrong...)
}

// TestNamesOfPyTorch finds every name of torch.nn, torch.nn.attention and torch.optim in names.md: mapped, missing or not
// for a CPU. testdata/torch/names.py writes the list.
func TestNamesOfPyTorch(t *testing.T) {
	list := must(os.ReadFile(must(golden.Path("torch", "names.txt"))))
	content := must(os.ReadFile("names.md"))
	names := strings.Split(strings.TrimSpace(string(list)), "\n")
	require.Greater(t, len(names), 200)
	for _, line := range names {
		_, name, _ := strings.Cut(line, " ")
		require.Regexp(t, "`([a-z_]+\\.)?"+regexp.QuoteMeta(name)+"`", string(content), line)
	}
}
