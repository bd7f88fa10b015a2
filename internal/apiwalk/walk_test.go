package main

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"reflect"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"attention/internal/testenv"
)

// callable is a function, or a method whose receiver is the first argument.
type callable struct {
	name   string
	f      reflect.Value
	method bool
}

// callables returns all functions and methods of the rooms. A method with a value receiver is called on values, one
// with a pointer receiver on pointers.
func callables() (all []callable) {
	for _, f := range exportedFunctions {
		all = append(all, callable{name: f.name, f: reflect.ValueOf(f.f)})
	}
	for _, t := range exportedTypes {
		if t.Kind() == reflect.Interface {
			continue
		}
		for i := range t.NumMethod() {
			m := t.Method(i)
			all = append(all, callable{fmt.Sprintf("%v.%s", t, m.Name), m.Func, true})
		}
		p := reflect.PointerTo(t)
		for i := range p.NumMethod() {
			m := p.Method(i)
			if _, ok := t.MethodByName(m.Name); !ok {
				all = append(all, callable{fmt.Sprintf("(%v).%s", p, m.Name), m.Func, true})
			}
		}
	}
	return all
}

// exempt lists functions that are not called, each with the reason.
var exempt = map[string]string{
	"(*checkpoint.DamagedError).Error": "it has the text of the error that it wraps",
	"(*parallel.Group).Agree":          "in one process it returns its error, and a nil one has no text",
	"(*parallel.Group).Share":          "a train.Step calls it with its own parameters",
	"mask.KeySet.AllRanges":            "takes as long as there are queries, which package graph counts",
}

// call is a callable with its arguments.
type call struct {
	callable
	in []argument
}

func (c call) String() string {
	texts := make([]string, len(c.in))
	for i, a := range c.in {
		texts[i] = a.text
	}
	return c.name + "(" + strings.Join(texts, ", ") + ")"
}

// do makes the call in a world.
func (c call) do(w *world) []reflect.Value {
	in := make([]reflect.Value, len(c.in))
	for i, a := range c.in {
		in[i] = a.of(w)
	}
	if c.f.Type().IsVariadic() {
		return c.f.CallSlice(in)
	}
	return c.f.Call(in)
}

// limits of one call; watch holds the time.
const (
	mostTime   = 20 * time.Second
	mostMemory = 256 << 20
)

// try makes the call and returns a description of what went wrong.
func (c call) try() (results []reflect.Value, wrong string) {
	before := allocated()
	results, wrong = c.recovered()
	if used := allocated() - before; wrong == "" && used > mostMemory {
		wrong = fmt.Sprintf("allocates %d MiB", used>>20)
	}
	return results, wrong
}

func (c call) recovered() (results []reflect.Value, wrong string) {
	defer func() {
		if r := recover(); r != nil {
			wrong = fmt.Sprintf("panics: %v\n%s", r, place(debug.Stack()))
		}
	}()
	results = c.do(newWorld())
	for _, r := range results {
		if err, ok := r.Interface().(error); ok && notOneLine(err.Error()) {
			wrong = fmt.Sprintf("returns an error that is not one line: %q", err)
		}
		if r.Kind() == reflect.Func && r.Type().CanSeq2() && !r.IsNil() {
			for range r.Seq2() {
			}
		}
	}
	return results, wrong
}

// notOneLine reports whether a text has several lines, or contains traces of a wrong format.
func notOneLine(text string) bool {
	return strings.Contains(text, "\n") || strings.Contains(text, "%!")
}

// place returns the lines of a panic's stack that are of the module.
func place(stack []byte) string {
	var lines []string
	for _, line := range strings.Split(string(stack), "\n") {
		if strings.Contains(line, ".go:") && !strings.Contains(line, "apiwalk") && !strings.Contains(line, "/go/src/") {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return strings.Join(lines[:min(4, len(lines))], "\n")
}

func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// calls returns the calls of a callable with arguments that keep accepts: all calls, if they are few; otherwise each
// argument once with tame others and once with zeros, and a random sample.
func (f callable) calls(a *arguments, keep func(argument) bool, draws int) (all []call) {
	lists, count := make([][]argument, f.f.Type().NumIn()), 1
	for i := range lists {
		for _, x := range a.of(f.f.Type().In(i)) {
			if keep(x) && !(f.method && i == 0 && x.null) {
				lists[i] = append(lists[i], x)
			}
		}
		if count *= len(lists[i]); count == 0 {
			return nil
		}
		count = min(count, 1<<20)
	}
	add := func(pick func(i int) argument) {
		in := make([]argument, len(lists))
		for i := range in {
			in[i] = pick(i)
		}
		all = append(all, call{f, in})
	}
	if count <= draws {
		for n := range count {
			add(func(i int) argument {
				x := lists[i][n%len(lists[i])]
				n /= len(lists[i])
				return x
			})
		}
		return all
	}
	for i := range lists {
		for _, x := range lists[i] {
			for _, last := range []bool{false, true} {
				add(func(j int) argument {
					switch {
					case j == i:
						return x
					case last && !made(f.f.Type().In(j)) && !(f.method && j == 0):
						return zero(f.f.Type().In(j))
					}
					return lists[j][0]
				})
			}
		}
	}
	h := fnv.New64a()
	h.Write([]byte(f.name))
	random := rand.New(rand.NewPCG(h.Sum64(), 1))
	for range draws {
		add(func(i int) argument {
			n := len(lists[i])
			if random.IntN(2) == 0 { // valid arguments come first
				n = min(n, 1+len(valid[f.f.Type().In(i)]))
			}
			return lists[i][random.IntN(n)]
		})
	}
	return all
}

// find adds the results of calls with tame arguments to the arguments, until there are no
// new ones.
func (a *arguments) find(all []callable) {
	for more := true; more; {
		more = false
		for _, f := range all {
			if f.f.Type().NumOut() == 0 {
				continue
			}
			t := f.f.Type().Out(0)
			if valid[t] != nil || !ofModule(t) && !(t.Kind() == reflect.Pointer && ofModule(t.Elem())) || len(a.found[t]) >= 3 {
				continue
			}
			for _, c := range f.calls(a, func(x argument) bool { return x.tame }, 100) {
				results, wrong := c.try()
				if wrong != "" || !succeeded(results) {
					continue
				}
				a.found[t] = append(a.found[t], argument{text: c.String(), tame: true,
					of: func(w *world) reflect.Value { return c.do(w)[0] }})
				clear(a.known)
				more = true
				break
			}
		}
	}
}

// succeeded reports whether a call returned a value and no error.
func succeeded(results []reflect.Value) bool { return !failedCall(results) && !results[0].IsZero() }

// failedCall reports whether a call returned an error.
func failedCall(results []reflect.Value) bool {
	return slices.ContainsFunc(results, func(r reflect.Value) bool {
		_, ok := r.Interface().(error)
		return ok
	})
}

// TestNoCallPanics calls every function and method with nil, zero and extreme arguments. Wrong arguments must give
// errors.
func TestNoCallPanics(t *testing.T) {
	debug.SetGCPercent(400) // few objects are alive at the same time
	var now atomic.Pointer[call]
	go watch(&now)
	a := &arguments{found: map[reflect.Type][]argument{}, known: map[reflect.Type][]argument{}}
	all := callables()
	t.Chdir(t.TempDir())
	a.find(all)
	total, drawn := 0, 60
	if testenv.All {
		drawn = 1500
	}
	for _, f := range all {
		if exempt[f.name] != "" {
			continue
		}
		if f.method && !a.haveReceiver(f.f.Type().In(0)) {
			t.Errorf("%s: no call makes a receiver for it: add one to valid", f.name)
		}
		t.Chdir(t.TempDir())
		failed := map[string]int{}
		calls := f.calls(a, func(argument) bool { return true }, drawn)
		for _, c := range calls {
			now.Store(&c)
			if _, wrong := c.try(); wrong != "" {
				if failed[wrong]++; failed[wrong] == 1 {
					t.Errorf("%v %s", c, wrong)
				}
			}
		}
		total += len(calls)
	}
	t.Logf("%d calls of %d functions and methods", total, len(all))
}

// haveReceiver reports whether there is a receiver of a type that only functions of the module make.
func (a *arguments) haveReceiver(t reflect.Type) bool {
	return !made(t) && t.Kind() != reflect.Pointer || slices.ContainsFunc(a.of(t), func(x argument) bool { return x.tame })
}

// watch ends the test if a call uses memory or time without limit. It counts its own rounds and not clock time, so that
// a process that is stopped or waits for a processor does not count as too slow.
func watch(now *atomic.Pointer[call]) {
	const round = 50 * time.Millisecond
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	for last, took := now.Load(), time.Duration(0); ; time.Sleep(round) {
		took += round
		if c := now.Load(); c != last {
			last, took = c, 0
		}
		metrics.Read(sample)
		if sample[0].Value.Uint64() > 2<<30 || took > mostTime {
			fmt.Fprintf(os.Stderr, "apiwalk: %v takes more than 2 GiB or %v\n", last, mostTime)
			os.Exit(1)
		}
	}
}
