// Command gen writes the assembly of package simd, the Go declarations that belong to it and the functions that
// choose among its versions into the directory given as its only argument. The output depends on nothing else.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/pass"
	"github.com/mmcloughlin/avo/printer"
)

// A family is the kernels that share a file of assembly, and its table of constants.
type family struct {
	name      string
	kernels   []kernel
	constants func(*generator) []constant // may be nil
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: gen directory")
		os.Exit(2)
	}
	if err := writeAll(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func writeAll(dir string) error {
	families := []family{
		{name: "gemm", kernels: gemmKernels},
		{name: "attention", kernels: attentionKernels, constants: (*generator).attentionConstants},
		{name: "vector", kernels: slices.Concat(elementKernels, rowKernels), constants: (*generator).vectorConstants},
	}
	for processor, sets := range map[string][]*simd{"amd64": {avx512(), avx2()}, "arm64": {neonSet()}} {
		var own []family
		for _, f := range families {
			own = append(own, f.on(processor))
		}
		for _, s := range sets {
			for _, f := range own {
				if err := f.write(s, dir); err != nil {
					return err
				}
			}
		}
		if processor == "amd64" {
			f := family{name: "bf16", kernels: bf16Kernels}
			if err := f.write(bf16(), dir); err != nil {
				return err
			}
			f = family{name: "formats", kernels: formatKernels}
			for _, s := range sets {
				if err := f.write(s, dir); err != nil {
					return err
				}
			}
		}
		if err := writeChoices(own, sets, dir, processor); err != nil {
			return err
		}
	}
	return writePlain(families, dir)
}

// on returns the family for a processor.
func (f family) on(processor string) family {
	kernels := slices.Clone(f.kernels)
	for i, k := range kernels {
		kernels[i] = k.on(processor)
	}
	f.kernels = kernels
	return f
}

// write writes the files of a family for one instruction set.
func (f *family) write(s *simd, dir string) error {
	g := &generator{Context: build.NewContext(), simd: s}
	g.target = s.target(g)
	g.ConstraintExpr("!noasm")
	for _, g.element = range elements {
		if f.constants != nil {
			g.constants = f.constants(g)
			g.writeConstants()
		}
		for i := range f.kernels {
			if k := &f.kernels[i]; k.has(s, g.element) {
				g.begin(k)
				k.write(g)
				g.end()
			}
		}
	}
	file, err := g.Result()
	if err != nil {
		return err
	}
	compile, assembly := pass.Compile, printer.NewGoAsm
	if s.processor == "arm64" {
		compile, assembly = compileNEON, newPrinterNEON
	}
	if err := compile.Execute(file); err != nil {
		return err
	}
	config := printer.Config{Name: "gen", Pkg: "simd"}
	for suffix, make := range map[string]printer.Builder{".s": assembly, ".go": printer.NewStubs} {
		text, err := make(config).Print(file)
		if err != nil {
			return err
		}
		name := f.name + "_" + s.file + "_" + s.processor + suffix
		if suffix == ".go" {
			err = writeGo(text, dir, name)
		} else {
			err = os.WriteFile(filepath.Join(dir, name), text, 0o666)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
