package main

import (
	"regexp"
	"slices"
	"strings"
)

// A kernel is a function of package simd with versions in assembly. The entry determines the declarations of the
// assembly, the function that chooses a version for the processor, and the function for other processors. The kernel in
// plain Go, which both fall back to, is written by hand and has the same name with Go appended.
type kernel struct {
	name   string
	does   string // its comment, without the name
	params string // of the function in Go: see param
	result string
	plain  string           // a condition, in Go, under which plain Go does the work
	only   string           // the only type of element or instruction set with a version
	write  func(*generator) // writes the body of one version
	neon   *own             // the parts that differ for NEON, or nil
}

// own replaces the condition and the writer of a kernel for one processor.
type own struct {
	plain string
	write func(*generator)
}

// A param is a parameter of a kernel. In an entry, groups of names and their type are separated by semicolons.
// The types are
//
//	size        an int; if it is below 1, plain Go does the work
//	stride      an int; if it is negative, plain Go does the work
//	[length]F   a slice of at least length elements
//	?[length]F  the same, or nil
//	[length]float64  a slice of float64, whatever F is; or of uint16 or uint8
//
// and all those of Go. A name of a length that is not a parameter means the length of the first slice with it; assembly
// gets it as an int before its other parameters.
type param struct {
	name, typ, length string
	optional          bool
}

var paramGroup = regexp.MustCompile(`^(\w+(?:, \w+)*) (\??)(?:\[(.*)\])?(\w+|\*.*)$`)

// parameters returns the parameters of the function in Go.
func (k *kernel) parameters() []param {
	var list []param
	for group := range strings.SplitSeq(k.params, "; ") {
		part := paramGroup.FindStringSubmatch(group)
		if part == nil {
			panic("gen: " + k.name + ": got parameters " + group + ", want names and a type")
		}
		for name := range strings.SplitSeq(part[1], ", ") {
			list = append(list, param{name: name, optional: part[2] != "", length: part[3], typ: part[4]})
		}
	}
	return list
}

// lengths returns the lengths that assembly gets before its other parameters. The length of each is the name of
// the slice that it is taken from.
func (k *kernel) lengths() []param {
	var list []param
	all := k.parameters()
	for _, p := range all {
		known := func(q param) bool { return q.name == p.length }
		if isName.MatchString(p.length) && !slices.ContainsFunc(all, known) && !slices.ContainsFunc(list, known) {
			list = append(list, param{name: p.length, typ: "size", length: p.name})
		}
	}
	return list
}

var isName = regexp.MustCompile(`^\w+$`)

// goType returns the type of the parameter in Go.
func (p *param) goType() string {
	switch {
	case p.length != "":
		return "[]" + p.typ
	case p.typ == "size" || p.typ == "stride":
		return "int"
	}
	return p.typ
}

// assemblyType returns the type of the parameter in assembly, for elements of type f.
func (p *param) assemblyType(f string) string {
	switch typ := p.goType(); {
	case typ == "F":
		return f
	case typ == "[]float64" || typ == "[]uint16" || typ == "[]uint8":
		return "*" + typ[2:]
	case typ == "[]F" || typ[0] == '*':
		return "*" + f
	default:
		return typ
	}
}

// exported returns the name of the function in Go.
func (k *kernel) exported() string {
	name := initialisms.Replace(k.name)
	return strings.ToUpper(name[:1]) + name[1:]
}

var initialisms = strings.NewReplacer("gelu", "GELU", "silu", "SiLU", "sgd", "SGD")

// signature returns the parameters and the result of the function in Go.
func (k *kernel) signature() string {
	text := ""
	before := ""
	for _, p := range k.parameters() {
		if p.goType() == before {
			text = strings.TrimSuffix(text, " "+before)
		}
		before = p.goType()
		if text != "" {
			text += ", "
		}
		text += p.name + " " + before
	}
	return "(" + text + ") " + k.result
}

// assembly returns the parameters of the versions in assembly.
func (k *kernel) assembly() []param {
	list := k.lengths()
	for i := range list {
		list[i].length = ""
	}
	return append(list, k.parameters()...)
}

// assemblySignature returns the type of the versions in assembly for elements of type f.
func (k *kernel) assemblySignature(f string) string {
	var params []string
	for _, p := range k.assembly() {
		params = append(params, p.name+" "+p.assemblyType(f))
	}
	return "func(" + strings.Join(params, ", ") + ") " + k.result
}

// param returns the parameter of the given name.
func (k *kernel) param(name string) param {
	list := k.assembly()
	return list[slices.IndexFunc(list, func(p param) bool { return p.name == name })]
}

// has reports whether there is a version for an instruction set and a type of element.
func (k *kernel) has(s *simd, e element) bool {
	return k.only == "" || k.only == s.name || k.only == e.typ
}

// on returns the kernel for a processor.
func (k kernel) on(processor string) kernel {
	if processor == "arm64" && k.neon != nil {
		k.only, k.plain, k.write = "", k.neon.plain, k.neon.write
	}
	return k
}

// version returns the name of a version.
func (k *kernel) version(s *simd, e element) string { return e.letter + k.name + s.name }
