package golden

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Printed is one entry of a text file: a line "== head", then what PyTorch printed.
type Printed struct{ Head, Text string }

// LoadPrinted reads a file of such entries; path is as for Load. Lines that begin with # are comments; empty lines at
// the end of a text are ignored. A file that is missing or has no entry fails the test at once.
func LoadPrinted(t testing.TB, path string) []Printed {
	t.Helper()
	full, err := Path(filepath.FromSlash(path))
	if err != nil {
		t.Fatalf("golden: %s: %v", path, err)
	}
	file, err := os.ReadFile(full)
	if err != nil {
		t.Fatalf("golden: %v", err)
	}
	var entries []Printed
	for line := range strings.Lines(string(file)) {
		if head, ok := strings.CutPrefix(line, "== "); ok {
			entries = append(entries, Printed{Head: strings.TrimSuffix(head, "\n")})
		} else if len(entries) > 0 && !strings.HasPrefix(line, "#") {
			entries[len(entries)-1].Text += line
		}
	}
	for i := range entries {
		entries[i].Text = strings.TrimRight(entries[i].Text, "\n")
	}
	if len(entries) == 0 {
		t.Fatalf("golden: %s: got no entry, want some", path)
	}
	return entries
}
