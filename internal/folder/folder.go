// Package folder opens and writes all files of the program; no other package does.
//
// A file that a user names for reading may be anywhere, and may be a link: Open and ReadFile accept every regular file,
// up to a limit. Files that a run writes, removes or reads back stay in its own folder: a Dir refuses links and
// everything else that is not a regular file, with an error that names it. A file may have a second name elsewhere, a
// hard link, as in folders that were copied with cp -l. Replacing the file under one name does not change the other. A
// file that is written in place, such as a lock, must have only one name.
package folder

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"attention/internal/oneline"
)

// Dir is an open folder. Its methods take names of files in it, not paths, and reach no file
// outside it.
type Dir struct {
	path string
	root *os.Root
}

// Enter opens the folder at path, which may be a link.
func Enter(path string) (*Dir, error) {
	if info, err := os.Stat(path); err == nil && !info.IsDir() { // opening a pipe would wait
		return nil, unwanted(path, info, "a folder")
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	return &Dir{path, root}, nil
}

// Make makes the folder at path and its parents, unless they exist, and opens it. The name of
// the folder survives a crash of the machine.
func Make(path string) (*Dir, error) {
	if err := os.MkdirAll(path, newFolder); err != nil {
		return nil, err
	}
	if parent, err := Enter(filepath.Join(path, "..")); err == nil { // there may be no permission to read it
		err = oneline.Join(parent.sync(), parent.Close())
		if err != nil {
			return nil, err
		}
	}
	return Enter(path)
}

// MakeNext makes the first of parent/1, parent/2, … that does not exist and returns its path.
func MakeNext(parent string) (path string, err error) {
	if err := os.MkdirAll(parent, newFolder); err != nil {
		return "", err
	}
	for i := 1; ; i++ {
		path := filepath.Join(parent, strconv.Itoa(i))
		if err := os.Mkdir(path, newFolder); !errors.Is(err, fs.ErrExist) {
			return path, err
		}
	}
}

// MakeEmpty makes the folder at path, or, if path is empty, the first of parent/1, parent/2, … that does not exist, and
// opens it. It refuses a folder that has files.
func MakeEmpty(path, parent string) (d *Dir, err error) {
	if path == "" {
		if path, err = MakeNext(parent); err != nil {
			return nil, err
		}
	}
	if d, err = Make(path); err != nil {
		return nil, err
	}
	names, err := d.Names()
	if err == nil && len(names) > 0 {
		err = fmt.Errorf("%s: got a folder that is not empty, want a new or empty one", path)
	}
	if err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

// The modes of new files and folders before the umask.
const (
	newFile   = 0o666
	newFolder = 0o777
)

// Close closes the folder. Files opened in it stay open.
func (d *Dir) Close() error { return d.root.Close() }

// Path returns the path of a file of the folder.
func (d *Dir) Path(name string) string { return filepath.Join(d.path, name) }

// Names returns the names in the folder, ascending.
func (d *Dir) Names() ([]string, error) {
	entries, err := fs.ReadDir(d.root.FS(), ".")
	return namesOf(entries), d.named(err, "")
}

// Names returns the names in the folder at path, ascending.
func Names(path string) ([]string, error) {
	entries, err := os.ReadDir(path)
	return namesOf(entries), err
}

func namesOf(entries []fs.DirEntry) (names []string) {
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// MakeFolder makes a folder in the folder, unless it exists. It refuses a link.
func (d *Dir) MakeFolder(name string) error {
	err := d.root.Mkdir(name, newFolder)
	if !errors.Is(err, fs.ErrExist) {
		return d.named(err, name)
	}
	info, err := d.root.Lstat(name)
	if err == nil && !info.IsDir() {
		return unwanted(d.Path(name), info, "a folder")
	}
	return d.named(err, name)
}

// Check returns an error if there is a file of this name that is not regular.
func (d *Dir) Check(name string) error {
	_, _, err := d.lookUp(name)
	return err
}

// Has reports whether there is a regular file of this name that is not empty.
func (d *Dir) Has(name string) bool {
	info, found, err := d.lookUp(name)
	return err == nil && found && info.Size() > 0
}

// lookUp returns a file's description and reports whether it exists. A file that is not regular
// is an error.
func (d *Dir) lookUp(name string) (info fs.FileInfo, found bool, err error) {
	info, err = d.root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, false, nil
	case err != nil:
		return nil, false, d.named(err, name)
	case !info.Mode().IsRegular():
		return nil, false, unwanted(d.Path(name), info, regularFile)
	}
	return info, true, nil
}

// Open opens a file with the flags of os.OpenFile except O_TRUNC. It refuses everything that is not a regular file and,
// for writing, a file with several names. The mode of a new file is determined by the umask.
func (d *Dir) Open(name string, flag int) (*os.File, error) {
	if err := d.Check(name); err != nil { // before opening can have an effect
		return nil, err
	}
	f, err := d.root.OpenFile(name, flag|nonblock, newFile)
	if err != nil {
		return nil, d.named(err, name)
	}
	if f, err = checkOpen(d.Path(name), f); err == nil && flag&(os.O_WRONLY|os.O_RDWR) != 0 {
		err = d.checkNames(name, f)
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

// checkNames closes f and returns an error if it has other names than this one.
func (d *Dir) checkNames(name string, f *os.File) error {
	n, err := countNames(f)
	if err == nil && n > 1 {
		err = &fs.PathError{Op: "open", Path: d.Path(name), Err: &UnfitError{
			fmt.Sprintf("a file of %d names (hard links)", n), "one of its own, such as cp makes"}}
	}
	if err != nil {
		return oneline.Join(err, f.Close())
	}
	return nil
}

// Remove removes a file.
func (d *Dir) Remove(name string) error { return d.named(d.root.Remove(name), name) }

// Holds reports whether name is still the open file f in the folder.
func (d *Dir) Holds(name string, f *os.File) bool {
	here, err := d.root.Lstat(name)
	if err != nil {
		return false
	}
	open, err := f.Stat()
	return err == nil && os.SameFile(here, open)
}

// InPlace reports whether the folder's path still leads to this folder.
func (d *Dir) InPlace() bool {
	here, err := os.Stat(d.path)
	if err != nil {
		return false
	}
	open, err := d.root.Stat(".")
	return err == nil && os.SameFile(here, open)
}

// named returns an error of the folder's root with the full path.
func (d *Dir) named(err error, name string) error {
	if of, ok := errors.AsType[*fs.PathError](err); ok {
		return &fs.PathError{Op: strings.TrimSuffix(of.Op, "at"), Path: d.Path(name), Err: of.Err}
	}
	if of, ok := errors.AsType[*os.LinkError](err); ok {
		return &fs.PathError{Op: "rename", Path: d.Path(name), Err: of.Err}
	}
	return err
}

// incompletePrefix begins the names of files that are being written. Such a name consists of the prefix, the final name
// and digits.
const incompletePrefix = ".tmp-"

// IsLeftover reports whether a killed process may have left a file of this name before it finished any file: a lock, or
// an incomplete file whose final name is ours.
func IsLeftover(name string, ours func(name string) bool) bool {
	return name == lockName || isIncomplete(name, ours)
}

func isIncomplete(name string, ours func(name string) bool) bool {
	name, ok := strings.CutPrefix(name, incompletePrefix)
	whole := strings.TrimRight(name, "0123456789")
	return ok && whole != name && ours(whole)
}

// RemoveIncomplete removes the files that a killed process was still writing: regular files with the name of an
// incomplete file whose final name is ours.
func (d *Dir) RemoveIncomplete(ours func(name string) bool) error {
	names, err := d.Names()
	if err != nil {
		return err
	}
	for _, name := range slices.DeleteFunc(names, func(name string) bool { return !isIncomplete(name, ours) }) {
		if d.Check(name) != nil {
			continue // for example a link: no run made it
		}
		if err := d.Remove(name); err != nil {
			return err
		}
	}
	return nil
}
