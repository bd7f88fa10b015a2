package term

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"syscall"
	"unicode/utf8"

	"golang.org/x/term"
)

// Screen is a writer of text for people. Its output cannot control a terminal, wherever the text comes from: see
// Printable.
type Screen struct {
	mu     sync.Mutex
	writer io.Writer
	begun  []byte // the first bytes of a character whose other bytes come with the next Write
	err    error  // the first one
}

// NewScreen returns a screen that writes to w.
func NewScreen(w io.Writer) *Screen { return &Screen{writer: w} }

// Write writes p, printable.
func (s *Screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := slices.Concat(s.begun, p)
	end := len(text)
	for i := max(end-utf8.UTFMax+1, 0); i < end; i++ {
		if utf8.RuneStart(text[i]) && !utf8.FullRune(text[i:]) {
			end = i
		}
	}
	s.begun = text[end:]
	if err := s.print(text[:end]); err != nil {
		return 0, err
	}
	return len(p), nil
}

// print writes text, printable, and keeps the first error.
func (s *Screen) print(text []byte) error {
	_, err := io.WriteString(s.writer, Printable(string(text)))
	if s.err == nil {
		s.err = err
	}
	return err
}

// Flush writes the bytes of a character that is not complete. It returns the first error of the screen. A reader that
// has closed its end is not an error.
func (s *Screen) Flush() error {
	if len(s.begun) > 0 {
		_ = s.print(s.begun) // the screen keeps the error
	}
	s.begun = nil
	if s.err == nil || errors.Is(s.err, syscall.EPIPE) {
		return nil
	}
	return fmt.Errorf("printing: %w", s.err)
}

// Raw returns the writer for text that another program may read as data. It is the writer below w, which changes no
// byte, unless that is a terminal.
func Raw(w io.Writer) io.Writer {
	if IsTerminal(w) {
		return w
	}
	return below(w)
}

// IsTerminal reports whether w writes to a terminal.
func IsTerminal(w io.Writer) bool {
	f, ok := below(w).(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// below returns the writer below this package's own.
func below(w io.Writer) io.Writer {
	switch o := w.(type) {
	case *Output:
		return below(o.writer)
	case *Screen:
		return below(o.writer)
	}
	return w
}
