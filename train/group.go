package train

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Group is the processes that train one model together, each with a Loop of its own over
// parameters of equal values: package train/parallel has those of MPI and of one process.
// All of them make the same calls of a Loop in the same order.
type Group interface {
	// Rank returns the number of this process: 0 ≤ Rank < Size.
	Rank() int
	// Size returns the number of processes.
	Size() int
	// Exchange sends bytes to one process and at the same time receives from another, which
	// calls it too. The messages of two processes arrive in the order they were sent in, at
	// their full length. An empty slice is no message.
	Exchange(to int, send []byte, from int, receive []byte) error
	// Abort ends all processes, whose calls of Exchange fail then, for this reason.
	Abort(reason error)
}

// alone is the Group of one process.
type alone struct{}

func (alone) Rank() int                               { return 0 }
func (alone) Size() int                               { return 1 }
func (alone) Exchange(int, []byte, int, []byte) error { return nil }
func (alone) Abort(error)                             {}

// team is a Group with what a Loop does over it. It counts the bytes that this process sends.
type team struct {
	Group
	sent    int64
	scratch []float64 // of room
}

// newTeam returns the team of a group; nil is one process.
func newTeam(g Group) (*team, error) {
	if g == nil {
		g = alone{}
	}
	if rank, size := g.Rank(), g.Size(); size < 1 || rank < 0 || rank >= size {
		return nil, fmt.Errorf("train: group: got rank %d of %d processes, want 0 <= rank < size", rank, size)
	}
	return &team{Group: g}, nil
}

// exchange is Exchange, of which an error ends all processes: the others wait for a message.
func (t *team) exchange(to int, send []byte, from int, receive []byte) error {
	err := t.Exchange(to, send, from, receive)
	if err != nil {
		err = fmt.Errorf("group: rank %d, which sends to %d and receives from %d: %w", t.Rank(), to, from, err)
		t.Abort(err)
		return err
	}
	t.sent += int64(len(send))
	return nil
}

// gatherEqual is gather for parts of one size.
func (t *team) gatherEqual(mine []byte) ([][]byte, error) {
	return t.gather(mine, slices.Repeat([]int{len(mine)}, t.Size()))
}

// gatherTexts returns the text that each process gave, by rank.
func (t *team) gatherTexts(mine string) ([]string, error) {
	parts, err := t.gatherEqual(binary.LittleEndian.AppendUint64(nil, uint64(len(mine))))
	if err != nil {
		return nil, err
	}
	lengths := make([]int, len(parts))
	for i, length := range parts {
		lengths[i] = int(binary.LittleEndian.Uint64(length))
	}
	if parts, err = t.gather([]byte(mine), lengths); err != nil {
		return nil, err
	}
	texts := make([]string, len(parts))
	for i, part := range parts {
		texts[i] = string(part)
	}
	return texts, nil
}

// Kinds of errors that processes tell each other.
const (
	noError byte = iota
	stopError
	notFiniteError
	otherError
)

// agree returns the same error in all processes: that of the first rank with one that is not
// the end of its context, or else that the context of one has ended, or else nil.
func (t *team) agree(err error) error {
	if t.Size() == 1 {
		return err
	}
	kinds, failed := t.gatherEqual([]byte{kindOf(err)})
	if failed != nil {
		return failed
	}
	codes := make([]byte, len(kinds))
	for rank, kind := range kinds {
		codes[rank] = kind[0]
	}
	rank := slices.IndexFunc(codes, func(kind byte) bool { return kind > stopError })
	if rank < 0 && slices.Contains(codes, stopError) {
		return context.Canceled
	}
	if rank < 0 {
		return nil
	}
	text := ""
	if err != nil {
		text = err.Error()
	}
	texts, failed := t.gatherTexts(text)
	if failed != nil {
		return failed
	}
	return &RankError{Rank: rank, text: texts[rank], notFinite: codes[rank] == notFiniteError}
}

func kindOf(err error) byte {
	switch {
	case err == nil:
		return noError
	case isStop(err):
		return stopError
	case errors.Is(err, ErrNotFinite):
		return notFiniteError
	}
	return otherError
}

// isStop reports whether an error is the end of a context.
func isStop(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// RankError is the error of one process of a Group, in all of them.
type RankError struct {
	Rank      int
	text      string
	notFinite bool
}

// Error names the process.
func (e *RankError) Error() string {
	if e == nil {
		return "rank: got nil, want an error of a Group"
	}
	if text, ok := strings.CutPrefix(e.text, "train: "); ok { // which stays in front
		return fmt.Sprintf("train: rank %d: %s", e.Rank, text)
	}
	return fmt.Sprintf("rank %d: %s", e.Rank, e.text)
}

// Is reports whether the process's error was ErrNotFinite.
func (e *RankError) Is(target error) bool { return e != nil && e.notFinite && target == ErrNotFinite }

// Agree returns the same error in all processes of a group, which call it together: that of
// the first rank with one, a *RankError, or nil. In one process, also with a nil group, it
// returns err.
func Agree(g Group, err error) error {
	t, wrong := newTeam(g)
	if wrong != nil {
		return wrong
	}
	return t.agree(err)
}
