package generate

import (
	"context"
	"fmt"
)

// Texts draws the next token of each of some texts: a Batch does, and Generator.Texts of one.
type Texts interface {
	Prompt(ctx context.Context, prompts [][]int) error
	Next(ctx context.Context) ([]int, error) // −1 for a text that has been stopped
	Stop(text int)
	Memory() Memory
}

// Texts returns the generator's text as the only one of some.
func (g *Generator) Texts() Texts { return &single{Generator: g} }

// single is a generator with the methods of Texts.
type single struct {
	*Generator
	stopped bool
}

func (s *single) Prompt(ctx context.Context, prompts [][]int) error {
	if len(prompts) != 1 {
		return fmt.Errorf("generate: prompts: got %d, want one", len(prompts))
	}
	return s.Generator.Prompt(ctx, prompts[0])
}

func (s *single) Next(ctx context.Context) ([]int, error) {
	if s.stopped {
		return []int{-1}, nil
	}
	id, err := s.Generator.Next(ctx)
	return []int{id}, err
}

func (s *single) Stop(int) { s.stopped = true }
