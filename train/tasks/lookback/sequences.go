package lookback

import (
	"fmt"
	"math/rand/v2"

	"attention/graph"
	"attention/train"
	"attention/train/tasks"
	"attention/train/text"
)

// Sequences is an endless source of batches of random sequences, with the inputs of text.TokenLoss. The loss counts
// only the answers. The tensors of a batch are reused.
type Sequences struct {
	task         Task
	random       *rand.Rand
	batch        train.Batch
	ids, targets []int // (B, T) of the batch
}

// New returns a source of batches of size sequences of a task.
func New(t Task, size int, random *rand.Rand) (*Sequences, error) {
	if err := t.validate(); err != nil {
		return nil, err
	}
	if err := (text.WindowConfig{Batch: size, Context: Context}).Validate(); err != nil {
		return nil, fmt.Errorf("lookback: %w", err)
	}
	in := train.Values{}
	return &Sequences{task: t, random: random, batch: train.Batch{Inputs: in},
		ids: tasks.Ids(in, text.Inputs, size, Context), targets: tasks.Ids(in, text.Targets, size, Context)}, nil
}

// Next draws sequences of all levels.
func (s *Sequences) Next() (train.Batch, error) {
	return s.fill(func() int { return s.task.draw(s.random) }), nil
}

// Draw draws sequences of a level, one of the task's Levels.
func (s *Sequences) Draw(level int) train.Batch { return s.fill(func() int { return level }) }

func (s *Sequences) fill(level func() int) train.Batch {
	for i := range s.targets {
		s.targets[i] = graph.IgnoreTarget
	}
	s.batch.Tokens = 0
	for at := 0; at < len(s.ids); at += Context {
		s.batch.Tokens += s.task.write(s.ids[at:at+Context], s.targets[at:at+Context], level(), s.random)
	}
	return s.batch
}
