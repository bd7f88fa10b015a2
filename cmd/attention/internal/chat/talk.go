package chat

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"attention/cmd/attention/internal/program"
	"attention/cmd/attention/internal/run/models"
	"attention/cmd/attention/internal/term"
	"attention/layers/generate"
	"attention/train/text"
)

// talk is a conversation with a model.
type talk struct {
	model     *models.OpenModel
	generator *generate.Generator
	template  *text.Template
	rendering text.TemplateConfig
	capacity  int    // length of the model's window, in tokens
	tokens    int    // largest number of tokens of an answer
	ends      []int  // ids that end an answer
	stop      string // text that ends an answer; "" for none

	system []text.Message // the system message, if any
	turns  []turn
	first  int    // index of the first turn that the model still sees
	saved  string // the file that /save wrote last

	said, refused int // numbers of messages, and of those without an answer because of an error

	screen
	interactive bool             // whether the input is a terminal
	interrupts  <-chan os.Signal // Ctrl-C; nil if it ends the command
	stats       bool
}

// screen is where a talk is shown.
type screen struct {
	out   *term.Output // answers
	notes io.Writer    // all else
}

// turn is a message with its answer.
type turn struct {
	said, answer string // "" means that there is no answer yet
}

// note prints a line about the talk.
func (t *talk) note(format string, args ...any) {
	program.Note(t.notes, "%s", term.Line(fmt.Sprintf(format, args...)))
}

// messages returns the system message and the turns from one on.
func (t *talk) messages(first int) []text.Message {
	all := slices.Clone(t.system)
	for _, turn := range t.turns[first:] {
		all = append(all, text.Message{Role: "user", Content: turn.said})
		if turn.answer != "" {
			all = append(all, text.Message{Role: "assistant", Content: turn.answer})
		}
	}
	return all
}

// render returns the tokens of the turns from one on, up to where the next answer begins.
func (t *talk) render(ctx context.Context, first int) ([]int, error) {
	return models.Asked(ctx, t.template, t.model.Tokenizer, t.messages(first), t.rendering)
}

// errLong is the error about a message that does not fit into the context.
var errLong = errors.New("the context is full")

// prompt returns the tokens of the conversation, including the beginning of an answer. If they leave less space than
// requested, it drops the oldest turns, but never the last one, until half of the context is free.
func (t *talk) prompt(ctx context.Context, begun []int, room int) ([]int, error) {
	ids, err := t.render(ctx, t.first)
	if err != nil {
		return nil, err
	}
	first := t.first
	if len(ids)+len(begun)+room > t.capacity {
		for len(ids)+len(begun) > t.capacity/2 && first < len(t.turns)-1 {
			first++
			if ids, err = t.render(ctx, first); err != nil {
				return nil, err
			}
		}
	}
	ids = append(ids, begun...)
	if len(ids) >= t.capacity {
		return nil, fmt.Errorf("%w: got a message with which the talk has %d tokens, want fewer than %d", errLong,
			len(ids), t.capacity)
	}
	if len(begun) > 0 && first > t.first {
		t.printHint("\n")
	}
	if n := first - t.first; n == 1 {
		t.note("the context (%d tokens) is full: the oldest turn is forgotten", t.capacity)
	} else if n > 1 {
		t.note("the context (%d tokens) is full: the oldest %d turns are forgotten", t.capacity, n)
	}
	t.first = first
	return ids, nil
}

// Placeholders for the messages of a conversation, which no template treats specially.
const anAnswer, aQuestion = "\ue000\ue001", "\ue002\ue003"

// findStop finds the first line of text that the template writes after an answer and its end token, such as the heading
// of the next message. An answer also ends before this line.
func (t *talk) findStop(ctx context.Context) error {
	talk := append(slices.Clone(t.system), text.Message{Role: "user", Content: aQuestion},
		text.Message{Role: "assistant", Content: anAnswer}, text.Message{Role: "user", Content: aQuestion})
	rendered, err := t.template.Render(ctx, talk, t.rendering)
	if err != nil {
		return fmt.Errorf("--template: %w", err)
	}
	_, after, _ := strings.Cut(rendered, anAnswer)
	after, _, _ = strings.Cut(after, aQuestion)
	if tokenizer, ok := t.model.Tokenizer.(*text.SubwordTokenizer); ok {
		for _, id := range t.ends {
			after = strings.TrimPrefix(strings.TrimSpace(after), tokenizer.Token(id))
		}
	}
	t.stop, _, _ = strings.Cut(strings.TrimSpace(after), "\n")
	return nil
}
