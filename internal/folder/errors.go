package folder

import (
	"errors"
	"fmt"
	"os"
)

// Want returns the error about a file with the expected kind of file added, unless the error names it already.
func Want(err error, want string) error {
	if _, ok := errors.AsType[*UnfitError](err); ok {
		return err
	}
	return fmt.Errorf("%w, want %s", err, want)
}

// WithoutPath returns the error about a file without the file's path.
func WithoutPath(err error) error {
	if of, ok := errors.AsType[*os.PathError](err); ok {
		return of.Err
	}
	return err
}
