package graph_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// An op exists only if it cannot be a formula of other ops, or if a benchmark shows that the formula is worse. The doc
// comment of its body states the reason. The bodies of gradients have no such sentence: the reason is that of their
// forward ops.
func TestEachOpSaysWhyItIsOne(t *testing.T) {
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	docs, bodies := map[string]string{}, map[string]bool{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		src, err := os.ReadFile(name)
		require.NoError(t, err)
		file, err := parser.ParseFile(token.NewFileSet(), name, src, parser.ParseComments)
		require.NoError(t, err)
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.GenDecl:
				for _, s := range d.Specs {
					if s, ok := s.(*ast.TypeSpec); ok && !isGradientBody(s) {
						docs[s.Name.Name] = d.Doc.Text()
					}
				}
			case *ast.FuncDecl:
				if d.Recv != nil && d.Name.Name == "spec" {
					bodies[receiver(d.Recv.List[0].Type)] = true
				}
			}
		}
	}
	found := 0
	for body := range bodies {
		doc, ok := docs[body]
		if !ok {
			continue
		}
		found++
		require.Contains(t, strings.ReplaceAll(doc, "\n", " "), "an op because ", body)
	}
	require.Greater(t, found, 30)
}

// isGradientBody reports whether a struct embeds isGradient.
func isGradientBody(s *ast.TypeSpec) bool {
	body, ok := s.Type.(*ast.StructType)
	if !ok {
		return false
	}
	for _, f := range body.Fields.List {
		if name, ok := f.Type.(*ast.Ident); ok && len(f.Names) == 0 && name.Name == "isGradient" {
			return true
		}
	}
	return false
}

// receiver returns the name of a receiver's type.
func receiver(t ast.Expr) string {
	if x, ok := t.(*ast.IndexExpr); ok {
		t = x.X
	}
	return t.(*ast.Ident).Name
}
