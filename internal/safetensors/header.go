package safetensors

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	"attention/internal/config"

	"github.com/go-json-experiment/json/jsontext"
)

// entry is one tensor as the header describes it.
type entry struct {
	name       string
	dtype      DType
	shape      []int
	count      int   // elements
	begin, end int64 // bytes from the start of the data
}

// tensor returns the tensor with its data.
func (e entry) tensor(data any) Tensor {
	return Tensor{Name: e.name, Shape: e.shape, Data: data, DType: e.dtype}
}

// header is a file's checked header. Its entries are in the order of their data and cover
// it exactly.
type header struct {
	metadata map[string]string
	entries  []entry
}

// parseHeader reads the header's JSON and checks it against the size of the data.
func parseHeader(text []byte, dataSize int64) (header, error) {
	if err := checkJSON(text); err != nil {
		return header{}, err
	}
	var h header
	seen := map[string]bool{}
	for key, value := range config.Members(text) { // in the header's order, which tensors without elements keep
		if seen[key] {
			return header{}, fmt.Errorf("header: key %s comes twice", quote(key))
		}
		seen[key] = true
		if err := h.add(key, value); err != nil {
			return header{}, fmt.Errorf("header: %s: %w", quote(key), err)
		}
	}
	// A JSON object has no order: sort by offsets, an empty tensor before the one that
	// starts at the same byte.
	slices.SortStableFunc(h.entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(a.end, b.end))
	})
	return h, checkCover(h.entries, dataSize)
}

// add adds the metadata or a tensor.
func (h *header) add(key string, value []byte) error {
	if key == metadataKey {
		if len(value) > maxMetadata {
			return fmt.Errorf("got %d bytes, want at most %d", len(value), maxMetadata)
		}
		keys := 0
		for range config.Members(value) {
			if keys++; keys > maxMetadataKeys {
				return fmt.Errorf("got more than %d keys, want at most as many", maxMetadataKeys)
			}
		}
		return config.Decode(value, &h.metadata)
	}
	if len(h.entries) == maxTensors {
		return fmt.Errorf("got more than %d tensors, want at most as many", maxTensors)
	}
	if err := checkName(key); err != nil {
		return err
	}
	e, err := parseEntry(key, value)
	h.entries = append(h.entries, e)
	return err
}

// checkName returns an error for a long name.
func checkName(name string) error {
	if len(name) > maxName {
		return fmt.Errorf("name: got %d bytes, want at most %d", len(name), maxName)
	}
	return nil
}

// description is a tensor's JSON.
type description struct {
	DType   DType    `json:"dtype"`
	Shape   []uint64 `json:"shape"`
	Offsets []uint64 `json:"data_offsets"`
}

// parseEntry reads the description of a tensor and checks its dtype and its shape against
// its offsets.
func parseEntry(name string, text []byte) (entry, error) {
	if len(text) > maxDescription {
		return entry{}, fmt.Errorf("got a description of %d bytes, want at most %d", len(text), maxDescription)
	}
	var d description
	if err := config.Decode(text, &d); err != nil {
		return entry{}, err
	}
	e := entry{name: name, dtype: d.DType, shape: make([]int, len(d.Shape))}
	size := uint64(d.DType.Size())
	switch {
	case size == 0:
		return e, fmt.Errorf("dtype: got %s, want %s", quote(string(d.DType)), knownDTypes)
	case d.Shape == nil:
		return e, errors.New("shape: got none, want a list of numbers")
	case len(d.Shape) > maxRank:
		return e, fmt.Errorf("shape: got %d axes, want at most %d", len(d.Shape), maxRank)
	case len(d.Offsets) != 2:
		return e, fmt.Errorf("data_offsets: got %d numbers, want 2", len(d.Offsets))
	case d.Offsets[0] > d.Offsets[1] || d.Offsets[1] > math.MaxInt64:
		return e, fmt.Errorf("data_offsets: got %d, want the first not above the second, which is below 2^63",
			d.Offsets)
	}
	for i, n := range d.Shape {
		if n > math.MaxInt {
			return e, fmt.Errorf("shape: got %d, which is too large", n)
		}
		e.shape[i] = int(n)
	}
	var ok bool
	if e.count, ok = countElements(e.shape); !ok || uint64(e.count) > math.MaxInt64/size {
		return e, fmt.Errorf("shape: got %d, which has too many elements to count", d.Shape)
	}
	if got, want := d.Offsets[1]-d.Offsets[0], uint64(e.count)*size; got != want {
		return e, fmt.Errorf("data_offsets: got %d, which is %d bytes, want %d for shape %d of %s",
			d.Offsets, got, want, d.Shape, d.DType)
	}
	e.begin, e.end = int64(d.Offsets[0]), int64(d.Offsets[1])
	return e, nil
}

// checkJSON returns an error unless the text is one JSON object in valid UTF-8. Package
// json would silently replace invalid characters, which could make two names equal.
func checkJSON(text []byte) error {
	if len(text) == 0 || text[0] != '{' {
		return fmt.Errorf("header: starts with %.8q, want %q", text, "{")
	}
	if !utf8.Valid(text) {
		return errors.New("header: not valid UTF-8")
	}
	if !json.Valid(text) {
		var v json.RawMessage
		return fmt.Errorf("header: not JSON: %w", json.Unmarshal(text, &v))
	}
	if !jsontext.Value(text).IsValid(jsontext.AllowDuplicateNames(true)) {
		return errors.New(`header: a \u escape is half of a surrogate pair`)
	}
	return nil
}

// checkCover returns an error unless the sorted entries cover the data exactly: no holes,
// no overlaps, no bytes missing or left at the end.
func checkCover(entries []entry, dataSize int64) error {
	var at int64
	for i, e := range entries {
		switch {
		case e.begin < at:
			return fmt.Errorf("tensor %s: data starts at byte %d, inside tensor %s which ends at %d",
				quote(e.name), e.begin, quote(entries[i-1].name), at)
		case e.begin > at:
			return fmt.Errorf("tensor %s: data starts at byte %d, want %d: the bytes between belong to no tensor",
				quote(e.name), e.begin, at)
		case e.end > dataSize:
			return fmt.Errorf("tensor %s: data ends at byte %d, but the file holds only %d bytes of data",
				quote(e.name), e.end, dataSize)
		}
		at = e.end
	}
	if at != dataSize {
		return fmt.Errorf("%d trailing bytes after the last tensor", dataSize-at)
	}
	return nil
}

// quote returns a name from a file, quoted and cut to 100 characters.
func quote(name string) string { return fmt.Sprintf("%.100q", name) }
