package serve

import (
	"encoding/binary"
	"encoding/json"
)

// packed is an answer of bytes.
type packed interface{ bytes() ([]byte, error) }

// bytesPacked is the bytes of a pack.
type bytesPacked []byte

func (b bytesPacked) bytes() ([]byte, error) { return b, nil }

// pack is an answer of JSON and arrays.
type pack struct {
	About  any           `json:"about,omitempty"`
	Arrays []packedArray `json:"arrays"`
}

// packedArray is an array of a pack; its JSON describes it.
type packedArray struct {
	Name   string `json:"name"`
	Type   string `json:"type"` // float32 or uint32
	Len    int    `json:"len"`
	values any
}

// add adds an array; an empty one is left out.
func add[N float32 | uint32](p *pack, name string, values []N) {
	if len(values) == 0 {
		return
	}
	kind := "float32"
	if _, ok := any(values).([]uint32); ok {
		kind = "uint32"
	}
	p.Arrays = append(p.Arrays, packedArray{name, kind, len(values), values})
}

// bytes returns the answer.
func (p *pack) bytes() ([]byte, error) {
	head, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	for len(head)%4 != 0 {
		head = append(head, ' ')
	}
	size := 4 + len(head)
	for _, a := range p.Arrays {
		size += 4 * a.Len
	}
	out := binary.LittleEndian.AppendUint32(make([]byte, 0, size), uint32(len(head)))
	out = append(out, head...)
	for _, a := range p.Arrays {
		if out, err = binary.Append(out, binary.LittleEndian, a.values); err != nil {
			return nil, err
		}
	}
	return out, nil
}
