package jinja

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
)

// jsonForm sets how values are written as JSON.
type jsonForm struct {
	item, key string  // separators of items, and of a key and its value
	indent    *string // indentation of nested values; nil for one line
	ascii     bool    // whether characters outside ASCII are escaped
	sorted    bool    // whether keys are sorted
}

// json writes a value as JSON, as Python's json.dumps does.
func (b *builder) json(x any, f jsonForm, depth int) {
	defer b.r.deeper()()
	b.r.spend(nodeCost)
	switch x := x.(type) {
	case nil:
		b.write("null")
	case bool:
		b.write(strconv.FormatBool(x))
	case int, *big.Int:
		b.repr(x)
	case float64:
		switch text := floatText(x); text {
		case "nan":
			b.write("NaN")
		case "inf", "-inf":
			b.write(strings.Replace(text, "inf", "Infinity", 1))
		default:
			b.write(text)
		}
	case string:
		b.quote(x, f.ascii)
	case markup:
		b.quote(string(x), f.ascii)
	case []any:
		b.lines("[", len(x), "]", f, depth, func(i int) { b.json(x[i], f, depth+1) })
	case tuple:
		b.json([]any(x), f, depth)
	case *Dict:
		keys := x.keys
		if f.sorted {
			b.r.spendTimes(itemCost, len(keys))
			keys = slices.Sorted(slices.Values(keys))
		}
		b.lines("{", len(keys), "}", f, depth, func(i int) {
			b.quote(keys[i], f.ascii)
			b.write(f.key)
			b.json(x.values[keys[i]], f, depth+1)
		})
	default:
		fail("got %s for JSON, want a value", typeName(x))
	}
}

// MarshalJSON returns the dict as a JSON object, with its keys in order.
func (d *Dict) MarshalJSON() (text []byte, err error) {
	r, line := &run{ctx: context.Background(), steps: math.MinInt / 2}, 1 // no limit outside of a rendering
	defer rescue(&err, &line)
	b := builder{r: r}
	b.json(d, jsonForm{item: ", ", key: ": "}, 0)
	return []byte(b.String()), nil
}

// lines writes the n items of a list or a dict.
func (b *builder) lines(begin string, n int, end string, f jsonForm, depth int, item func(i int)) {
	line := func(depth int) {
		if f.indent != nil && n > 0 {
			b.write("\n")
			b.repeat(*f.indent, depth)
		}
	}
	b.write(begin)
	for i := range n {
		if i > 0 {
			b.write(f.item)
		}
		line(depth + 1)
		item(i)
	}
	line(depth)
	b.write(end)
}

// toJSON is the filter tojson.
func toJSON(r *run, x any, g given) any {
	f := jsonForm{item: ", ", key: ": ", ascii: argumentOf(g, 0, false), sorted: argumentOf(g, 3, false)}
	if indent := g.at(1, nil); indent != nil {
		margin, ok := textOf(indent)
		if !ok {
			b := builder{r: r}
			b.repeat(" ", argumentOf(g, 1, 0))
			margin = b.String()
		}
		f.indent, f.item = &margin, ","
	}
	if separators := g.at(2, nil); separators != nil {
		parts, _ := sequenceOf(separators)
		if len(parts) != 2 || !isString(parts[0]) || !isString(parts[1]) {
			fail("tojson: separators: got other values, want two strings")
		}
		f.item, f.key = r.str(parts[0]), r.str(parts[1])
	}
	b := builder{r: r}
	b.json(x, f, 0)
	return b.String()
}

// quote writes a string of JSON.
func (b *builder) quote(text string, ascii bool) {
	b.write(`"`)
	start := 0
	for i, c := range text {
		escape := ""
		short := strings.IndexRune("\"\\\b\f\n\r\t", c)
		switch {
		case short >= 0:
			escape = `\` + `"\bfnrt`[short:short+1]
		case c < ' ', ascii && c == 0x7f:
			escape = fmt.Sprintf(`\u%04x`, c)
		case ascii && c > 0x7f:
			for _, unit := range utf16.Encode([]rune{c}) {
				escape += fmt.Sprintf(`\u%04x`, unit)
			}
		default:
			continue
		}
		b.write(text[start:i])
		b.write(escape)
		start = i + runeLen(text[i:])
	}
	b.write(text[start:])
	b.write(`"`)
}

// DecodeJSON returns the value of a JSON text. Objects become *Dict and keep the order of their keys.
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

// decode reads a value; depth is the number of values around it.
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
		if n, ok := new(big.Int).SetString(t.String(), 10); ok && len(t) <= mostDigits {
			return integerOf(n), nil
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
