// Package pattern finds parameters by patterns of their names.
package pattern

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
)

// Match returns the names that a pattern matches, in their order. It matches a name if path.Match matches the whole
// name or a part of it between dots: "wte" matches transformer.wte.weight; "h.1" matches all of transformer.h.1 and
// nothing of transformer.h.10; "h.*.mlp", "ln_?" and "bias" work in the same way. The error for a pattern that matches
// no name lists the nearest parts of names.
func Match(pattern string, names []string) (matched []string, err error) {
	if _, err := path.Match(pattern, ""); err != nil {
		return nil, fmt.Errorf("got %.60q, want a pattern of path.Match", pattern)
	}
	for _, name := range names {
		is := func(part string) bool {
			ok, _ := path.Match(pattern, part)
			return ok
		}
		if slices.ContainsFunc(parts(name), is) {
			matched = append(matched, name)
		}
	}
	if len(matched) > 0 {
		return matched, nil
	}
	const wrong = "got %.60q, want a pattern of the %d parameters' names"
	if near := nearest(pattern, names); len(near) > 0 {
		return nil, fmt.Errorf(wrong+", such as %s", pattern, len(names), strings.Join(near, ", "))
	}
	return nil, fmt.Errorf(wrong, pattern, len(names))
}

// parts returns the parts of a name that begin and end at its ends or at dots.
func parts(name string) (all []string) {
	words := strings.Split(name, ".")
	for from := range words {
		for to := from + 1; to <= len(words); to++ {
			all = append(all, strings.Join(words[from:to], "."))
		}
	}
	return all
}

// nearest returns up to three parts of names that are the most like a pattern, the nearest first.
func nearest(pattern string, names []string) []string {
	const most = 3
	plain := []rune(strings.Trim(strings.Map(func(r rune) rune {
		if strings.ContainsRune(`*?[]\`, r) {
			return -1
		}
		return r
	}, pattern), "."))
	if len(plain) > 100 { // no name is similar enough
		plain = plain[:100]
	}
	far := map[string]int{}
	var all []string
	for _, name := range names[:min(len(names), 2000)] { // enough suggestions
		for _, part := range parts(name) {
			if _, ok := far[part]; !ok {
				far[part] = distance(plain, []rune(part))
				if len(plain) > 0 && strings.Contains(part, string(plain)) {
					far[part] = min(far[part], 1)
				}
				all = append(all, part)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b string) int { return cmp.Or(far[a]-far[b], len(a)-len(b)) })
	n := 0
	for n < min(len(all), most) && far[all[n]] <= far[all[0]]+1 {
		n++
	}
	return all[:n]
}

// distance returns the fewest characters to insert, delete or replace that turn a into b
// (Levenshtein's distance).
func distance(a, b []rune) int {
	row := make([]int, len(b)+1) // of the characters of a so far to each beginning of b
	for j := range row {
		row[j] = j
	}
	for i, x := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j, y := range b {
			change := diagonal
			if x != y {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
