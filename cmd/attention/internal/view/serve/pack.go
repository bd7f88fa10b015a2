package serve

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
)

// pack is an answer of JSON and arrays.
type pack struct {
	header map[string]any
	arrays []packedArray
	body   bytes.Buffer
}

// packedArray describes an array in the JSON of a pack.
type packedArray struct {
	Name string `json:"name"`
	Type string `json:"type"` // float32 or uint32
	Len  int    `json:"len"`
}

func newPack(header map[string]any) *pack { return &pack{header: header} }

// addPacked adds an array; an empty one is left out.
func addPacked[N float32 | uint32](p *pack, name string, values []N) {
	if len(values) == 0 {
		return
	}
	kind := "float32"
	if _, ok := any(values).([]uint32); ok {
		kind = "uint32"
	}
	p.arrays = append(p.arrays, packedArray{name, kind, len(values)})
	_ = binary.Write(&p.body, binary.LittleEndian, values) // to memory
}

// bytes returns the answer.
func (p *pack) bytes() ([]byte, error) {
	p.header["arrays"] = p.arrays
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
