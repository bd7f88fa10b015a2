package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Members splits random JSON in the same way as encoding/json.
func TestMembers(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		text := randomJSON(rnd, 4)
		require.True(t, json.Valid([]byte(text)), text)
		requireSplit(t, text)
	}
}

// requireSplit compares an object's members and a list's length with those of encoding/json, and so on inside them.
func requireSplit(t *testing.T, text string) {
	trimmed := bytes.TrimSpace([]byte(text))
	got := map[string]json.RawMessage{}
	for key, value := range Members([]byte(text)) {
		require.NotContains(t, got, key)
		got[key] = json.RawMessage(value)
	}
	switch trimmed[0] {
	case '{':
		var want map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(trimmed, &want))
		require.Equal(t, want, got)
	case '[':
		require.Empty(t, got)
		var want []json.RawMessage
		require.NoError(t, json.Unmarshal(trimmed, &want))
		at := 0
		for _, item := range parts(trimmed, '[') {
			require.Equal(t, want[at], json.RawMessage(item))
			requireSplit(t, string(item))
			at++
		}
		require.Len(t, want, at)
	}
	for _, value := range got {
		requireSplit(t, string(value))
	}
}

// randomJSON returns a value with at most depth nested objects and lists, with white space between its tokens.
func randomJSON(rnd *rand.Rand, depth int) string {
	space := func() string { return strings.Repeat(string(" \t\r\n"[rnd.IntN(4)]), rnd.IntN(3)) }
	str := func() string {
		parts := []string{`\"`, `\\`, `\u0041`, `\ud83d\ude00`, `\ud800`, "{", "}", "[", "]", ",", ":", "é", " ", "a", "b"}
		text := fmt.Sprint(rnd.IntN(1e9)) // so that keys differ
		for range rnd.IntN(6) {
			text += parts[rnd.IntN(len(parts))]
		}
		return `"` + text + `"`
	}
	kind := rnd.IntN(8)
	if depth == 0 {
		kind %= 6
	}
	var elements []string
	switch kind {
	case 0, 1:
		return str()
	case 2, 3, 4, 5:
		return []string{"null", "true", "-0.5e+3", "17"}[kind-2]
	case 6:
		for range rnd.IntN(20) {
			elements = append(elements, space()+str()+space()+":"+space()+randomJSON(rnd, depth-1)+space())
		}
		return space() + "{" + space() + strings.Join(elements, ",") + "}" + space()
	}
	for range rnd.IntN(5) {
		elements = append(elements, space()+randomJSON(rnd, depth-1)+space())
	}
	return "[" + space() + strings.Join(elements, ",") + "]"
}

// A reader that stops early gets no more.
func TestMembersStop(t *testing.T) {
	for key := range Members([]byte(`{"a": 1, "b": 2}`)) {
		require.Equal(t, "a", key)
		break
	}
	for range Members([]byte(" [1]")) {
		t.Fatal("a list has no members")
	}
}

// One of many keys occurs twice, at the beginning and at the end of the object.
func TestDuplicateAmongMany(t *testing.T) {
	for _, n := range []int{2, 15, 16, 17, 18, 1000} {
		var list []string
		for i := range n {
			list = append(list, fmt.Sprintf(`"k%d": 0`, i))
		}
		var into map[string]int
		require.NoError(t, Decode([]byte("{"+strings.Join(list, ",")+"}"), &into))
		require.Len(t, into, n)
		for _, again := range []int{0, n - 1} {
			text := "{" + strings.Join(append(list, fmt.Sprintf(`"\u006b%d": 1`, again)), ",") + "}"
			require.EqualError(t, Decode([]byte(text), &into), fmt.Sprintf(`field "k%d" comes twice`, again))
		}
	}
}
