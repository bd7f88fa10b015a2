package folder

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"attention/internal/safetensors"

	"github.com/moby/sys/atomicwriter"
)

// A sealed file is a safetensors file whose metadata holds the SHA-256 of all of the
// file's bytes, taken with zeros in the place of its own digits.

const (
	sealKey = "sha256"

	// noSeal stands in the seal's place while it is computed.
	noSeal = "0000000000000000000000000000000000000000000000000000000000000000"
)

// ErrDamaged is wrapped by the error for a sealed file that was cut short or changed.
var ErrDamaged = errors.New("damaged")

// WriteSealed adds the seal to f, writes it beside path, flushes it, renames it and
// flushes the folder: after any failure path holds what it held before, and after a
// success the file survives a crash of the machine.
func WriteSealed(path string, f *safetensors.File) error {
	f.Metadata[sealKey] = noSeal
	sum := sha256.New()
	if err := safetensors.Write(sum, f); err != nil {
		return err
	}
	f.Metadata[sealKey] = hex.EncodeToString(sum.Sum(nil))
	w, err := atomicwriter.New(path, 0o644)
	if err != nil {
		return err
	}
	err = safetensors.Write(w, f)
	if closeErr := w.Close(); err == nil { // which renames only what was written without an error
		err = closeErr
	}
	if err != nil {
		return err
	}
	return Sync(filepath.Dir(path))
}

// ReadSealed reads a file of WriteSealed. The error for a file that differs by as much as
// a bit wraps ErrDamaged.
func ReadSealed(path string) (*safetensors.File, error) {
	r, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	info, err := r.Stat()
	if err != nil {
		return nil, err
	}
	f, err := safetensors.Read(r, info.Size())
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", path, ErrDamaged, err)
	}
	if err := checkSeal(io.NewSectionReader(r, 0, info.Size()), f.Metadata[sealKey]); err != nil {
		return nil, fmt.Errorf("%s: %w: %w", path, ErrDamaged, err)
	}
	return f, nil
}

// checkSeal compares the seal with the bytes of a file that safetensors.Read accepts.
func checkSeal(r io.Reader, seal string) error {
	var length [8]byte
	if _, err := io.ReadFull(r, length[:]); err != nil {
		return err
	}
	header := make([]byte, binary.LittleEndian.Uint64(length[:]))
	if _, err := io.ReadFull(r, header); err != nil {
		return err
	}
	entry := func(digits string) []byte { return fmt.Appendf(nil, "%q:%q", sealKey, digits) }
	// No text within the JSON looks like the entry: its quotes would be escaped.
	before, after, found := bytes.Cut(header, entry(seal))
	if !found || len(seal) != 2*sha256.Size {
		return fmt.Errorf("checksum: got %.80q, want %d digits", seal, 2*sha256.Size)
	}
	sum := sha256.New()
	for _, part := range [][]byte{length[:], before, entry(noSeal), after} {
		sum.Write(part)
	}
	if _, err := io.Copy(sum, r); err != nil {
		return err
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != seal {
		return fmt.Errorf("checksum: got %s, want %s", got, seal)
	}
	return nil
}
