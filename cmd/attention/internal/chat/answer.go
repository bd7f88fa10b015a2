package chat

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"attention/cmd/attention/internal/program"
	"attention/layers/generate"
	"attention/train/text"
)

// answer is the model's answer to a message while it is drawn.
type answer struct {
	*talk
	ids     []int
	decoder *text.Decoder
	stops   *generate.Stops
	text    strings.Builder
	cost    string // what --stats prints
}

// say passes a message to the model and prints the answer. An error about the message is printed, and the message is
// then not part of the conversation; the returned error is one that ends the conversation.
func (t *talk) say(ctx context.Context, said string) error {
	t.turns = append(t.turns, turn{said: said})
	t.said++
	a := &answer{talk: t, decoder: text.NewDecoder(t.model.Tokenizer), stops: generate.NewStops(t.stop)}
	until, done := t.untilInterrupt(ctx)
	err := a.draw(until)
	stopped := until.Err() != nil
	done()
	a.print(a.stops.Flush()) // without the bytes of an incomplete character
	said = a.text.String()
	if a.stops.Stopped() {
		said = strings.TrimRight(said, " \t\r\n")
	}
	if said != "" || err == nil || stopped {
		a.write("\n")
	}
	last := len(t.turns) - 1
	if t.turns[last].answer = said; strings.TrimSpace(said) == "" {
		t.turns = t.turns[:last]
	}
	t.first = min(t.first, len(t.turns))
	switch {
	case t.out.Err() != nil:
		return t.out.Err()
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil && !stopped:
		t.note("%v", err)
		if last == len(t.turns) {
			t.refused++
		}
	case last == len(t.turns) && !stopped:
		t.note("the answer is empty: the message is not a part of the talk")
	}
	if a.cost != "" {
		t.note("%s", a.cost)
	}
	t.printHint("\n")
	return nil
}

// untilInterrupt returns a context that Ctrl-C cancels, and a function that releases it.
func (t *talk) untilInterrupt(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		select {
		case <-t.interrupts:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// draw makes the model read the conversation, and draws the answer.
func (a *answer) draw(ctx context.Context) error {
	began := program.Now()
	ids, err := a.prompt(ctx, nil, min(a.tokens, a.capacity/4))
	if err != nil {
		return err
	}
	kept, err := a.generator.Rewrite(ctx, ids)
	if err != nil {
		return err
	}
	if err := a.decoder.Follow(ids); err != nil {
		return err
	}
	reading, began := program.Since(began).Seconds(), program.Now()
	err = a.drawAll(ctx)
	if writing := program.Since(began).Seconds(); a.stats {
		a.cost = fmt.Sprintf("read %d of %d tokens in %.2f s, wrote %d in %.2f s, %.1f tokens/s", len(ids)-kept,
			len(ids), reading, len(a.ids), writing, float64(len(a.ids))/max(writing, 1e-9))
	}
	return err
}

// drawAll draws the tokens of the answer up to one that ends it. If the context is full, it first drops the oldest
// turns.
func (a *answer) drawAll(ctx context.Context) error {
	for id, err := range a.generator.Take(ctx, a.tokens-len(a.ids), a.ends...) {
		if errors.Is(err, generate.ErrFull) {
			if err = a.forget(ctx); err == nil {
				return a.drawAll(ctx)
			}
		}
		if err != nil {
			return err
		}
		a.ids = append(a.ids, id)
		text, err := a.decoder.Decode(id)
		if err != nil {
			return err
		}
		if a.print(a.stops.Add(text)); a.stops.Stopped() || a.out.Err() != nil {
			return nil
		}
	}
	return nil
}

// forget makes room for the next token.
func (a *answer) forget(ctx context.Context) error {
	ids, err := a.prompt(ctx, a.ids, 1)
	if errors.Is(err, errLong) {
		return errors.New("the context is full: the answer ends here")
	}
	if err == nil {
		_, err = a.generator.Rewrite(ctx, ids)
	}
	return err
}

// print prints a part of the answer.
func (a *answer) print(text string) {
	a.text.WriteString(text)
	a.write(text)
}

// write prints a text. The output keeps the error.
func (t *talk) write(text string) {
	if text != "" {
		_, _ = io.WriteString(t.out, text)
	}
}
