// Package exports lists the functions and types that a package exports, read from its source, for
// tests that compare a table with a package.
package exports

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"strings"
)

// Func is an exported function, or a method of an exported type.
type Func struct {
	Name     string
	Receiver string   // the type's name, without * and type parameters; empty for a function
	Results  []string // types as they are written
}

// Funcs returns the exported functions of the package in dir, without its tests.
func Funcs(dir string) (all []Func, err error) {
	err = declarations(dir, func(d ast.Decl) {
		if f, ok := d.(*ast.FuncDecl); ok {
			all = append(all, exported(f)...)
		}
	})
	return all, err
}

// Types returns the names of the exported types of the package in dir, without its tests.
func Types(dir string) (all []string, err error) {
	err = declarations(dir, func(d ast.Decl) {
		group, ok := d.(*ast.GenDecl)
		if !ok || group.Tok != token.TYPE {
			return
		}
		for _, s := range group.Specs {
			if t := s.(*ast.TypeSpec); t.Name.IsExported() {
				all = append(all, t.Name.Name)
			}
		}
	})
	return all, err
}

// declarations calls f for each declaration of the package in dir, without its tests, in
// the order of its files.
func declarations(dir string, f func(ast.Decl)) error {
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return err
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, d := range file.Decls {
			f(d)
		}
	}
	return nil
}

// exported returns a function in a list, which is empty if it or its type is not exported.
func exported(f *ast.FuncDecl) []Func {
	x := Func{Name: f.Name.Name}
	if f.Recv != nil {
		receiver := strings.TrimPrefix(types.ExprString(f.Recv.List[0].Type), "*")
		x.Receiver, _, _ = strings.Cut(receiver, "[")
	}
	if !f.Name.IsExported() || f.Recv != nil && !ast.IsExported(x.Receiver) {
		return nil
	}
	if f.Type.Results != nil {
		for _, r := range f.Type.Results.List {
			for range max(1, len(r.Names)) {
				x.Results = append(x.Results, types.ExprString(r.Type))
			}
		}
	}
	return []Func{x}
}
