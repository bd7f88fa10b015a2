package main

import (
	"fmt"
	"math"
	"reflect"

	"attention/graph/mask"
	"attention/layers"
	"attention/train/pretrained"

	G "gorgonia.org/gorgonia"
)

// argument makes a value to call with.
type argument struct {
	text string
	tame bool // an argument of a call that may succeed
	null bool // a nil pointer, interface or function, or a list of them; not used as a receiver
	of   func(w *world) reflect.Value
}

func constant(v reflect.Value, text string, tame bool) argument {
	return argument{text: text, tame: tame, of: func(*world) reflect.Value { return v }}
}

func zero(t reflect.Type) argument {
	text := fmt.Sprintf("%v{}", t)
	switch t.Kind() {
	case reflect.Pointer, reflect.Interface, reflect.Map, reflect.Slice, reflect.Func:
		text = fmt.Sprintf("(%v)(nil)", t)
	}
	x := constant(reflect.Zero(t), text, false)
	x.null = t.Kind() == reflect.Pointer || t.Kind() == reflect.Interface || t.Kind() == reflect.Func
	return x
}

// arguments makes the arguments of a type.
type arguments struct {
	found map[reflect.Type][]argument // results of the packages' own functions
	known map[reflect.Type][]argument
}

// of returns the arguments of a type. The first one is tame, if any is.
func (a *arguments) of(t reflect.Type) []argument {
	if all, ok := a.known[t]; ok {
		return all
	}
	if !made(t) {
		a.known[t] = []argument{zero(t)} // for a recursive type
	}
	all := a.valid(t)
	switch t.Kind() {
	case reflect.Bool:
		all = append(all, constant(reflect.ValueOf(true).Convert(t), "true", true), constant(reflect.Zero(t), "false", true))
	case reflect.String:
		for _, s := range []string{"", "x", "../x", "a\x00b"} {
			all = append(all, constant(reflect.ValueOf(s).Convert(t), fmt.Sprintf("%q", s), len(s) < 2))
		}
	case reflect.Pointer:
		all = append(all, a.pointers(t)...)
	case reflect.Struct:
		all = append(all, a.structs(t)...)
	case reflect.Slice:
		all = append(all, a.slices(t)...)
	case reflect.Map:
		all = append(all, a.maps(t)...)
	case reflect.Func:
		all = append(all, a.functions(t)...)
	case reflect.Interface:
		all = append(all, a.implementations(t)...)
	case reflect.Array:
		all = append(all, a.arrays(t)...)
	default:
		all = append(all, numbers(t)...)
	}
	a.known[t] = all
	return all
}

// valid returns values that are right in some calls.
func (a *arguments) valid(t reflect.Type) (all []argument) {
	for i, make := range valid[t] {
		all = append(all, argument{text: fmt.Sprintf("valid %v %d", t, i), tame: true, of: func(w *world) reflect.Value {
			v := reflect.New(t).Elem() // of an interface's type too
			v.Set(reflect.ValueOf(make(w)))
			return v
		}})
	}
	return append(all, a.found[t]...)
}

// numbers returns the numbers of a type; 2 is valid as a width, a length and a count.
func numbers(t reflect.Type) (all []argument) {
	add := func(tame bool, x any) {
		if v := reflect.ValueOf(x); v.CanConvert(t) {
			all = append(all, constant(v.Convert(t), fmt.Sprint(x), tame))
		}
	}
	switch t.Kind() {
	case reflect.Float32, reflect.Float64:
		add(true, 0.5)
		for _, x := range []float64{0, 1, -1, math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, 1e-320} {
			add(false, x)
		}
	default:
		add(true, 2)
		for _, x := range []int{1, 0, 3, -1, 1 << 31, math.MaxInt - 1, math.MaxInt, math.MinInt} {
			add(x == 1 || x == 0, x)
		}
	}
	return all
}

func (a *arguments) pointers(t reflect.Type) []argument {
	all := []argument{zero(t)}
	switch e := t.Elem(); {
	case t == reflect.TypeFor[*G.ExprGraph](): // its zero value cannot be recognised
		return all
	case !made(e):
		all = append(all, argument{text: fmt.Sprintf("new(%v)", e), of: func(*world) reflect.Value { return reflect.New(e) }})
	}
	if !ofModule(t.Elem()) || t.Elem().Kind() == reflect.Struct && !settable(t.Elem()) {
		return all
	}
	for _, e := range a.of(t.Elem()) {
		all = append(all, argument{text: "&" + e.text, tame: e.tame, of: func(w *world) reflect.Value {
			p := reflect.New(t.Elem())
			p.Elem().Set(e.of(w))
			return p
		}})
	}
	return all
}

// data lists the structs with unexported fields whose zero value a caller may pass, each with the reason.
var data = map[reflect.Type]string{
	reflect.TypeFor[layers.EmbeddingConfig](): "a model fills in the deviation",
	reflect.TypeFor[layers.Init]():            "the zero value is zeros",
	reflect.TypeFor[layers.LinearConfig]():    "a model fills in the layout",
	reflect.TypeFor[mask.Blocks]():            "a caller fills in the node",
	reflect.TypeFor[mask.CausalAt]():          "a caller fills in the node",
	reflect.TypeFor[mask.Keep]():              "a caller fills in the node",
	reflect.TypeFor[mask.KeyLengths]():        "a caller fills in the node",
	reflect.TypeFor[mask.Segments]():          "a caller fills in the nodes",
	reflect.TypeFor[pretrained.Encoder]():     "a caller fills in the model",
	reflect.TypeFor[pretrained.GPT]():         "a caller fills in the model",
}

// made reports whether only the module's own functions make values of a type: it is a struct with unexported fields.
// Methods of its zero value may panic.
func made(t reflect.Type) bool {
	if t.Kind() != reflect.Struct || data[t] != "" || !ofModule(t) {
		return false
	}
	for i := range t.NumField() {
		if !t.Field(i).IsExported() {
			return true
		}
	}
	return false
}

// settable reports whether a struct has exported fields.
func settable(t reflect.Type) bool {
	for i := range t.NumField() {
		if t.Field(i).IsExported() {
			return true
		}
	}
	return false
}

// structs returns structs with small numbers, with extreme ones, and with small ones except in one field. For a type
// that only functions make, it returns their results.
func (a *arguments) structs(t reflect.Type) (all []argument) {
	if made(t) {
		for _, p := range a.valid(reflect.PointerTo(t)) {
			all = append(all, argument{text: "*" + p.text, tame: true,
				of: func(w *world) reflect.Value { return p.of(w).Elem() }})
		}
		return all
	}
	if !ofModule(t) || !settable(t) {
		return []argument{zero(t)}
	}
	base := constant(small(t), fmt.Sprintf("small %v", t), true)
	all = []argument{base, zero(t)}
	if known := a.valid(t); len(known) > 0 {
		base = known[0]
	}
	for i := range t.NumField() {
		if f := t.Field(i); f.IsExported() {
			for _, e := range a.of(f.Type) {
				text := fmt.Sprintf("%s with %s=%s", base.text, f.Name, e.text)
				all = append(all, argument{text: text, tame: e.tame, of: func(w *world) reflect.Value {
					s := reflect.New(t).Elem()
					s.Set(base.of(w))
					s.Field(i).Set(e.of(w))
					return s
				}})
			}
		}
	}
	for _, x := range extremes {
		text := fmt.Sprintf("%v of %d, %v", t, x.number, x.fraction)
		all = append(all, constant(filled(t, x.number, x.fraction), text, false))
	}
	return all
}

var extremes = []struct {
	number   int
	fraction float64
}{
	{math.MaxInt, math.MaxFloat64}, {math.MaxInt - 1, math.Inf(1)}, {1 << 31, math.NaN()},
	{-1, -1}, {math.MinInt, math.Inf(-1)},
}

func small(t reflect.Type) reflect.Value { return filled(t, 2, 0.5) }

// filled returns a struct with a number in all its fields.
func filled(t reflect.Type, number int, fraction float64) reflect.Value {
	v := reflect.New(t).Elem()
	for i := range t.NumField() {
		f := v.Field(i)
		switch {
		case !f.CanSet():
		case f.Kind() == reflect.Struct:
			f.Set(filled(f.Type(), number, fraction))
		case f.CanInt():
			f.SetInt(int64(number))
		case f.CanUint():
			f.SetUint(uint64(number))
		case f.CanFloat():
			f.SetFloat(fraction)
		}
	}
	return v
}

func (a *arguments) slices(t reflect.Type) []argument {
	empty := constant(reflect.MakeSlice(t, 0, 0), fmt.Sprintf("%v{}", t), true)
	all := []argument{empty, zero(t)}
	for i, e := range a.of(t.Elem()) {
		if i == 40 {
			break
		}
		for n := 1; n <= 2; n++ {
			all = append(all, argument{text: fmt.Sprintf("%d × %s", n, e.text), tame: e.tame, null: e.null,
				of: func(w *world) reflect.Value {
					s := reflect.MakeSlice(t, 0, n)
					for range n {
						s = reflect.Append(s, e.of(w))
					}
					return s
				}})
		}
	}
	return all
}

func (a *arguments) arrays(t reflect.Type) (all []argument) {
	for _, e := range a.of(t.Elem()) {
		all = append(all, argument{text: fmt.Sprintf("%v of %s", t, e.text), tame: e.tame, of: func(w *world) reflect.Value {
			v := reflect.New(t).Elem()
			for i := range v.Len() {
				v.Index(i).Set(e.of(w))
			}
			return v
		}})
	}
	return all
}

func (a *arguments) maps(t reflect.Type) []argument {
	all := []argument{constant(reflect.MakeMap(t), fmt.Sprintf("%v{}", t), true), zero(t)}
	for _, e := range a.of(t.Elem()) {
		all = append(all, argument{text: fmt.Sprintf("map of %s", e.text), tame: e.tame, of: func(w *world) reflect.Value {
			m := reflect.MakeMap(t)
			m.SetMapIndex(a.of(t.Key())[1].of(w), e.of(w))
			return m
		}})
	}
	return all
}

// functions returns nil and functions that return zeros.
func (a *arguments) functions(t reflect.Type) []argument {
	returns := reflect.MakeFunc(t, func([]reflect.Value) (results []reflect.Value) {
		for i := range t.NumOut() {
			results = append(results, reflect.Zero(t.Out(i)))
		}
		return results
	})
	return []argument{zero(t), constant(returns, fmt.Sprintf("%v that returns zeros", t), false)}
}

// implementations returns the arguments of the rooms' types that implement an interface.
func (a *arguments) implementations(t reflect.Type) []argument {
	all := []argument{zero(t)}
	if t.NumMethod() == 0 {
		return all
	}
	for _, e := range exportedTypes {
		for _, c := range []reflect.Type{e, reflect.PointerTo(e)} {
			if e.Kind() == reflect.Interface || !c.Implements(t) || c != e && e.Implements(t) {
				continue
			}
			for i, x := range a.of(c) {
				if i == 20 {
					break
				}
				if !x.null {
					all = append(all, argument{text: x.text, tame: x.tame,
						of: func(w *world) reflect.Value { return x.of(w).Convert(t) }})
				}
			}
		}
	}
	return all
}

func ofModule(t reflect.Type) bool {
	const module = "attention/"
	return len(t.PkgPath()) > len(module) && t.PkgPath()[:len(module)] == module
}
