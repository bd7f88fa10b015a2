package jinja

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
)

// jsonForm is how values are written as JSON.
type jsonForm struct {
	item, key string // what separates items, and a key from its value
	indent    string // of what is within another value; "" for one line
	ascii     bool   // whether other characters than ASCII are escaped
	sorted    bool   // whether keys are sorted
}

// json returns a value as JSON.
func (r *run) json(x any, f jsonForm, depth int) string {
	defer r.deeper()()
	r.took(1)
	switch x := x.(type) {
	case nil, undefined:
		return "null"
	case bool:
		return strconv.FormatBool(x)
	case int:
		return strconv.Itoa(x)
	case float64:
		return strconv.FormatFloat(x, 'f', -1, 64)
	case string:
		return r.long(quote(x, f.ascii))
	case []any:
		parts := make([]string, len(x))
		for i, item := range x {
			parts[i] = r.json(item, f, depth+1)
		}
		return r.long("[" + f.lines(parts, depth) + "]")
	case namespace:
		return r.json(x.Dict, f, depth)
	case *Dict:
		keys := x.keys
		if f.sorted {
			keys = slices.Sorted(slices.Values(keys))
		}
		parts := make([]string, len(keys))
		for i, key := range keys {
			parts[i] = quote(key, f.ascii) + f.key + r.json(x.values[key], f, depth+1)
		}
		return r.long("{" + f.lines(parts, depth) + "}")
	}
	fail("got %s for JSON, want a value", typeName(x))
	return ""
}

// MarshalJSON returns the dict as an object in its order.
func (d *Dict) MarshalJSON() (text []byte, err error) {
	r, line := &run{}, 1
	defer rescue(&err, &line)
	return []byte(r.json(d, jsonForm{item: ", ", key: ": "}, 0)), nil
}

// lines joins the parts of a list or a dict.
func (f jsonForm) lines(parts []string, depth int) string {
	if f.indent == "" || len(parts) == 0 {
		return strings.Join(parts, f.item)
	}
	end := "\n" + strings.Repeat(f.indent, depth)
	begin := end + f.indent
	return begin + strings.Join(parts, f.item+begin) + end
}

// toJSON is the filter tojson.
func toJSON(r *run, x any, g given) any {
	f := jsonForm{item: ", ", key: ": ", ascii: argumentOf(g, -1, "ensure_ascii", false),
		sorted: argumentOf(g, -1, "sort_keys", false)}
	if g.at(0, "indent", nil) != nil {
		f.indent = strings.Repeat(" ", min(max(argumentOf(g, 0, "indent", 0), 0), mostDepth))
		f.item = ","
	}
	if parts, ok := g.at(-1, "separators", nil).([]any); ok {
		item, first := slices.Clone(parts), len(parts) == 2
		if !first || !isString(item[0]) || !isString(item[1]) {
			fail("tojson: separators: got other values, want two strings")
		}
		f.item, f.key = item[0].(string), item[1].(string)
	}
	return r.json(x, f, 0)
}

// quote returns a string of JSON.
func quote(text string, ascii bool) string {
	var out strings.Builder
	out.WriteByte('"')
	for _, c := range text {
		short := strings.IndexRune("\"\\\b\f\n\r\t", c)
		switch {
		case short >= 0:
			out.WriteByte('\\')
			out.WriteByte(`"\bfnrt`[short])
		case c < ' ', ascii && c == 0x7f:
			fmt.Fprintf(&out, `\u%04x`, c)
		case ascii && c > 0x7f:
			for _, unit := range utf16.Encode([]rune{c}) {
				fmt.Fprintf(&out, `\u%04x`, unit)
			}
		default:
			out.WriteRune(c)
		}
	}
	out.WriteByte('"')
	return out.String()
}

// DecodeJSON returns the value of a JSON text, whose objects are *Dict with their order.
func DecodeJSON(text []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	x, err := decode(dec, 0)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, errors.New("got more than one JSON value, want one")
	}
	return x, nil
}

// decode reads a value, which is within as many others as depth says.
func decode(dec *json.Decoder, depth int) (any, error) {
	if depth > mostDepth {
		return nil, fmt.Errorf("got more than %d JSON values within one another, want fewer", mostDepth)
	}
	t, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch t := t.(type) {
	case json.Number:
		if n, err := strconv.Atoi(t.String()); err == nil {
			return n, nil
		}
		return t.Float64()
	case json.Delim:
		if t == '[' {
			return decodeList(dec, depth)
		}
		return decodeDict(dec, depth)
	}
	return t, nil
}

func decodeList(dec *json.Decoder, depth int) (any, error) {
	list := []any{}
	for dec.More() {
		item, err := decode(dec, depth+1)
		if err != nil {
			return nil, err
		}
		list = append(list, item)
	}
	_, err := dec.Token()
	return list, err
}

func decodeDict(dec *json.Decoder, depth int) (any, error) {
	d := &Dict{}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, err
		}
		value, err := decode(dec, depth+1)
		if err != nil {
			return nil, err
		}
		d.Set(key.(string), value)
	}
	_, err := dec.Token()
	return d, err
}
