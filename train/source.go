package train

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"

	"attention/internal/config"
	"attention/internal/dense"
	"attention/layers"

	"gorgonia.org/tensor"
)

// Values are the values of a graph's inputs, by the inputs' names.
type Values = layers.Values

// Batch holds the values of a loss's inputs for one batch of examples.
type Batch struct {
	Inputs Values // by the inputs' names
	Tokens int    // number of targets that are not ignored, over which the loss is a mean
}

// Source yields batches. A batch belongs to the source: it is valid until the next call of Next, which may overwrite
// its tensors.
type Source interface {
	// Next returns the next batch, or io.EOF after the last one of an evaluation.
	Next() (Batch, error)
}

// Resumable is a source whose position can be saved and restored: a checkpoint holds its state.
type Resumable interface {
	Source
	// State returns the source's position.
	State() []byte
	// SetState moves the source to a position that State returned. After an error the source stays at its position.
	SetState(state []byte) error
}

// BatchConfig sets which rows Batches puts into a batch (torch.utils.data.DataLoader).
type BatchConfig struct {
	BatchSize int    `json:"batch_size"`          // B, rows of a batch; at least 1
	Shuffle   bool   `json:"shuffle,omitempty"`   // each epoch has its own order
	Seed      uint64 `json:"seed,omitempty"`      // of the orders
	DropLast  bool   `json:"drop_last,omitempty"` // leaves out rows at the end of an epoch that do not fill a batch
	Epochs    int    `json:"epochs,omitempty"`    // number of epochs before io.EOF; 0 means that the source is endless
}

// Validate returns an error that names the first wrong field.
func (c BatchConfig) Validate() error {
	return cmp.Or(config.AtLeast(c, 1, "BatchSize"), config.AtLeast(c, 0, "Epochs"))
}

// Batches is a Resumable source of the rows of tensors, such as all examples of a data set. An epoch contains each row
// once; a batch never has rows of two epochs.
type Batches struct {
	config BatchConfig
	values Values
	batch  Batch
	rows   int
	epoch  uint64
	next   int   // first row of the next batch, in the epoch's order
	order  []int // the epoch's rows; nil if they are in order, or not drawn yet
}

// NewBatches returns a source over values, which must not change: tensors by the names of a loss's inputs, all with the
// same number of rows, which is their first axis. The last batch of an epoch may have fewer rows than the others.
// Batch.Tokens counts rows. Equal values and configs give equal batches.
func NewBatches(values Values, c BatchConfig) (*Batches, error) {
	rows, err := 0, c.Validate()
	if err == nil {
		rows, err = rowsOf(values)
	}
	if err == nil && c.BatchSize > rows {
		err = config.Errorf(c, "BatchSize", "got %d for %d rows, want at most as many", c.BatchSize, rows)
	}
	if err != nil {
		return nil, fmt.Errorf("train: batches: %w", err)
	}
	return &Batches{config: c, values: maps.Clone(values), rows: rows}, nil
}

// rowsOf returns the number of rows that all tensors have, which must be enough for a batch.
func rowsOf(values Values) (rows int, err error) {
	if len(values) == 0 {
		return 0, errors.New("values: got none, want a tensor")
	}
	names := slices.Sorted(maps.Keys(values))
	for i, name := range names {
		if err := checkLayout(fmt.Sprintf("%.100q", name), values[name]); err != nil {
			return 0, err
		}
		switch s := values[name].Shape(); {
		case len(s) == 0 || s.TotalSize() == 0:
			return 0, fmt.Errorf("%.100q: shape %v, want one row or more", name, s)
		case i == 0:
			rows = s[0]
		case s[0] != rows:
			return 0, fmt.Errorf("%.100q: got %d rows, want %d as of %.100q", name, s[0], rows, names[0])
		}
	}
	return rows, nil
}

// Next returns the next rows. After every BatchConfig.Epochs epochs it returns io.EOF, and the following call begins
// the next epoch. The next call may overwrite the same tensors: copy values that must outlive it.
func (s *Batches) Next() (Batch, error) {
	n := min(s.config.BatchSize, s.rows-s.next)
	if n == 0 || n < s.config.BatchSize && s.config.DropLast {
		s.epoch, s.next, s.order, n = s.epoch+1, 0, nil, s.config.BatchSize
		if n := uint64(s.config.Epochs); n > 0 && s.epoch%n == 0 {
			return Batch{}, io.EOF
		}
	}
	if s.config.Shuffle && s.order == nil { // the order depends on the seed and the epoch only
		s.order = rand.New(rand.NewPCG(s.config.Seed, s.epoch)).Perm(s.rows)
	}
	if s.batch.Tokens != n {
		s.batch = Batch{Values{}, n}
		for name, v := range s.values {
			shape := append(tensor.Shape{n}, v.Shape()[1:]...)
			s.batch.Inputs[name] = tensor.New(tensor.Of(v.Dtype()), tensor.WithShape(shape...))
		}
	}
	for name, v := range s.values {
		from, to := reflect.ValueOf(dense.Slice(v)), reflect.ValueOf(dense.Slice(s.batch.Inputs[name]))
		width := from.Len() / s.rows
		for i := range n {
			row := s.next + i
			if s.order != nil {
				row = s.order[row]
			}
			reflect.Copy(to.Slice(i*width, (i+1)*width), from.Slice(row*width, (row+1)*width))
		}
	}
	s.next += n
	return s.batch, nil
}

// State returns the source's epoch and its position in it.
func (s *Batches) State() []byte {
	state := binary.BigEndian.AppendUint64(nil, s.epoch)
	return binary.BigEndian.AppendUint64(state, uint64(s.next))
}

// SetState moves the source to a position that State returned, over equal values and with an equal config.
func (s *Batches) SetState(state []byte) error {
	if len(state) != 16 {
		return fmt.Errorf("train: batches: state: got %d bytes, want 16", len(state))
	}
	epoch, next := binary.BigEndian.Uint64(state), binary.BigEndian.Uint64(state[8:])
	if rows := uint64(s.rows); next > rows || next < rows && next%uint64(s.config.BatchSize) != 0 {
		return fmt.Errorf("train: batches: state: got row %d, want a multiple of %d up to %d: was it other data?", next,
			s.config.BatchSize, s.rows)
	}
	s.epoch, s.next, s.order = epoch, int(next), nil
	return nil
}
