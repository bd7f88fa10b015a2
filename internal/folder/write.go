package folder

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"

	"attention/internal/oneline"
)

// Write writes a file of the folder with the content that fill writes. It writes to a temporary file, flushes it,
// renames it, and flushes the folder. After a failure the file has its old content, and after a success it survives a
// crash of the machine. A new file gets the mode of the umask; an old file keeps its mode. A link is refused.
func (d *Dir) Write(name string, fill func(io.Writer) error) error {
	return d.WriteAll(File{name, fill})
}

// File is a file to be written: its name, which may include folders, such as a/b, and the function that writes its
// content.
type File struct {
	Name string
	Fill func(io.Writer) error
}

// WriteAll writes files as Write does. The files get their names, in order, when all are complete: a killed process
// leaves only files with temporary names, which RemoveIncomplete removes. Folders in names are created.
func (d *Dir) WriteAll(files ...File) (err error) {
	var temporary []string
	defer func() {
		for _, name := range temporary { // files that do not have their names yet
			_ = d.root.Remove(name) // the first error has more information
		}
	}()
	for _, f := range files {
		name, err := d.writeBeside(f)
		if err != nil {
			return err
		}
		temporary = append(temporary, name)
	}
	for _, f := range files {
		if err := d.rename(temporary[0], f.Name); err != nil {
			return d.named(err, f.Name)
		}
		temporary = temporary[1:]
	}
	return d.sync()
}

// rename gives a file its final name, and creates and flushes the folder in the name.
func (d *Dir) rename(temporary, name string) error {
	in := filepath.Dir(name)
	if in == "." {
		return d.root.Rename(temporary, name)
	}
	if err := d.root.MkdirAll(in, newFolder); err != nil {
		return err
	}
	if err := d.root.Rename(temporary, name); err != nil {
		return err
	}
	root, err := d.root.OpenRoot(in)
	if err != nil {
		return err
	}
	sub := &Dir{d.Path(in), root}
	return oneline.Join(sub.sync(), sub.Close())
}

// writeBeside writes a file under a temporary name, which it returns.
func (d *Dir) writeBeside(file File) (temporary string, err error) {
	old, found, err := d.lookUp(file.Name)
	if err != nil {
		return "", err
	}
	mode := fs.FileMode(newFile)
	if found {
		mode = old.Mode().Perm()
	}
	f, temporary, err := d.createBeside(file.Name, mode)
	if err != nil {
		return "", err
	}
	if err := fillFile(f, mode, found, file.Fill); err != nil {
		_ = d.root.Remove(temporary) // the first error has more information
		return "", err
	}
	return temporary, nil
}

// createBeside makes the file that is renamed to name once it is whole.
func (d *Dir) createBeside(name string, mode fs.FileMode) (f *os.File, temporary string, err error) {
	for range 1000 {
		temporary = incompletePrefix + filepath.Base(name) + strconv.FormatUint(uint64(rand.Uint32()), 10)
		f, err = d.root.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	return f, temporary, d.named(err, name)
}

// Draft is the file that the fill of Write and WriteFile writes to. It does not have its final name yet.
type Draft struct {
	file   *os.File
	buffer *bufio.Writer
	size   int64
}

// Write adds bytes to the file.
func (d *Draft) Write(p []byte) (n int, err error) {
	n, err = d.buffer.Write(p)
	d.size += int64(n)
	return n, err
}

// Size returns the number of bytes written.
func (d *Draft) Size() int64 { return d.size }

// Amend replaces bytes that were already written.
func (d *Draft) Amend(at int64, p []byte) error {
	if err := d.buffer.Flush(); err != nil {
		return err
	}
	_, err := d.file.WriteAt(p, at)
	return err
}

// fillFile writes, flushes and closes a file. A file that replaces another gets the mode of that file.
func fillFile(f *os.File, mode fs.FileMode, replaces bool, fill func(io.Writer) error) (err error) {
	defer func() {
		if closing := f.Close(); err == nil {
			err = closing
		}
	}()
	d := &Draft{file: f, buffer: bufio.NewWriterSize(f, 1<<16)}
	if err := fill(d); err != nil {
		return err
	}
	if err := d.buffer.Flush(); err != nil {
		return err
	}
	if replaces {
		if err := f.Chmod(mode); err != nil { // the umask may have narrowed it
			return err
		}
	}
	return f.Sync()
}

// WriteFile writes the file at path in the way of Dir.Write. If path is a link, it replaces the file that the link leads
// to.
func WriteFile(path string, fill func(io.Writer) error) error {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	d, err := Enter(filepath.Dir(path))
	if err != nil {
		return err
	}
	return oneline.Join(d.Write(filepath.Base(path), fill), d.Close())
}
