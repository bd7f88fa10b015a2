package chat

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"attention/internal/folder"
)

// maxLine is the most bytes of a message.
const maxLine = 1 << 20

// listen answers each line of the input.
func (t *talk) listen(ctx context.Context, in io.Reader) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	lines, ended := make(chan string), make(chan error, 1)
	go func() {
		scanner := bufio.NewScanner(in)
		scanner.Buffer(nil, maxLine)
		for scanner.Scan() {
			select {
			case lines <- scanner.Text():
			case <-ctx.Done():
				return
			}
		}
		ended <- scanner.Err()
	}()
	for {
		t.printHint("> ")
		select {
		case line := <-lines:
			if err := t.hear(ctx, line); errors.Is(err, errBye) {
				return t.refusals()
			} else if err != nil {
				return err
			}
		case err := <-ended:
			t.printHint("\n")
			return cmp.Or(inputError(err), t.refusals())
		case <-t.interrupts:
			t.printHint("\nCtrl-D ends the talk.\n")
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// errBye ends a conversation.
var errBye = errors.New("bye")

// refusals returns the error about messages that were refused. At a terminal a line has already reported them.
func (t *talk) refusals() error {
	if t.interactive || t.refused == 0 {
		return nil
	}
	return fmt.Errorf("the input: got no answer to %d of %d messages, want one to each", t.refused, t.said)
}

// inputError returns an error of the input.
func inputError(err error) error {
	switch {
	case errors.Is(err, bufio.ErrTooLong):
		return fmt.Errorf("the input: got a line of more than %d bytes, want fewer", maxLine)
	case err != nil:
		return fmt.Errorf("the input: %w", err)
	}
	return nil
}

// printHint prints text for a terminal only.
func (t *talk) printHint(text string) {
	if t.interactive {
		fmt.Fprint(t.notes, text)
	}
}

// hear answers a line, or executes it if it is a command.
func (t *talk) hear(ctx context.Context, line string) error {
	if strings.TrimSpace(line) == "" {
		return nil
	}
	if !strings.HasPrefix(line, "/") {
		return t.say(ctx, strings.TrimSpace(line))
	}
	name, argument, _ := strings.Cut(strings.TrimSpace(line), " ")
	switch argument = strings.TrimSpace(argument); {
	case name == "/reset" && argument == "":
		t.turns, t.first = nil, 0
		t.note("a new talk begins")
	case name == "/save":
		if err := t.save(argument); err != nil {
			t.note("/save: %v", err)
		}
	case (name == "/help" || name == "/?") && argument == "":
		fmt.Fprint(t.notes, commands)
	case (name == "/bye" || name == "/exit" || name == "/quit") && argument == "":
		return errBye
	default:
		t.note("got %.40q, want /reset, /save FILE, /help or /bye", line)
	}
	return nil
}

// save writes the talk to a file that fine-tuning takes.
func (t *talk) save(path string) error {
	if len(t.turns) == 0 {
		return errors.New("got no answer yet, want one")
	}
	if strings.ToLower(filepath.Ext(path)) != ".jsonl" {
		return fmt.Errorf("got %q, want a file whose name ends with .jsonl", path)
	}
	if _, err := os.Stat(path); err == nil && path != t.saved {
		return fmt.Errorf("got %s, which exists, want the name of a new file", path)
	}
	err := folder.WriteFile(path, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		return e.Encode(map[string]any{"messages": t.messages(0)})
	})
	if err == nil {
		t.saved = path // a longer conversation may replace it
		t.note("%s has the talk", path)
	}
	return err
}
