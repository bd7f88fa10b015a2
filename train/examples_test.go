package train_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Whole programs are short, and have the number of lines that layers/README.md states: a file without its package
// clause, its imports and the comments with PyTorch's form and the output.
func TestProgramsAreShort(t *testing.T) {
	readme := must(os.ReadFile("../layers/README.md"))
	for _, c := range []struct {
		path string
		most int
	}{
		{path: "example_accuracy_test.go", most: 70},
		{path: "example_run_test.go", most: 25},
		{path: "example_weights_test.go", most: 30},
		{path: "example_groups_test.go", most: 40},
		{path: "loop/example_best_test.go", most: 40},
		{path: "checkpoint/example_params_test.go", most: 70},
	} {
		fset := token.NewFileSet()
		file := must(parser.ParseFile(fset, c.path, nil, parser.ParseComments))
		line := func(p token.Pos) int { return fset.Position(p).Line }
		lines := 0
		for _, d := range file.Decls {
			if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.IMPORT {
				continue
			}
			lines += line(d.End()) - line(d.Pos()) + 1
			for _, comment := range file.Comments {
				if d.Pos() < comment.Pos() && comment.End() < d.End() && strings.HasPrefix(comment.Text(), "Output:") {
					lines -= line(comment.End()) - line(comment.Pos()) + 1
				}
			}
		}
		require.Greater(t, lines, 15)
		require.LessOrEqual(t, lines, c.most, c.path)
		require.Contains(t, string(readme), fmt.Sprintf("| %d | [train/%s]", lines, c.path))
	}
}
