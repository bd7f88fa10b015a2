// Command gen writes the assembly of package kernel and the Go declarations that belong to it into the
// directory given as its only argument. What it writes depends on nothing else.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/pass"
	"github.com/mmcloughlin/avo/printer"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: gen directory")
		os.Exit(2)
	}
	for _, s := range []*simd{avx512(), avx2()} {
		for name, functions := range map[string]func(*generator){"gemm": (*generator).gemmFunctions, "attention": (*generator).attentionFunctions, "vector": (*generator).vectorFunctions} {
			if err := write(s, name, functions, os.Args[1]); err != nil {
				fmt.Fprintln(os.Stderr, "gen:", err)
				os.Exit(1)
			}
		}
	}
}

func (g *generator) gemmFunctions() {
	g.tileFunction()
	g.dotFunction()
	g.copyPanelFunction()
	if g.name == "AVX2" {
		g.transposePanelFunction()
	}
	g.fmaFunction()
}

// write makes the file of one subject for one instruction set.
func write(s *simd, name string, functions func(*generator), dir string) error {
	ctx := build.NewContext()
	ctx.ConstraintExpr("!noasm")
	labels, hasTable := 0, false
	for _, e := range elements() {
		functions(&generator{Context: ctx, simd: s, element: e, labels: &labels, hasTable: &hasTable})
	}
	file, err := ctx.Result()
	if err != nil {
		return err
	}
	if err := pass.Compile.Execute(file); err != nil {
		return err
	}
	config := printer.Config{Name: "gen", Pkg: "kernel"}
	for suffix, make := range map[string]printer.Builder{".s": printer.NewGoAsm, ".go": printer.NewStubs} {
		text, err := make(config).Print(file)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, name+"_"+s.file+"_amd64"+suffix), text, 0o666); err != nil {
			return err
		}
	}
	return nil
}
