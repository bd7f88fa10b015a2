package safetensors

import (
	"fmt"
	"io"

	"attention/internal/mapped"
)

// Bytes returns the elements of a tensor in the file's own format. Where files can be mapped, it is the memory of the
// file itself, which is read when it is used and stays valid until the process ends. Elsewhere it is a copy.
func (r *Reader) Bytes(name string) (elements []byte, isMapped bool, err error) {
	e, ok := r.named[name]
	if !ok {
		return nil, false, r.wrap(name, fmt.Errorf("there is none of this name, only %s", r.names()))
	}
	c := r.contents
	if r.memory == nil && !r.unmapped {
		r.memory, err = mapped.Map(r.file, c.begin+c.data.Size())
		r.unmapped = err != nil
	}
	if !r.unmapped {
		return r.memory[c.begin+e.begin : c.begin+e.end : c.begin+e.end], true, nil
	}
	elements = make([]byte, e.end-e.begin)
	if _, err := io.ReadFull(io.NewSectionReader(c.data, e.begin, e.end-e.begin), elements); err != nil {
		return nil, false, r.wrap(name, short(err))
	}
	return elements, false, nil
}
