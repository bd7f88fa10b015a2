// Package exports lists the functions that a package exports, read from its source, for
// tests that compare a table with a package.
package exports

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"strconv"
	"strings"
)

// Func is an exported function, or a method of an exported type.
type Func struct {
	Name     string
	Receiver string   // the type's name, without * and type parameters; empty for a function
	Results  []string // types; an imported package is written as its path
}

// Funcs returns the exported functions of the package in dir, without its tests.
func Funcs(dir string) ([]Func, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	var all []Func
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		all = append(all, funcsOf(file)...)
	}
	return all, nil
}

func funcsOf(file *ast.File) (all []Func) {
	paths := importPaths(file)
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || !f.Name.IsExported() {
			continue
		}
		x := Func{Name: f.Name.Name}
		if f.Recv != nil {
			if x.Receiver = typeName(f.Recv.List[0].Type); !ast.IsExported(x.Receiver) {
				continue
			}
		}
		if f.Type.Results != nil {
			for _, r := range f.Type.Results.List {
				for range max(1, len(r.Names)) {
					x.Results = append(x.Results, resultType(r.Type, paths))
				}
			}
		}
		all = append(all, x)
	}
	return all
}

// importPaths returns the paths of a file's imports by the names that the file uses.
func importPaths(file *ast.File) map[string]string {
	paths := map[string]string{}
	for _, i := range file.Imports {
		path, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			continue // the parser refuses such a file
		}
		name := path[strings.LastIndex(path, "/")+1:]
		if i.Name != nil {
			name = i.Name.Name
		}
		paths[name] = path
	}
	return paths
}

// resultType returns a type as written, with its package replaced by the path.
func resultType(e ast.Expr, paths map[string]string) string {
	prefix := ""
	if star, ok := e.(*ast.StarExpr); ok {
		prefix, e = "*", star.X
	}
	if sel, ok := e.(*ast.SelectorExpr); ok {
		if pkg, ok := sel.X.(*ast.Ident); ok && paths[pkg.Name] != "" {
			return prefix + paths[pkg.Name] + "." + sel.Sel.Name
		}
	}
	return prefix + types.ExprString(e)
}

// typeName returns the name of a receiver's type.
func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return typeName(e.X)
	case *ast.IndexExpr:
		return typeName(e.X)
	case *ast.IndexListExpr:
		return typeName(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}
