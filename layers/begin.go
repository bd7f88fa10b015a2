package layers

import (
	"fmt"
	"reflect"
)

// module is a layer or a model.
type module interface {
	// called returns the module's name in errors; empty for a zero value.
	called() string
}

func (l *AdditiveAttention) called() string { return l.name }
func (l *Attention) called() string         { return l.name }
func (l *Block) called() string             { return l.name }
func (l *DecoderBlock) called() string      { return l.name }
func (l *Embedding) called() string         { return l.name }
func (m *GPT) called() string               { return m.name }
func (l *GRU) called() string               { return l.name }
func (l *Linear) called() string            { return l.name }
func (l *MLP) called() string               { return l.name }
func (l *Norm) called() string              { return l.name }
func (m *RNNSeq2Seq) called() string        { return m.name }
func (m *Seq2Seq) called() string           { return m.name }
func (m *ViT) called() string               { return m.name }

// made refuses a module that no constructor made: nil and the zero value.
func made(m module) error {
	if reflect.ValueOf(m).IsNil() || m.called() == "" {
		return fmt.Errorf("layers: got a %T that is nil or zero, want one that its constructor made", m)
	}
	return nil
}

// begin begins a call of a module. It refuses a module and a build that were not made by
// their constructors, and returns the build's error: its nodes may only stand for missing
// ones.
func begin(b *Build, m module) (*formula, error) {
	if err := made(m); err != nil {
		return nil, err
	}
	if err := b.Err(); err != nil {
		return nil, err
	}
	return b.formula(m.called()), nil
}
