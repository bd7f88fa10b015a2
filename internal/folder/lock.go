package folder

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"attention/internal/oneline"
)

// ErrInUse is wrapped by the error for a folder that another process holds.
var ErrInUse = errors.New("in use")

// lockName is the name of the file that Lock makes.
const lockName = "lock"

// Locked reports whether a process holds the folder at path. It writes nothing, and a concurrent Lock succeeds because
// it tries again.
func Locked(path string) bool {
	d, err := Enter(path)
	if err != nil {
		return false
	}
	defer d.Close()
	f, err := d.Open(lockName, os.O_RDONLY)
	if err != nil {
		return false
	}
	defer f.Close()
	free, err := tryLock(f, false)
	return err == nil && !free
}

// Lock makes the file "lock" in the folder, which contains the number of this process, and returns it: this process
// holds the folder until the file is closed.
func (d *Dir) Lock() (*os.File, error) {
	path := d.Path(lockName)
	f, err := d.Open(lockName, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, err
	}
	free, err := tryLock(f, true)
	for n := 0; n < 20 && !free && err == nil; n++ {
		time.Sleep(5 * time.Millisecond) // Locked may be checking
		free, err = tryLock(f, true)
	}
	switch {
	case err != nil:
		return nil, oneline.Join(fmt.Errorf("lock %s: %w", path, err), f.Close())
	case !free:
		text, _ := io.ReadAll(io.LimitReader(f, 20))
		owner := strings.TrimSpace(string(text))
		return nil, oneline.Join(fmt.Errorf("%s: %w by another process (%s), want none", path, ErrInUse, owner),
			f.Close())
	}
	if err := f.Truncate(0); err != nil {
		return nil, oneline.Join(err, f.Close())
	}
	if _, err := f.WriteString(strconv.Itoa(os.Getpid()) + "\n"); err != nil {
		return nil, oneline.Join(err, f.Close())
	}
	return f, nil
}
