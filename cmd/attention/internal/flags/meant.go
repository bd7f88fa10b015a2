package flags

import (
	"strings"

	"attention/cmd/attention/internal/program"

	"github.com/spf13/pflag"
)

// meantFor returns the end of an error about an unknown flag: similar flags, in the form of Cobra's errors about
// commands, or nothing.
func meantFor(set *pflag.FlagSet, typed string) string {
	var meant []string
	set.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && near(typed, f.Name) {
			meant = append(meant, "--"+f.Name)
		}
	})
	if meant == nil {
		return ""
	}
	return program.Meant + strings.Join(meant, " ")
}

// near reports whether a typed name may stand for another: it is a prefix of that name, or differs from it in at most a
// third of its letters and at most two letters.
func near(typed, name string) bool {
	if len(typed) < 3 || len(typed) > 40 {
		return false
	}
	return strings.HasPrefix(name, typed) || edits(typed, name) <= min(2, len(name)/3)
}

// edits returns the fewest letters to insert, delete, replace or swap with the next one that turn a into b.
func edits(a, b string) int {
	rows := make([][]int, len(a)+1) // from each beginning of a to each of b
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		for j := range rows[i] {
			rows[i][j] = max(i, j)
			if i == 0 || j == 0 {
				continue
			}
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
