package text

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"attention/internal/config"
)

// Lesson is an example in the form that a model learns.
type Lesson struct {
	IDs     []int
	Learned []bool // whether the loss counts the prediction of each token; nil if a class is learned
	Class   int    // class of the text, if Lessons have classes
}

// count returns the number of tokens that the loss counts; the first token never counts, because nothing predicts it.
func (l Lesson) count() (n int) {
	if l.Learned == nil {
		return 1
	}
	for i, learned := range l.Learned {
		if learned && i > 0 {
			n++
		}
	}
	return n
}

// LessonConfig sets how examples become lessons.
type LessonConfig struct {
	Tokenizer Tokenizer
	Template  *Template      // of conversations
	Rendering TemplateConfig // its AddGenerationPrompt is not used
	// Ends are the ids that end a text or an answer. The first of them is added to lessons that end without any of them.
	Ends           []int
	TrainOnPrompts bool // the loss counts the whole conversation, and not only the assistant's part
	// Classes are the labels of texts. If there are Classes, a lesson is a text with its class, which the model predicts
	// at the token that ends the text.
	Classes []string
}

// Lessons makes lessons of examples.
type Lessons struct{ config LessonConfig }

// NewLessons returns an error for a template with special tokens that the tokenizer lacks.
func NewLessons(ctx context.Context, c LessonConfig) (*Lessons, error) {
	switch {
	case c.Tokenizer == nil:
		return nil, fmt.Errorf("text: lessons: %w", config.Errorf(c, "Tokenizer", "got nil, want one"))
	case len(c.Ends) == 0:
		return nil, fmt.Errorf("text: lessons: %w", config.Errorf(c, "Ends", "got none, want an id that ends a text"))
	}
	for _, id := range c.Ends {
		if err := checkID(0, id, c.Tokenizer.Len()); err != nil {
			return nil, fmt.Errorf("text: lessons: %w", config.Errorf(c, "Ends", "%w", err))
		}
	}
	if c.Template != nil {
		if err := c.Template.CheckTokens(ctx, c.Tokenizer, c.Rendering); err != nil {
			return nil, fmt.Errorf("text: lessons: template: %w", err)
		}
	}
	return &Lessons{c}, nil
}

// specialLooks matches texts that look like special tokens of templates.
var specialLooks = regexp.MustCompile(`<\|[^|<>\s]+\|>|</?s>|<(?:start|end)_of_turn>|\[/?INST\]`)

// CheckTokens returns an error for a tokenizer that lacks special tokens of the template's texts: they would be encoded
// as ordinary text.
func (t *Template) CheckTokens(ctx context.Context, tokenizer Tokenizer, c TemplateConfig) error {
	text, err := t.Render(ctx, []Message{{Role: "user", Content: "a"}, {Role: "assistant", Content: "b"}}, c)
	if err != nil { // some templates accept only parts
		parts := []Message{{Role: "user", Parts: []string{"a"}}, {Role: "assistant", Parts: []string{"b"}}}
		text, err = t.Render(ctx, parts, c)
	}
	if err != nil {
		return err
	}
	for _, token := range specialLooks.FindAllString(text, -1) {
		t, ok := tokenizer.(*SubwordTokenizer)
		if ok {
			_, ok = t.ID(token)
		}
		if !ok {
			return fmt.Errorf("got the token %s, which the tokenizer does not have, want another template", token)
		}
	}
	return nil
}

// Of returns the lesson of an example. In a plain text all tokens are learned; in a conversation the assistant's
// messages are learned, each including the token that ends it. If the template drops a part of an answer, as Qwen 3's
// drops the thoughts of earlier answers, the answer is not learned, and whole is false.
func (l *Lessons) Of(ctx context.Context, e Example) (lesson Lesson, whole bool, err error) {
	if e.Texts != nil || e.Words != nil {
		return lesson, false, errors.New("got texts or words for an encoder, want a conversation or a text")
	}
	if l.config.Classes != nil {
		lesson, err = l.ofLabel(e)
		return lesson, true, err
	}
	if e.Messages == nil {
		lesson, err = l.ofText(e.Text)
		return lesson, true, err
	}
	if l.config.Template == nil && e.Pair && len(e.Messages) == 2 {
		lesson, err = l.ofPair(e.Messages[0].Content, e.Messages[1].Content)
		return lesson, true, err
	}
	if l.config.Template == nil {
		return lesson, false, errors.New("got a conversation without a template, want one")
	}
	if len(e.Tools) > 0 && !strings.Contains(l.config.Template.Source, "tools") {
		return lesson, false, errors.New("tools: got some, want none: the template does not show them")
	}
	text, spans, err := l.config.Template.RenderSpans(ctx, e.Messages, e.Rendering(l.config.Rendering))
	if err == nil {
		lesson.IDs, err = l.encode(text)
	}
	if err != nil {
		return lesson, false, err
	}
	lesson.Learned = slices.Repeat([]bool{l.config.TrainOnPrompts}, len(lesson.IDs))
	whole = true
	last := len(e.Messages) - 1
	end, ended := len(lesson.IDs), false // of the last message
	for _, s := range spans {
		whole = whole && !s.Changed
		if s.Changed || !e.Messages[s.Message].learned() {
			continue
		}
		to, ends, err := l.learn(&lesson, text, s)
		if err != nil {
			return lesson, false, err
		}
		if s.Message == last {
			end, ended = to, ends
		}
	}
	if last >= 0 && e.Messages[last].Role == "assistant" && e.Messages[last].learned() && !ended {
		lesson.IDs, lesson.Learned = append(lesson.IDs[:end], l.config.Ends[0]), append(lesson.Learned[:end], true)
	}
	if lesson.count() == 0 {
		return lesson, false, errors.New("got no token to learn, want one")
	}
	return lesson, whole, nil
}

// ofText is Of for a plain text, to which the token that ends a text is added unless it ends with one.
func (l *Lessons) ofText(text string) (lesson Lesson, err error) {
	if lesson.IDs, err = l.Prompt(text); err != nil {
		return lesson, err
	}
	if n := len(lesson.IDs); n == 0 || !slices.Contains(l.config.Ends, lesson.IDs[n-1]) {
		lesson.IDs = append(lesson.IDs, l.config.Ends[0])
	}
	lesson.Learned = slices.Repeat([]bool{true}, len(lesson.IDs))
	return lesson, nil
}

// Prompt returns the ids of a text to continue, including those that the tokenizer's file puts around each text.
func (l *Lessons) Prompt(text string) ([]int, error) {
	ids, err := l.encode(text)
	if t, ok := l.config.Tokenizer.(*SubwordTokenizer); ok && err == nil {
		ids = t.WithTemplate(ids)
	}
	return ids, err
}

// ofPair is Of for a prompt and its completion as one text: the completion is learned, from the first token that
// differs from those of the prompt alone, as in TRL.
func (l *Lessons) ofPair(prompt, completion string) (lesson Lesson, err error) {
	alone, err := l.Prompt(prompt)
	if err == nil {
		lesson, err = l.ofText(prompt + completion)
	}
	for i := 0; i < min(len(alone), len(lesson.IDs)) && alone[i] == lesson.IDs[i]; i++ {
		lesson.Learned[i] = l.config.TrainOnPrompts
	}
	return lesson, err
}

// ErrNoLabel is the error for an example without a class if classes are learned.
var ErrNoLabel = errors.New("got an example without a label, want a text with its class")

// ofLabel is Of for a text with a class.
func (l *Lessons) ofLabel(e Example) (lesson Lesson, err error) {
	if e.Label == "" {
		return lesson, ErrNoLabel
	}
	at := slices.Index(l.config.Classes, e.Label)
	if at < 0 {
		return lesson, fmt.Errorf("label: got %.60q, which no example to learn from has, want one of %d classes", e.Label,
			len(l.config.Classes))
	}
	lesson, err = l.ofText(e.Text)
	lesson.Learned, lesson.Class = nil, at
	return lesson, err
}

// Asked returns the ids of a text that the model should classify.
func (l *Lessons) Asked(text string) ([]int, error) {
	lesson, err := l.ofText(text)
	return lesson.IDs, err
}

// encode returns the ids of a text without added tokens.
func (l *Lessons) encode(text string) ([]int, error) {
	return l.config.Tokenizer.Encode(text)
}

// afterEnd lists the characters that may follow the token that ends an answer.
const afterEnd = " \t\r\n"

// learn marks the tokens of a span as learned, except blanks after the token that ends it. It returns the number of
// tokens up to its end, and whether the last of them can end an answer.
func (l *Lessons) learn(lesson *Lesson, text string, s AssistantSpan) (to int, ended bool, err error) {
	from, err := l.tokensBefore(lesson.IDs, text[:s.From], false)
	if err != nil {
		return 0, false, err
	}
	trimmed := strings.TrimRight(text[:s.To], afterEnd)
	if to, err = l.tokensBefore(lesson.IDs, trimmed, true); err != nil {
		return 0, false, err
	}
	if ended = to > from && l.ends(lesson.IDs[to-1]); !ended {
		to, err = l.tokensBefore(lesson.IDs, text[:s.To], true)
	}
	for i := from; i < to; i++ {
		lesson.Learned[i] = true
	}
	return max(from, to), ended, err
}

// ends reports whether a token can end an answer.
func (l *Lessons) ends(id int) bool {
	t, ok := l.config.Tokenizer.(*SubwordTokenizer)
	return ok && t.IsSpecial(id) || slices.Contains(l.config.Ends, id)
}

// tokensBefore returns how many of the ids of a text cover its beginning, including, if across is true, a token that
// extends beyond it.
func (l *Lessons) tokensBefore(ids []int, beginning string, across bool) (n int, err error) {
	first, err := l.encode(beginning)
	for n < min(len(first), len(ids)) && first[n] == ids[n] {
		n++
	}
	if across && n < min(len(first), len(ids)) {
		n++
	}
	return n, err
}
