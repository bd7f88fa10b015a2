package folder

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"attention/internal/oneline"
)

// The largest sizes of files that are read whole, and of a line of other files. Package safetensors limits its header.
const (
	MaxConfig     = 16 << 20 // a config.json, which may hold a vocabulary of characters, or a layer.json
	MaxIndex      = 16 << 20 // a model.safetensors.index.json: 60 KB for the 724 tensors of a model of 70B
	MaxVocabulary = 64 << 20 // a tokenizer.json
	MaxText       = 64 << 20 // a text to learn from, or to continue
	MaxLine       = 64 << 10 // a line of metrics.jsonl
	MaxWatchLine  = 1 << 20  // a line of watch.jsonl
)

const regularFile = "a regular file"

// Pipe is UnfitError.Got for a pipe, whether it has a name or is a shell's <(…).
const Pipe = "a pipe"

// Open opens a file that a user names for reading, perhaps by links. A device or a pipe, which
// might never end, is an error.
func Open(path string) (*os.File, error) {
	// A file that is not there is reported by opening it.
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, unwanted(path, info, regularFile)
	}
	f, err := os.OpenFile(path, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, err
	}
	return checkOpen(path, f)
}

// checkOpen returns f, or closes it and returns an error if it is not a regular file.
func checkOpen(path string, f *os.File) (*os.File, error) {
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = unwanted(path, info, regularFile)
	}
	if err != nil {
		return nil, oneline.Join(err, f.Close())
	}
	return f, nil
}

// ReadFile reads a file with Open, if it has at most most bytes.
func ReadFile(path string, most int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > most {
		return nil, &fs.PathError{Op: "open", Path: path, Err: tooLarge(fmt.Sprint(info.Size()), most)}
	}
	content, err := ReadAll(f, most)
	if unfit, ok := errors.AsType[*UnfitError](err); ok { // it grew
		err = &fs.PathError{Op: "read", Path: path, Err: unfit}
	}
	return content, err
}

// ReadAll reads at most most bytes, and returns an error if there are more.
func ReadAll(r io.Reader, most int64) ([]byte, error) {
	content, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(content)) > most {
		return nil, tooLarge(fmt.Sprintf("more than %d", most), most)
	}
	return content, err
}

// UnfitError is the error about a file of another kind or size than expected.
type UnfitError struct{ Got, Want string }

// Error names the kind of the file and the wanted kind.
func (e *UnfitError) Error() string { return "got " + e.Got + ", want " + e.Want }

// tooLarge returns the error for a file of too many bytes.
func tooLarge(got string, most int64) error {
	return &UnfitError{got + " bytes", fmt.Sprintf("at most %d", most)}
}

// unwanted returns the error for a file of another kind than wanted.
func unwanted(path string, info fs.FileInfo, want string) error {
	return &fs.PathError{Op: "open", Path: path, Err: &UnfitError{kind(info.Mode()), want}}
}

// kind returns the noun for a kind of file.
func kind(mode fs.FileMode) string {
	switch {
	case mode.IsRegular():
		return regularFile
	case mode.IsDir():
		return "a folder"
	case mode&fs.ModeSymlink != 0:
		return "a symbolic link"
	case mode&fs.ModeNamedPipe != 0:
		return Pipe
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return "a special file"
}

// Sum returns the number of bytes and the SHA-256 of the concatenation of files, each opened with Open.
func Sum(paths ...string) (size int, sum string, err error) {
	hash := sha256.New()
	for _, path := range paths {
		n, err := copyFile(hash, path)
		if err != nil {
			return 0, "", err
		}
		size += n
	}
	return size, hex.EncodeToString(hash.Sum(nil)), nil
}

// copyFile writes a file to w and returns its number of bytes.
func copyFile(w io.Writer, path string) (int, error) {
	f, err := Open(path)
	if err != nil {
		return 0, err
	}
	n, err := io.Copy(w, f)
	return int(n), oneline.Join(err, f.Close())
}
