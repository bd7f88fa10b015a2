package config_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"attention/internal/config"

	"github.com/stretchr/testify/require"
)

// word reads itself from a string.
type word string

func (w *word) UnmarshalText(text []byte) error {
	if string(text) != "yes" && string(text) != "no" {
		return fmt.Errorf("got %.20q, want yes or no", text)
	}
	*w = word(text)
	return nil
}

// shape is a union, which is replaced as a whole.
type shape struct {
	Circle *circle
	Square *square
}

type circle struct {
	Radius int `json:"radius"`
}

type square struct {
	Side  int  `json:"side"`
	Inner word `json:"inner"`
}

func (s *shape) UnmarshalJSON(text []byte) error {
	var head struct {
		Type string `json:"type"`
	}
	if err := (config.Reader{AllowUnknown: true}).Decode(text, &head); err != nil {
		return err
	}
	*s = shape{}
	switch head.Type {
	case "circle":
		s.Circle = new(circle)
		return config.Decode(text, &head, s.Circle)
	case "square":
		s.Square = new(square)
		return config.Decode(text, &head, s.Square)
	}
	return config.OneOf(head, "Type", head.Type, "circle", "square")
}

type Base struct {
	Width int `json:"width"`
	Name  string
}

// all has a field of each kind.
type all struct {
	Base
	Width   int8             `json:"w"` // hides Base's, which is "width"
	Bias    bool             `json:"bias,omitempty"`
	Rate    float64          `json:"rate"`
	Small   float32          `json:"small"`
	Count   uint8            `json:"count"`
	Word    word             `json:"word"`
	Part    Base             `json:"part"`
	Pointer *Base            `json:"pointer"`
	Number  *int             `json:"number"`
	List    []int            `json:"list"`
	Parts   []Base           `json:"parts"`
	Pair    [2]int           `json:"pair"`
	Map     map[string]Base  `json:"map"`
	Shape   shape            `json:"shape"`
	Shapes  []shape          `json:"shapes"`
	Raw     json.RawMessage  `json:"raw"`
	Any     any              `json:"any"`
	Bytes   []byte           `json:"bytes"`
	Func    func()           `json:"func"`
	Error   error            `json:"error"`
	Counts  map[int]struct{} `json:"counts"`
	Hidden  int              `json:"-"`
	own     int
}

func TestDecode(t *testing.T) {
	five := 5
	shared := &Base{Width: 1, Name: "shared"}
	before := map[string]Base{"a": {Width: 1, Name: "a"}, "b": {Width: 2}}
	got := all{Base: Base{3, "base"}, Rate: 0.5, Part: Base{4, "part"}, Pointer: shared, List: []int{1, 2, 3}, Map: before,
		Parts: []Base{{7, "old"}}, Shape: shape{Circle: &circle{2}}, Word: "no", Hidden: 9, own: 8}
	require.NoError(t, config.Decode([]byte(` {"w": -128, "width": 6, "bias": true, "small": 1e-3, "count": 255,
		"word": "yes", "part": {"width": -0}, "pointer": {"width": 2}, "number": 5, "list": [4],
		"parts": [{"width": 8}, {}], "pair": [1, 2], "map": {"b": {"Name": "b"}, "c": {}},
		"shape": {"type": "square", "inner": "yes", "side": 3}, "shapes": [{"type": "circle"}],
		"raw": {"a": [1,  2]}, "any": {"a": [1]}} `), &got))
	require.Equal(t, all{Base: Base{6, "base"}, Width: -128, Bias: true, Rate: 0.5, Small: 1e-3, Count: 255, Word: "yes",
		Part: Base{0, "part"}, Pointer: &Base{2, "shared"}, Number: &five, List: []int{4}, Parts: []Base{{Width: 8}, {}},
		Pair:  [2]int{1, 2},
		Map:   map[string]Base{"a": {1, "a"}, "b": {2, "b"}, "c": {}},
		Shape: shape{Square: &square{3, "yes"}}, Shapes: []shape{{Circle: &circle{}}},
		Raw: json.RawMessage(`{"a": [1,  2]}`), Any: map[string]any{"a": []any{1.0}}, Hidden: 9, own: 8}, got)
	require.Equal(t, Base{1, "shared"}, *shared, "who shares the pointer")
	require.Equal(t, map[string]Base{"a": {1, "a"}, "b": {Width: 2}}, before, "who shares the map")
}

func TestDecodeRefuses(t *testing.T) {
	const has = "it has width, Name, w, bias, rate, small, count, word, part, pointer, number, list, parts, pair, map, " +
		"shape, shapes, raw, any, bytes, func, error, counts"
	for _, c := range []struct{ reason, text, want string }{
		{"nothing", ``, "not JSON: unexpected end of JSON input, want one JSON object"},
		{"cut", `{"w":`, "not JSON: unexpected end of JSON input, want one JSON object"},
		{"two values", `{} {}`, "not JSON: invalid character '{' after top-level value, want one JSON object"},
		{"no value of JSON", `{"rate": NaN}`,
			"not JSON: invalid character 'N' looking for beginning of value, want one JSON object"},
		{"a comment", `{} // w`, "not JSON: invalid character '/' after top-level value, want one JSON object"},
		{"no UTF-8", "{\"Name\": \"\xff\"}", "not JSON: not UTF-8, want one JSON object"},
		{"a list", `["w",  1]`, `got ["w",  1], want a JSON object`},
		{"a list over lines", "[1,\n\t2]", `got [1,  2], want a JSON object`},
		{"null", ` null `, "got null, want a JSON object"},

		{"unknown", `{"wide": 1}`, `unknown field "wide"; ` + has},
		{"unknown and wrong", `{"w": "x", "b": 1, "a": {"a": 1}}`, `unknown field "a", "b"; ` + has},
		{"another case", `{"W": 1}`, `unknown field "W"; ` + has},
		{"no key", `{"Hidden": 1, "-": 1, "own": 1}`, `unknown field "-", "Hidden", "own"; ` + has},
		{"the name of an embedded struct", `{"Base": {}}`, `unknown field "Base"; ` + has},
		{"many", `{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1,"j":1,"k":1,"l":1}`,
			`unknown field "a", "b", "c", "d", "e", "f", "g", "h", "i", "j" and 2 more; ` + has},
		{"in an object", `{"part": {"name": "x"}}`, `part: unknown field "name"; it has width, Name`},
		{"in an object of a list", `{"parts": [{}, {"name\u0007": 0}]}`,
			`parts[1]: unknown field "name\a"; it has width, Name`},
		{"in a union", `{"shape": {"type": "circle", "side": 1}}`, `shape: unknown field "side"; it has type, radius`},

		{"twice", `{"w": 1, "w": 1}`, `field "w" comes twice`},
		{"twice with an escape", `{"w": 1, "\u0077": 1}`, `field "w" comes twice`},
		{"twice deep in anything", `{"any": [{}, {"a.b": {"c": 1, "c": 2}}]}`, `any[1].a.b: field "c" comes twice`},
		{"deep", `{"any": ` + strings.Repeat("[", 64) + strings.Repeat("]", 64) + `}`,
			"got more than 64 objects and lists in each other, want fewer"},

		{"a string for a number", `{"width": "x"}`, `width: got "x", want a whole number`},
		{"a fraction", `{"width": 1.5}`, `width: got 1.5, want a whole number`},
		{"an exponent", `{"width": 1e3}`, `width: got 1e3, want a whole number`},
		{"too large for an int", `{"width": 99999999999999999999}`,
			"width: got 99999999999999999999, want a whole number from -9223372036854775808 to 9223372036854775807"},
		{"too small for an int8", `{"w": -129}`, "w: got -129, want a whole number from -128 to 127"},
		{"negative", `{"count": -1}`, "count: got -1, want a whole number from 0 to 255"},
		{"too large for a float", `{"rate": 1e999}`, "rate: got 1e999, want a number from -1.798e+308 to 1.798e+308"},
		{"too large for a float32", `{"small": -1e39}`, "small: got -1e39, want a number from -3.403e+38 to 3.403e+38"},
		{"true for a number", `{"rate": true}`, "rate: got true, want a number"},
		{"a number for true", `{"bias": 1}`, "bias: got 1, want true or false"},
		{"a number for a string", `{"Name": 1}`, "Name: got 1, want a string"},
		{"a number for a word", `{"word": 1}`, "word: got 1, want a string"},
		{"another word", `{"word": "maybe"}`, `word: got "maybe", want yes or no`},
		{"a list for an object", `{"part": [1]}`, "part: got [1], want a JSON object"},
		{"a number for a map", `{"map": 1}`, "map: got 1, want a JSON object"},
		{"an object for a list", `{"list": {"0": 1}}`, `list: got {"0": 1}, want a list`},
		{"an element", `{"list": [1, 2, "3"]}`, `list[2]: got "3", want a whole number`},
		{"a short list", `{"pair": [1]}`, "pair: got [1], want a list of length 2"},
		{"a field behind a pointer", `{"pointer": {"width": true}}`, "pointer.width: got true, want a whole number"},
		{"a field in a map", `{"map": {"a very long key of a map": {"width": true}}}`,
			"map.a very long key of a map.width: got true, want a whole number"},
		{"a field of a union", `{"shapes": [{"type": "square", "inner": "x"}]}`, `shapes[0].inner: got "x", want yes or no`},
		{"another union", `{"shape": {"type": "star"}}`, `shape.type: got "star", want one of circle, square`},
		{"an interface", `{"error": "x"}`, "error: got a value for a error, want none: JSON cannot set it"},
		{"a function", `{"func": "x"}`, "func: got a value for a func(), want none: JSON cannot set it"},
		{"bytes, of which nobody knows whether they are base64", `{"bytes": [1]}`,
			"bytes: got a value for a []uint8, want none: JSON cannot set it"},
		{"keys that are no strings", `{"counts": {}}`,
			"counts: got a value for a map[int]struct {}, want none: JSON cannot set it"},
		{"a long value", `{"width": "` + strings.Repeat("ä", 100) + `"}`,
			`width: got "` + strings.Repeat("ä", 59) + `, want a whole number`},
		{"what no terminal should get", "{\"width\": \"\u009b31m\"}", "width: got \"\ufffd31m\", want a whole number"},

		{"null for a number", `{"width": null}`, "width: got null, want a whole number"},
		{"null for a pointer", `{"pointer": null}`, "pointer: got null, want a JSON object"},
		{"null for a union", `{"shape": null}`, "shape: got null, want a JSON object"},
		{"null for a word", `{"word": null}`, "word: got null, want a string"},
		{"null for anything", `{"any": null}`, "any: got null, want a value"},
		{"null in a list", `{"list": [null]}`, "list[0]: got null, want a whole number"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			got := all{Pointer: &Base{Width: 1}, Map: map[string]Base{}}
			err := config.Decode([]byte(c.text), &got)
			require.EqualError(t, err, c.want)
			require.Equal(t, all{Pointer: &Base{Width: 1}, Map: map[string]Base{}}, got)
		})
	}
}

// After an error even the fields set before it are unchanged.
func TestDecodeAllOrNothing(t *testing.T) {
	a, b := all{Pointer: &Base{}, Map: map[string]Base{"x": {}}}, circle{1}
	was := a
	text := []byte(`{"pointer": {"width": 1}, "map": {"x": {"width": 1}}, "radius": 2, "list": [true]}`)
	require.EqualError(t, config.Decode(text, &b, &a), "list[0]: got true, want a whole number")
	require.Equal(t, was, a)
	require.Equal(t, circle{1}, b)
	require.Equal(t, &Base{}, a.Pointer)
	require.Equal(t, map[string]Base{"x": {}}, a.Map)
}

func TestReader(t *testing.T) {
	for _, c := range []struct {
		reason string
		reader config.Reader
		text   string
		want   string
	}{
		{"unknown", config.Reader{AllowUnknown: true}, `{"x": null, "w": 1, "part": {"y": 1, "width": 2}}`, ""},
		{"unknown, twice", config.Reader{AllowUnknown: true}, `{"x": 1, "x": 1}`, `field "x" comes twice`},
		{"unknown in another type", config.Reader{AllowUnknown: true}, `{"shape": {"type": "circle", "y": 1}}`,
			`shape: unknown field "y"; it has type, radius`},
		{"unknown, wrong", config.Reader{AllowUnknown: true}, `{"x": 1, "w": "1"}`, `w: got "1", want a whole number`},
		{"null is not allowed", config.Reader{AllowUnknown: true}, `{"w": null}`, "w: got null, want a whole number"},
		{"null", config.Reader{AllowNull: true},
			`{"w": 1, "rate": null, "shape": null, "any": null, "part": {"width": 2, "Name": null}, "map": {"a": null}}`, ""},
		{"null, unknown", config.Reader{AllowNull: true}, `{"part": {"x": null}}`,
			`part: unknown field "x"; it has width, Name`},
		{"null in a list", config.Reader{AllowNull: true}, `{"list": [null]}`, "list[0]: got null, want a whole number"},
		{"null, all of it", config.Reader{AllowNull: true}, `null`, "got null, want a JSON object"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			got := all{Rate: 0.5, Part: Base{0, "part"}}
			err := c.reader.Decode([]byte(c.text), &got)
			if c.want != "" {
				require.EqualError(t, err, c.want)
				return
			}
			require.NoError(t, err)
			require.Equal(t, all{Rate: 0.5, Width: 1, Part: Base{2, "part"}},
				all{Rate: got.Rate, Width: got.Width, Part: got.Part})
		})
	}
}

// layer reads itself as a whole.
type layer struct{ square }

func (l *layer) UnmarshalJSON(text []byte) error {
	var short struct {
		Size int `json:"size"`
	}
	if err := config.Decode(text, &short, &l.square); err != nil {
		return fmt.Errorf("layer: %w", err)
	}
	l.Side += short.Size
	return nil
}

func TestDecodeShared(t *testing.T) {
	var head struct {
		Type string `json:"type"`
		Side int    `json:"side"`
	}
	l := layer{square{Side: 1}}
	require.NoError(t, config.Decode([]byte(`{"type": "<a&b>", "side": 7, "size": 3, "inner": "yes"}`), &head, &l))
	require.Equal(t, layer{square{4, "yes"}}, l, "the first struct that has it gets a field")
	require.Equal(t, "<a&b>", head.Type)
	require.Equal(t, 7, head.Side)
	for _, c := range []struct{ text, want string }{
		{text: `{"type": "a", "inner": "x"}`, want: `inner: got "x", want yes or no`},
		{text: `{"type": 1, "inner": "x"}`, want: `type: got 1, want a string`},
		{text: `{"type": 1, "innner": "x"}`, want: `unknown field "innner"; it has type, side, size, inner`},
		{text: `[]`, want: `got [], want a JSON object`},
	} {
		require.EqualError(t, config.Decode([]byte(c.text), &head, &l), c.want)
	}
	var sides []*int
	require.EqualError(t, config.Decode([]byte(`[1, 2, null]`), &sides), "[2]: got null, want a whole number")
	require.NoError(t, config.Decode([]byte(`[1, 2]`), &sides))
	require.Equal(t, 2, *sides[1])
}

func TestDecodeWrongTargets(t *testing.T) {
	text := []byte(`{}`)
	require.EqualError(t, config.Decode(text, nil), "config: Decode: got <nil>, want a pointer to a config")
	require.EqualError(t, config.Decode(text, all{}), "config: Decode: got config_test.all, want a pointer to a config")
	require.EqualError(t, config.Decode(text, (*all)(nil)),
		"config: Decode: got *config_test.all, want a pointer to a config")
	require.EqualError(t, config.Decode(text, new(shape), new(all)),
		"config: Decode: got *config_test.shape beside others, want a pointer to a plain struct")
	require.EqualError(t, config.Decode(text, new(all), new(int)),
		"config: Decode: got *int beside others, want a pointer to a plain struct")
	require.EqualError(t, config.Decode([]byte(`{"a": 1}`)), `unknown field "a"; it has no fields`)
	require.EqualError(t, config.Decode([]byte(`{"a": 1}`), new(struct{})), `unknown field "a"; it has no fields`)
}

// Values that Decode accepts are also accepted by encoding/json, with the same result. A refused value changes nothing
// and gives an error of one short line.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{`{"w": 1, "rate": 0.1, "part": {"width": 3}, "list": [1], "parts": [{"Name": "x"}]}`,
		`{"shape": {"type": "circle", "radius": 3}, "map": {"a": {"width": 1}}, "any": [1, {"a": null}], "raw": null}`,
		`{"pointer": {"width": 1, "width": 2}}`, `{"Width": 1}`, `{"small": 1e39, "count": 256, "pair": [1, 2, 3]}`,
		`{"word": "yes", "number": -0, "any": "\ud800"}`, `[[[[`, `{"any": [[[[[[]]]]]]}`, "{\"a\u009b\": \"\u2028\"}",
		`null`, "\xef\xbb\xbf{}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got := all{Pointer: &Base{1, "x"}, Map: map[string]Base{"a": {1, "x"}}}
		want := all{Pointer: &Base{1, "x"}, Map: map[string]Base{"a": {1, "x"}}}
		if err := config.Decode(text, &got); err != nil {
			require.Equal(t, want, got)
			require.NotContains(t, err.Error(), "\n")
			require.Less(t, len(err.Error()), 10_000)
			return
		}
		want.Map = nil // encoding/json replaces its entries
		entries := got.Map
		got.Map = nil
		require.NoError(t, json.Unmarshal(text, &want))
		for key := range want.Map {
			require.Contains(t, entries, key)
		}
		want.Map = nil
		require.Equal(t, want, got)
	})
}

func TestDecodeNumbers(t *testing.T) {
	for _, c := range []struct {
		text string
		want float64
	}{{"0", 0}, {"-0", math.Copysign(0, -1)}, {"1e-999", 0}, {"0.1", 0.1}, {"5e-324", 5e-324},
		{"1.7976931348623157e308", math.MaxFloat64}} {
		var x float64
		require.NoError(t, config.Decode([]byte(c.text), &x))
		require.Equal(t, math.Float64bits(c.want), math.Float64bits(x), c.text)
	}
}

// The error about a megabyte of the worst possible text is one short line.
func TestDecodeHostile(t *testing.T) {
	for _, text := range []string{
		strings.Repeat("[", 1<<20),
		`{"any": ` + strings.Repeat(`{"a":`, 1<<18),
		`{` + strings.Repeat(`"w": 1, `, 1<<17) + `"w": 1}`,
		`{"list": [` + strings.Repeat("1,", 1<<19) + `"x"]}`,
		`{"` + strings.Repeat("k", 1<<20) + `": 1}`,
		`{"any": ` + strings.Repeat(`{"long key, as long as the path of an error is": `, 60) + `{"a": 1, "a": 1}` +
			strings.Repeat("}", 61),
	} {
		var a all
		err := config.Decode([]byte(text), &a)
		require.Error(t, err)
		require.Less(t, len(err.Error()), 1500)
	}
}
