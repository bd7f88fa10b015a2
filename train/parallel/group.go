package parallel

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"attention/train"
)

// Transport is a process of a group that sends bytes to other processes.
type Transport interface {
	// Rank returns the number of this process: 0 ≤ Rank < Size.
	Rank() int
	// Size returns the number of processes.
	Size() int
	// Exchange sends bytes to one process and at the same time receives from another, which also calls Exchange. Messages
	// between two processes arrive in the order in which they were sent, with their full length. An empty slice means no
	// message.
	Exchange(to int, send []byte, from int, receive []byte) error
	// Abort ends all processes; their calls of Exchange then fail with this reason.
	Abort(reason error)
}

// Group is a process of a group whose processes train one model together: a train.Group over a
// transport. Its methods are called by all processes, in the same order.
type Group struct {
	Transport
	sent    int64
	scratch []float64 // of room
}

// New returns the group of a transport.
func New(t Transport) (*Group, error) {
	if t == nil {
		return nil, errors.New("parallel: group: got nil for the transport, want one")
	}
	if rank, size := t.Rank(), t.Size(); size < 1 || rank < 0 || rank >= size {
		return nil, fmt.Errorf("parallel: group: got rank %d of %d processes, want 0 <= rank < size", rank, size)
	}
	return &Group{Transport: t}, nil
}

// Close leaves the group, if its transport has a Close. It is the last call.
func (g *Group) Close() error {
	if c, ok := g.Transport.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// Sent returns the bytes that this process has sent.
func (g *Group) Sent() int64 { return g.sent }

// exchange calls Exchange. Its error ends all processes, because some of them wait for a message.
func (g *Group) exchange(to int, send []byte, from int, receive []byte) error {
	if err := g.Exchange(to, send, from, receive); err != nil {
		err = fmt.Errorf("group: rank %d, which sends to %d and receives from %d: %w", g.Rank(), to, from, err)
		g.Abort(err)
		return err
	}
	g.sent += int64(len(send))
	return nil
}

// gatherEqual is Gather for parts of equal size.
func (g *Group) gatherEqual(mine []byte) ([][]byte, error) {
	return g.Gather(mine, slices.Repeat([]int{len(mine)}, g.Size()))
}

// gatherTexts returns the text of each process, by rank.
func (g *Group) gatherTexts(mine string) ([]string, error) {
	lengths, err := g.gatherNumbers(comparing, len(mine))
	if err != nil {
		return nil, err
	}
	parts, err := g.Gather([]byte(mine), lengths)
	if err != nil {
		return nil, err
	}
	texts := make([]string, len(parts))
	for i, part := range parts {
		texts[i] = string(part)
	}
	return texts, nil
}

// The purposes for which processes exchange a number.
const (
	agreeing  = "agrees on errors"
	comparing = "sends a text to compare"
)

// gatherNumbers returns the number of each process, by rank. If the purposes differ, all processes get the same error.
func (g *Group) gatherNumbers(what string, mine int) ([]int, error) {
	parts, err := g.gatherEqual(binary.LittleEndian.AppendUint64([]byte{what[0]}, uint64(mine)))
	if err != nil {
		return nil, err
	}
	numbers := make([]int, len(parts))
	for rank, part := range parts {
		if part[0] != parts[0][0] {
			other := map[byte]string{agreeing[0]: agreeing, comparing[0]: comparing}
			return nil, fmt.Errorf("train: group: rank %d: %s where rank 0 %s: the two do not do the same",
				rank, other[part[0]], other[parts[0][0]])
		}
		numbers[rank] = int(binary.LittleEndian.Uint64(part[1:]))
	}
	return numbers, nil
}

// Kinds of errors that processes send each other.
const (
	noError int = iota
	stopError
	notFiniteError
	otherError
)

// Agree returns the same error in all processes: the first rank's error that is not the end of a context; otherwise the
// end of a context, if there is one; otherwise nil.
func (g *Group) Agree(err error) error {
	if g.Size() == 1 {
		return err
	}
	codes, failed := g.gatherNumbers(agreeing, kindOf(err))
	if failed != nil {
		return failed
	}
	rank := slices.IndexFunc(codes, func(kind int) bool { return kind > stopError })
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
	texts, failed := g.gatherTexts(text)
	if failed != nil {
		return failed
	}
	return &rankError{rank: rank, text: texts[rank], notFinite: codes[rank] == notFiniteError}
}

func kindOf(err error) int {
	switch {
	case err == nil:
		return noError
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return stopError
	case errors.Is(err, train.ErrNotFinite):
		return notFiniteError
	}
	return otherError
}

// rankError is the error of one process of a Group, as all processes return it.
type rankError struct {
	rank      int
	text      string
	notFinite bool
}

// Error names the process.
func (e *rankError) Error() string {
	if text, ok := strings.CutPrefix(e.text, "train: "); ok { // its prefix stays first
		return fmt.Sprintf("train: rank %d: %s", e.rank, text)
	}
	return fmt.Sprintf("rank %d: %s", e.rank, e.text)
}

// Is reports whether the process's error was train.ErrNotFinite.
func (e *rankError) Is(target error) bool { return e.notFinite && target == train.ErrNotFinite }
