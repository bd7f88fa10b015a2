package chat

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"attention/cmd/attention/internal/commandtest"
	"attention/cmd/attention/internal/term"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// terminal is what a talk at a terminal reads and prints.
type terminal struct {
	keys, input *os.File
	lock        sync.Mutex
	text        bytes.Buffer
	interrupts  bool // Ctrl-C follows the next text that is printed
}

// newTerminal returns a terminal; without any it skips the test.
func newTerminal(t *testing.T) *terminal {
	keys, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("there are no terminals: ", err)
	}
	t.Cleanup(func() { keys.Close() })
	require.NoError(t, unix.IoctlSetPointerInt(int(keys.Fd()), unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(int(keys.Fd()), unix.TIOCGPTN)
	require.NoError(t, err)
	input, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("there are no terminals: ", err)
	}
	t.Cleanup(func() { input.Close() })
	return &terminal{keys: keys, input: input}
}

// Write prints on the terminal.
func (s *terminal) Write(p []byte) (int, error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.interrupts {
		s.interrupts = false
		if !isAwaited() {
			panic("got a text that no answer prints")
		}
		_ = syscall.Kill(os.Getpid(), syscall.SIGINT)
		for end := time.Now().Add(10 * time.Second); isAwaited() && time.Now().Before(end); {
			time.Sleep(time.Millisecond)
		}
	}
	return s.text.Write(p)
}

// isAwaited reports whether an answer still waits for Ctrl-C; it does not once it was stopped.
func isAwaited() bool {
	stacks := make([]byte, 1<<20)
	return bytes.Contains(stacks[:runtime.Stack(stacks, true)], []byte("untilInterrupt"))
}

// clear clears the screen.
func (s *terminal) clear() {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.text.Reset()
}

// press waits until the output ends with a text, and then presses keys.
func (s *terminal) press(t *testing.T, end, keys string) {
	require.Eventually(t, func() bool {
		s.lock.Lock()
		defer s.lock.Unlock()
		return strings.HasSuffix(s.text.String(), end)
	}, 20*time.Second, time.Millisecond, "%q", end)
	_, err := s.keys.WriteString(keys)
	require.NoError(t, err)
}

// begin starts a conversation at the terminal, as the program does.
func (s *terminal) begin(args ...string) (ended chan error) {
	ended = make(chan error, 1)
	root := commandtest.Root(New())
	root.SetIn(s.input)
	root.SetOut(s)
	root.SetErr(s)
	root.SetArgs(append([]string{"chat"}, args...))
	go func() {
		ctx, stop := term.UntilSignal(context.Background(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		context.AfterFunc(ctx, stop)
		err := root.ExecuteContext(ctx)
		ended <- term.WithSignal(ctx, err)
	}()
	return ended
}

// TestTerminal: prompts are printed, Ctrl-C stops answers repeatedly but not the conversation, and Ctrl-D ends it.
func TestTerminal(t *testing.T) {
	interrupt := func() { require.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGINT)) }
	dir, _ := parrot(t, "the answer<|im_end|>")
	s := newTerminal(t)
	ended := s.begin("--model", dir, "--template", "chatml", "--temperature", "0")
	s.press(t, "> ", "one\n")
	s.press(t, "> the answer\n\n> ", "")
	for range 3 {
		interrupt()
		s.press(t, "\nCtrl-D ends the talk.\n> ", "")
		s.clear()
	}
	s.press(t, "", "two\n")
	s.press(t, "the answer\n\n> ", "\x04")
	require.NoError(t, <-ended)
	require.Equal(t, "the answer\n\n> \n", s.text.String())
}

// TestInterruptedAnswer: the printed part of an answer stays in the conversation, which continues.
func TestInterruptedAnswer(t *testing.T) {
	dir, _ := varied(t)
	s := newTerminal(t)
	file := t.TempDir() + "/talk.jsonl"
	ended := s.begin("--model", dir, "--template", "chatml", "--temperature", "0", "--tokens", "9999")
	for range 2 {
		s.press(t, "> ", "")
		s.lock.Lock()
		s.text.Reset()
		s.interrupts = true
		s.lock.Unlock()
		s.press(t, "", "is it\n")
		s.press(t, "\n\n> ", "")
		require.NotContains(t, s.text.String(), "attention: ", "the answer ended by itself")
	}
	s.press(t, "> ", "/save "+file+"\n")
	s.press(t, " has the talk\n> ", "")
	require.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGTERM))
	err := <-ended
	require.EqualError(t, err, "interrupted")
	require.Equal(t, 130, term.ExitCode(err), "of the first signal")
	require.Equal(t, 2, strings.Count(read(t, file), `"role":"assistant"`))
}

// TestInterruptedOpening: a signal that arrives while the model is opened ends the command, even at a terminal.
func TestInterruptedOpening(t *testing.T) {
	dir, _ := varied(t)
	s := newTerminal(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	root := commandtest.Root(New())
	root.SetIn(s.input)
	root.SetOut(s)
	root.SetErr(s)
	root.SetArgs([]string{"chat", "--model", dir, "--template", "chatml"})
	_, err := s.keys.WriteString("\x04") // ends a conversation that begins nevertheless
	require.NoError(t, err)
	require.EqualError(t, root.ExecuteContext(ctx), "interrupted")
}

// TestInterruptedInput: without a terminal Ctrl-C ends the command.
func TestInterruptedInput(t *testing.T) {
	dir, _ := varied(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err := chatted(ctx, "one\ntwo\n", "--model", dir, "--template", "chatml")
	require.EqualError(t, err, "interrupted")
	require.Equal(t, 130, term.ExitCode(err))
}
