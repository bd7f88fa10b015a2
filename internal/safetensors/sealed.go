package safetensors

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"

	"attention/internal/folder"
)

// A sealed file's metadata holds the SHA-256 of all of the file's bytes, taken with zeros in
// the place of its own digits.

const (
	sealKey = "sha256"

	// noSeal stands in the seal's place while it is computed.
	noSeal = "0000000000000000000000000000000000000000000000000000000000000000"
)

// ErrDamaged is wrapped by the error for a sealed file that was cut short or changed.
var ErrDamaged = errors.New("damaged")

// WriteSealed writes f with a seal as Write does. The metadata of f must not have one.
func WriteSealed(w io.Writer, f *File) error {
	if _, taken := f.Metadata[sealKey]; taken {
		return fmt.Errorf("safetensors: metadata %s: got a value, want none: the file's checksum takes its place", sealKey)
	}
	sealed := File{Metadata: map[string]string{sealKey: noSeal}, Tensors: f.Tensors}
	maps.Insert(sealed.Metadata, maps.All(f.Metadata))
	sum := sha256.New()
	if err := Write(sum, &sealed); err != nil {
		return err
	}
	sealed.Metadata[sealKey] = hex.EncodeToString(sum.Sum(nil))
	return Write(w, &sealed)
}

// ReadSealed reads a file that has a seal. The error for a file that differs by as much as a
// bit from what was written wraps ErrDamaged.
func ReadSealed(path string) (*File, error) {
	file, err := folder.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	f, err := readSealed(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", path, ErrDamaged, err)
	}
	return f, nil
}

func readSealed(file *os.File) (*File, error) {
	r, err := newReader(file)
	if err != nil {
		return nil, fmt.Errorf("safetensors: %w", err)
	}
	if err := r.contents.checkSeal(); err != nil {
		return nil, err
	}
	return r.contents.tensors()
}

// takeSeal moves the seal, if there is one, from the metadata to its own place. Other programs
// may have an entry of its name for something else.
func (c *contents) takeSeal() {
	if c.seal = c.metadata[sealKey]; c.sealed() {
		delete(c.metadata, sealKey)
		if len(c.metadata) == 0 {
			c.metadata = nil
		}
	}
}

// sealed reports whether there is a seal.
func (c *contents) sealed() bool { return len(c.seal) == 2*sha256.Size }

// Sealed reports whether the file has a seal.
func (r *Reader) Sealed() bool { return r.contents.sealed() }

// CheckSeal returns an error that wraps ErrDamaged if the file has a seal and differs by as
// much as a bit from what was written.
func (r *Reader) CheckSeal() error {
	if !r.contents.sealed() {
		return nil
	}
	if err := r.contents.checkSeal(); err != nil {
		return fmt.Errorf("%s: %w: %w", r.path, ErrDamaged, err)
	}
	return nil
}

// checkSeal compares the seal with the bytes of the file.
func (c *contents) checkSeal() error {
	entry := func(digits string) []byte { return fmt.Appendf(nil, "%q:%q", sealKey, digits) }
	text := make([]byte, c.begin)
	if _, err := io.ReadFull(io.NewSectionReader(c.file, 0, c.begin), text); err != nil {
		return short(err)
	}
	// No text within the JSON looks like the entry: its quotes would be escaped.
	before, after, found := bytes.Cut(text, entry(c.seal))
	if !found || !c.sealed() {
		return fmt.Errorf("checksum: got %.80q, want %d digits", c.seal, 2*sha256.Size)
	}
	sum := sha256.New()
	for _, part := range [][]byte{before, entry(noSeal), after} {
		sum.Write(part)
	}
	if _, err := io.Copy(sum, io.NewSectionReader(c.data, 0, c.data.Size())); err != nil {
		return err
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != c.seal {
		return fmt.Errorf("checksum: got %s, want %s", got, c.seal)
	}
	return nil
}
