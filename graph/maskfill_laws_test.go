package graph_test

import (
	"testing"

	"pgregory.net/rapid"
)

// And, Or and Not obey the laws of logic.
func TestLawsOfMasks(t *testing.T) {
	and := func(of ...drawnMask) drawnMask { return drawnMask{kind: "and", of: of} }
	or := func(of ...drawnMask) drawnMask { return drawnMask{kind: "or", of: of} }
	not := func(of drawnMask) drawnMask { return drawnMask{kind: "not", of: []drawnMask{of}} }
	all := drawnMask{kind: "all"}
	none := not(all)
	rapid.Check(t, func(rt *rapid.T) {
		d := newDrawing(rt)
		z := sizes{batch: []int{2}, heads: true, H: 2, T: d.int("T", 1, 5), S: d.int("S", 1, 5)}
		a, b, c := d.mask(z, 2), d.mask(z, 2), d.mask(z, 1)
		for name, law := range map[string][2]drawnMask{
			"a ∧ b = b ∧ a":                 {and(a, b), and(b, a)},
			"a ∨ b = b ∨ a":                 {or(a, b), or(b, a)},
			"a ∧ b ∧ c = a ∧ (b ∧ c)":       {and(a, b, c), and(a, and(b, c))},
			"a ∨ b ∨ c = a ∨ (b ∨ c)":       {or(a, b, c), or(a, or(b, c))},
			"a ∧ (b ∨ c) = a ∧ b ∨ a ∧ c":   {and(a, or(b, c)), or(and(a, b), and(a, c))},
			"a ∨ b ∧ c = (a ∨ b) ∧ (a ∨ c)": {or(a, and(b, c)), and(or(a, b), or(a, c))},
			"¬(a ∧ b) = ¬a ∨ ¬b":            {not(and(a, b)), or(not(a), not(b))},
			"¬(a ∨ b) = ¬a ∧ ¬b":            {not(or(a, b)), and(not(a), not(b))},
			"¬¬a = a":                       {not(not(a)), a},
			"a ∧ a = a":                     {and(a, a), a},
			"a ∧ all = a":                   {and(a, all), a},
			"a ∨ all = all":                 {or(a, all), all},
			"a ∨ none = a":                  {or(a, none), a},
			"a ∧ ¬a = none":                 {and(a, not(a)), none},
			"a ∨ ¬a = all":                  {or(a, not(a)), all},
		} {
			s := shrinking{t, rt}
			if l, r := printed(z.table(s, law[0])), printed(z.table(s, law[1])); l != r {
				rt.Fatalf("%s\na = %+v\nb = %+v\nc = %+v\nleft\n%s\nright\n%s", name, a, b, c, l, r)
			}
		}
	})
}
