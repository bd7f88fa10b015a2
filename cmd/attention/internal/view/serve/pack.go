package serve

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
)

// pack is an answer of JSON and arrays.
type pack struct {
	header header
	body   bytes.Buffer
}

// header is the JSON of a pack, a pointer to a struct with a packed.
type header interface{ list() *[]packedArray }

// packed is the arrays of a pack, in their order.
type packed struct {
	Arrays []packedArray `json:"arrays"`
}

func (p *packed) list() *[]packedArray { return &p.Arrays }

// packedArray describes an array in the JSON of a pack.
type packedArray struct {
	Name string `json:"name"`
	Type string `json:"type"` // float32 or uint32
	Len  int    `json:"len"`
}

func newPack(h header) *pack { return &pack{header: h} }

// addPacked adds an array; an empty one is left out.
func addPacked[N float32 | uint32](p *pack, name string, values []N) {
	if len(values) == 0 {
		return
	}
	kind := "float32"
	if _, ok := any(values).([]uint32); ok {
		kind = "uint32"
	}
	list := p.header.list()
	*list = append(*list, packedArray{name, kind, len(values)})
	_ = binary.Write(&p.body, binary.LittleEndian, values) // to memory
}

// bytes returns the answer.
func (p *pack) bytes() ([]byte, error) {
	head, err := json.Marshal(p.header)
	if err != nil {
		return nil, err
	}
	for len(head)%4 != 0 {
		head = append(head, ' ')
	}
	out := binary.LittleEndian.AppendUint32(nil, uint32(len(head)))
	return append(append(out, head...), p.body.Bytes()...), nil
}
