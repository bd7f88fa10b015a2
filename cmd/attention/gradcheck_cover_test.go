package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestGradcheckCoversAll reads the packages: an op or a layer that the table does
// not have fails, and so does a name in the table that no package has any more.
func TestGradcheckCoversAll(t *testing.T) {
	covered := map[string][]string{}
	for _, c := range gradcheckCases() {
		covered[c.group] = append(covered[c.group], c.covers)
	}
	ops, functions := nodeFunctions(t, "../../graph")
	require.Contains(t, ops, "Softmax")
	require.Contains(t, ops, "Attention")
	for _, name := range ops {
		if name == "CachedAttention" {
			continue // refuses to be differentiated
		}
		require.True(t, slices.Contains(covered["op"], name), "graph.%s is not checked: add a case to gradcheck_cases.go", name)
	}
	for _, name := range covered["op"] {
		require.Contains(t, functions, name, "package graph has no such function")
	}
	modules := forwardTypes(t, "../../layers")
	require.Contains(t, modules, "MultiHeadAttention")
	require.Contains(t, modules, "SimpleSelfAttention")
	for _, name := range modules {
		require.True(t, slices.Contains(covered["layer"], name), "layers.%s is not checked: add a case to gradcheck_layers.go", name)
	}
	for _, name := range covered["layer"] {
		require.Contains(t, modules, name, "package layers has no such layer")
	}
}

// TestGradcheckSeesNewFunctions: what the test above would not notice, it could not
// miss.
func TestGradcheckSeesNewFunctions(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	write("ops.go", `package p
import gorgonia "gorgonia.org/gorgonia"
func One(x *gorgonia.Node) (*gorgonia.Node, error) { return x, nil }
func Two(x *gorgonia.Node) (out, weights *gorgonia.Node, err error) { return x, x, nil }
func Many() (gorgonia.Nodes, error) { return nil, nil }
func Other(x *gorgonia.Node) error { return nil }
func hidden(x *gorgonia.Node) *gorgonia.Node { return x }
func Generic[T any](x T) *gorgonia.Node { return nil }
`)
	write("plain.go", `package p
import "gorgonia.org/gorgonia"
type Layer struct{}
type Value struct{}
type Pair[T any] struct{}
type inner struct{}
func Three() *gorgonia.Node { return nil }
func (*Layer) Forward() (*gorgonia.Node, error) { return nil, nil }
func (Value) Forward() (*gorgonia.Node, error) { return nil, nil }
func (*Pair[T]) Forward() (*gorgonia.Node, error) { return nil, nil }
func (inner) Forward() (*gorgonia.Node, error) { return nil, nil }
func (*Layer) Backward() *gorgonia.Node { return nil }
`)
	write("ops_test.go", `package p
import "gorgonia.org/gorgonia"
func InTest() *gorgonia.Node { return nil }
`)
	write("without.go", "package p\nfunc Without() int { return 0 }\n")
	ops, functions := nodeFunctions(t, dir)
	require.ElementsMatch(t, []string{"One", "Two", "Many", "Generic", "Three"}, ops)
	require.ElementsMatch(t, []string{"One", "Two", "Many", "Generic", "Three", "Other", "Without"}, functions)
	require.ElementsMatch(t, []string{"Layer", "Value", "Pair"}, forwardTypes(t, dir))
}

// nodeFunctions lists a package's exported functions that return nodes, and all of
// its exported functions.
func nodeFunctions(t *testing.T, dir string) (nodes, all []string) {
	for _, file := range parsePackage(t, dir) {
		gorgonia := importName(file, "gorgonia.org/gorgonia")
		for _, f := range functionsOf(file) {
			if f.Recv != nil || !f.Name.IsExported() {
				continue
			}
			all = append(all, f.Name.Name)
			if f.Type.Results != nil && slices.ContainsFunc(f.Type.Results.List, func(r *ast.Field) bool { return isNode(r.Type, gorgonia) }) {
				nodes = append(nodes, f.Name.Name)
			}
		}
	}
	return nodes, all
}

// forwardTypes lists a package's exported types that have a Forward method.
func forwardTypes(t *testing.T, dir string) (names []string) {
	for _, file := range parsePackage(t, dir) {
		for _, f := range functionsOf(file) {
			if f.Recv == nil || f.Name.Name != "Forward" {
				continue
			}
			if name := receiverName(f.Recv.List[0].Type); ast.IsExported(name) {
				names = append(names, name)
			}
		}
	}
	return names
}

func parsePackage(t *testing.T, dir string) (files []*ast.File) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		files = append(files, file)
	}
	return files
}

func functionsOf(file *ast.File) (functions []*ast.FuncDecl) {
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			functions = append(functions, f)
		}
	}
	return functions
}

// importName is what a file calls the package of a path.
func importName(file *ast.File, path string) string {
	for _, i := range file.Imports {
		if p, err := strconv.Unquote(i.Path.Value); err == nil && p == path {
			if i.Name != nil {
				return i.Name.Name
			}
			return filepath.Base(path)
		}
	}
	return ""
}

// isNode tells whether a type is *gorgonia.Node or gorgonia.Nodes.
func isNode(e ast.Expr, gorgonia string) bool {
	want := "Nodes"
	if star, ok := e.(*ast.StarExpr); ok {
		e, want = star.X, "Node"
	}
	sel, ok := e.(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != want {
		return false
	}
	pkg, ok := sel.X.(*ast.Ident)
	return ok && pkg.Name == gorgonia
}

func receiverName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiverName(e.X)
	case *ast.IndexExpr:
		return receiverName(e.X)
	case *ast.IndexListExpr:
		return receiverName(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}
