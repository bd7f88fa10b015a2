package main

import (
	"fmt"
	"go/format"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

const columns = 120 // of a line

// writeGo writes a file of Go, formatted, with lines of at most so many columns.
func writeGo(text []byte, dir, name string) error {
	short, err := format.Source(text)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if short, err = format.Source([]byte(wrapped(string(short)))); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return os.WriteFile(filepath.Join(dir, name), short, 0o666)
}

// wrapped breaks long lines behind a comma, and comments between words.
func wrapped(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		indent := line[:len(line)-len(strings.TrimLeft(line, "\t"))]
		last, next := ", ", indent+"\t"
		if strings.HasPrefix(line[len(indent):], "// ") {
			last, next = " ", indent+"// "
		}
		var parts []string
		for utf8.RuneCountInString(line) > columns {
			at := strings.LastIndex(string([]rune(line)[:columns]), last)
			if at <= len(next) {
				break
			}
			end := at + len(last) - 1
			parts, line = append(parts, line[:end]), next+line[end+1:]
		}
		lines[i] = strings.Join(append(parts, line), "\n")
	}
	return strings.Join(lines, "\n")
}
