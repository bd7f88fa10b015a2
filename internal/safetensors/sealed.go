package safetensors

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"maps"

	"attention/internal/folder"
)

// A sealed file's metadata holds the SHA-256 of all of the file's bytes, with zeros in place of its own digits.

const (
	// sealKey is the seal's key, which no other program writes.
	sealKey = "attention.sha256"

	// noSeal is in the place of the seal while the seal is computed.
	noSeal = "0000000000000000000000000000000000000000000000000000000000000000"
)

// ErrDamaged is wrapped by the error for a sealed file that was cut short or changed.
var ErrDamaged = errors.New("damaged")

// WriteSealed writes f with a seal as Write does. The metadata of f must not have one.
func WriteSealed(w io.Writer, f *File) error {
	if _, taken := f.Metadata[sealKey]; taken {
		return fmt.Errorf("safetensors: metadata %s: got a value, want none: the file's checksum takes its place",
			sealKey)
	}
	sealed := File{Metadata: map[string]string{sealKey: noSeal}, Tensors: f.Tensors}
	maps.Insert(sealed.Metadata, maps.All(f.Metadata))
	p, err := newPlan(&sealed)
	if err != nil {
		return fmt.Errorf("safetensors: %w", err)
	}
	if err := p.writeSealed(w); err != nil {
		return fmt.Errorf("safetensors: %w", err)
	}
	return nil
}

// writeSealed writes a file whose metadata have noSeal. The seal of a draft comes last.
func (p *plan) writeSealed(w io.Writer) error {
	// No other text in the JSON looks like this entry: its quotes would be escaped.
	at := bytes.Index(p.header, fmt.Appendf(nil, "%q:%q", sealKey, noSeal)) + len(sealKey) + len(`"":"`)
	sum := sha256.New()
	if d, ok := w.(*folder.Draft); ok {
		begin := d.Size()
		if err := p.write(io.MultiWriter(d, sum)); err != nil {
			return err
		}
		return d.Amend(begin+int64(at), digitsOf(sum))
	}
	if err := p.write(sum); err != nil {
		return err
	}
	copy(p.header[at:], digitsOf(sum))
	return p.write(w)
}

func digitsOf(sum hash.Hash) []byte { return hex.AppendEncode(nil, sum.Sum(nil)) }

// OpenSealed opens a file that has a seal, which Reader.CheckSeal checks. The error for a file
// without one, or whose header was changed, wraps ErrDamaged.
func OpenSealed(path string) (*Reader, error) {
	file, err := folder.Open(path)
	if err != nil {
		return nil, err
	}
	r, err := newReader(file)
	if err != nil {
		err = fmt.Errorf("safetensors: %w", err)
	} else if !r.Sealed() {
		err = fmt.Errorf("checksum: got none, want %d digits", len(noSeal))
	}
	if err != nil {
		_ = file.Close() // nothing was written to it
		return nil, fmt.Errorf("%s: %w: %w", path, ErrDamaged, err)
	}
	return r, nil
}

// takeSeal moves the seal, if there is one, from the metadata to its own place.
func (c *contents) takeSeal() {
	digits, ok := c.metadata[sealKey]
	if !ok {
		return
	}
	c.sealed, c.seal = true, digits
	delete(c.metadata, sealKey)
	if len(c.metadata) == 0 {
		c.metadata = nil
	}
}

// Sealed reports whether the file has a seal.
func (r *Reader) Sealed() bool { return r.contents.sealed }

// CheckSeal returns an error that wraps ErrDamaged if the file has a seal and even one bit has changed since it was
// written. It reads the whole file.
func (r *Reader) CheckSeal() error {
	if err := r.contents.checkSeal(); err != nil {
		return fmt.Errorf("%s: %w: %w", r.path, ErrDamaged, err)
	}
	return nil
}

// checkSeal compares the seal, if there is one, with the bytes of the file.
func (c *contents) checkSeal() error {
	if !c.sealed {
		return nil
	}
	entry := func(digits string) []byte { return fmt.Appendf(nil, "%q:%q", sealKey, digits) }
	text := make([]byte, c.begin)
	if _, err := io.ReadFull(io.NewSectionReader(c.file, 0, c.begin), text); err != nil {
		return short(err)
	}
	before, after, found := bytes.Cut(text, entry(c.seal))
	if !found || len(c.seal) != len(noSeal) {
		return fmt.Errorf("checksum: got %.80q, want %d digits", c.seal, len(noSeal))
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
