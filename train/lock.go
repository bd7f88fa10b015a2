package train

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// ErrInUse is wrapped by the error for a folder of checkpoints that another process
// holds.
var ErrInUse = errors.New("in use")

// lockFile makes a file that belongs to this process until it is closed, and writes
// the process's number into it.
func lockFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	switch free, err := tryLock(f); {
	case err != nil:
		return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), f.Close())
	case !free:
		text, _ := io.ReadAll(io.LimitReader(f, 20))
		return nil, errors.Join(fmt.Errorf("%s: %w by another process (%s), want none", path, ErrInUse, strings.TrimSpace(string(text))), f.Close())
	}
	err = f.Truncate(0)
	if err == nil {
		_, err = f.WriteString(strconv.Itoa(os.Getpid()) + "\n")
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
