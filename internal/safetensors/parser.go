package safetensors

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
)

// parser reads the header's JSON token by token, since decoding into a map would hide
// duplicate keys. The text must be valid JSON.
type parser struct{ tokens *json.Decoder }

func newParser(text []byte) parser {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return parser{d}
}

// object reads an object and calls member for each key; member must read the value. A
// duplicate key is an error. Errors name the key.
func (p parser) object(member func(key string) error) error {
	if err := p.delim('{', "an object"); err != nil {
		return err
	}
	seen := map[string]bool{}
	for p.tokens.More() {
		key, err := p.text()
		if err != nil {
			return err
		}
		if seen[key] {
			return fmt.Errorf("key %s comes twice", quote(key))
		}
		seen[key] = true
		if err := member(key); err != nil {
			return fmt.Errorf("%s: %w", quote(key), err)
		}
	}
	return p.delim('}', "the end of the object")
}

// stringMap reads an object whose values are all strings.
func (p parser) stringMap(into map[string]string) error {
	return p.object(func(key string) error {
		value, err := p.text()
		into[key] = value
		return err
	})
}

// entry reads the description of one tensor and checks its shape and dtype against its
// offsets.
func (p parser) entry(name string) (entry, error) {
	e := entry{name: name}
	var offsets []int64
	fields := 0
	err := p.object(func(key string) (err error) {
		fields++
		switch key {
		case "dtype":
			var s string
			s, err = p.text()
			e.dtype = DType(s)
		case "shape":
			e.shape, err = p.shape()
		case "data_offsets":
			offsets, err = p.integers(2, math.MaxInt64)
		default:
			err = errors.New("unknown key, want dtype, shape and data_offsets")
		}
		return err
	})
	if err != nil {
		return e, err
	}
	if fields != 3 { // without duplicate and unknown ones, so one is missing
		return e, fmt.Errorf("got %d keys, want dtype, shape and data_offsets", fields)
	}
	if len(offsets) != 2 {
		return e, fmt.Errorf("data_offsets: got %d numbers, want 2", len(offsets))
	}
	e.begin, e.end = offsets[0], offsets[1]
	return e, e.check()
}

// check sets the number of elements and compares it with the offsets.
func (e *entry) check() error {
	size := int64(e.dtype.Size())
	if size == 0 {
		return fmt.Errorf("dtype: got %s, want %s", quote(string(e.dtype)), knownDTypes)
	}
	if e.begin > e.end {
		return fmt.Errorf("data_offsets: got [%d,%d], want the first not above the second", e.begin, e.end)
	}
	count, ok := elements(e.shape)
	if !ok || int64(count) > math.MaxInt64/size {
		return fmt.Errorf("shape: got %d, which has too many elements to count", e.shape)
	}
	if want := int64(count) * size; e.end-e.begin != want {
		return fmt.Errorf("data_offsets: got [%d,%d], which is %d bytes, want %d for shape %d of %s",
			e.begin, e.end, e.end-e.begin, want, e.shape, e.dtype)
	}
	e.count = count
	return nil
}

// shape reads a list of dimensions.
func (p parser) shape() ([]int, error) {
	dims, err := p.integers(maxRank, math.MaxInt)
	shape := make([]int, len(dims))
	for i, d := range dims {
		shape[i] = int(d)
	}
	return shape, err
}

// integers reads a list of at most n whole numbers from 0 to limit.
func (p parser) integers(n int, limit int64) ([]int64, error) {
	if err := p.delim('[', "a list of numbers"); err != nil {
		return nil, err
	}
	var list []int64
	for p.tokens.More() {
		if len(list) == n {
			return nil, fmt.Errorf("got more than %d numbers", n)
		}
		t, err := p.tokens.Token()
		if err != nil {
			return nil, err
		}
		number, ok := t.(json.Number)
		if !ok {
			return nil, fmt.Errorf("got %s, want a number", kind(t))
		}
		v, err := strconv.ParseUint(number.String(), 10, 63)
		if err != nil || int64(v) > limit {
			return nil, fmt.Errorf("got %.30s, want a whole number from 0 to %d", number.String(), limit)
		}
		list = append(list, int64(v))
	}
	return list, p.delim(']', "the end of the list")
}

// text reads a string.
func (p parser) text() (string, error) {
	t, err := p.tokens.Token()
	if err != nil {
		return "", err
	}
	s, ok := t.(string)
	if !ok {
		return "", fmt.Errorf("got %s, want a string", kind(t))
	}
	return s, nil
}

// delim reads one bracket or brace.
func (p parser) delim(want json.Delim, meaning string) error {
	t, err := p.tokens.Token()
	if err != nil {
		return err
	}
	if t != want {
		return fmt.Errorf("got %s, want %s", kind(t), meaning)
	}
	return nil
}

// kind returns the name of a token's kind for an error.
func kind(t json.Token) string {
	switch t := t.(type) {
	case json.Delim:
		if t == '{' || t == '}' {
			return "an object"
		}
		return "a list"
	case string:
		return "a string"
	case json.Number:
		return "a number"
	case bool:
		return "a boolean"
	}
	return "null"
}
