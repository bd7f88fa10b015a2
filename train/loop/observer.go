package loop

import (
	"iter"

	"attention/train"

	"gorgonia.org/tensor"
)

// Saver saves a run to files, as a checkpoint.Folder does.
type Saver interface {
	// Every returns the number of steps between two checkpoints; 0 means only the last one.
	Every() int
	// Newest returns the steps of the checkpoint that was last saved or restored; -1 before.
	Newest() int
	// Save saves the loop, by Loop.Save, and the position of the source of its batches.
	Save(l *Loop, source train.Resumable) error
}

// SaveTo makes Run save checkpoints; nil makes it save none.
func (l *Loop) SaveTo(s Saver) { l.saver = s }

// Observer is called while a run trains. Package record implements one.
type Observer interface {
	// Begin is called before each Run takes a step.
	Begin() error
	// Observe is called before the first step, and after each step and its evaluation. last is true if no step follows.
	Observe(last bool) error
	// Flush is called before a checkpoint is saved, and when Run ends.
	Flush() error
	// State returns the observer's part of a checkpoint: the number of steps before the last observation, -1 before the
	// first, and tensors.
	State() (observed int, tensors iter.Seq2[string, *tensor.Dense])
	// SetState is called after a checkpoint was restored: the tensors then have the checkpoint's values, or observed is
	// -1.
	SetState(observed int)
}

// Observe makes Run call an observer; nil makes it call none. Call Observe before a checkpoint is restored, so that the
// observer gets its state. With Config.Group only one process has an observer.
func (l *Loop) Observe(o Observer) { l.observer = o }

// observe calls the observer.
func (l *Loop) observe() error {
	if l.observer == nil {
		return nil
	}
	return l.observer.Observe(l.done())
}

// flush flushes the observer.
func (l *Loop) flush() error {
	if l.observer == nil {
		return nil
	}
	return l.observer.Flush()
}
