package simd

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// Variable is the environment variable that chooses the kernels: go, avx2, avx512 or neon. Empty or missing, they
// are the best that the processor has. It is read once, when the process starts.
const Variable = "ATTENTION_KERNELS"

// PassedOver are faster kernels that this process does not run.
type PassedOver struct {
	Name string `json:"name"`
	Why  string `json:"why"`
}

// String returns, for example, "avx512 passed over: the processor lacks AVX512F".
func (p PassedOver) String() string { return p.Name + " passed over: " + p.Why }

// choice is the result of choosing kernels.
type choice struct {
	set    Set
	passed []PassedOver
	err    error
}

var chosen = choose(os.Getenv(Variable), builtSets, lacked)

// Err returns an error if Variable names unknown kernels, or kernels that this process cannot run. The kernels are then
// the best of the processor. Package graph returns it for every op, package machine for every machine.
func Err() error { return chosen.err }

// Passed returns the kernels of this build that are faster than the running ones, best first, each with the reason why
// it does not run.
func Passed() []PassedOver { return slices.Clone(chosen.passed) }

// choose returns the set of a name, or the best one if the name is empty. built are the sets in assembly of this
// build, best first; lacked returns the features that the processor lacks to run one, or "".
func choose(name string, built []Set, lacked func(Set) string) choice {
	c := choice{}
	has := []Set{} // what this process can run, best first
	for _, p := range built {
		if lacked(p) == "" {
			has = append(has, p)
		}
	}
	has = append(has, Go)
	c.set = has[0]
	if name != "" {
		c.set, c.err = named(name, built, has, lacked)
	}
	for _, p := range built {
		if p == c.set {
			break
		}
		why := lacked(p)
		if why != "" {
			why = "the processor lacks " + why
		} else {
			why = Variable + "=" + name
		}
		c.passed = append(c.passed, PassedOver{p.String(), why})
	}
	return c
}

// named returns the set of a name among those that the process can run, or the best one and an error.
func named(name string, built, has []Set, lacked func(Set) string) (Set, error) {
	for _, p := range has {
		if p.String() == name {
			return p, nil
		}
	}
	why := ""
	for _, p := range []Set{AVX2, AVX512, NEON} {
		switch {
		case p.String() != name:
		case slices.Contains(built, p):
			why = ", but the processor lacks " + lacked(p)
		default:
			why = ", which this build does not have"
		}
	}
	return has[0], fmt.Errorf("%s: got %.40q%s, want %s", Variable, name, why, listed(has))
}

// listed returns the names of sets as in "go, avx2 or avx512".
func listed(sets []Set) string {
	names := make([]string, len(sets))
	for i, p := range sets {
		names[len(sets)-1-i] = p.String()
	}
	last := len(names) - 1
	if last == 0 {
		return names[0]
	}
	return strings.Join(names[:last], ", ") + " or " + names[last]
}
