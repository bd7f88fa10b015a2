package jinja_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"attention/train/text/jinja"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// moment is the time at which the renderings in testdata were made.
var moment = time.Date(2026, 11, 5, 13, 7, 0, 0, time.UTC)

// dict returns the dict of a JSON text.
func dict(t testing.TB, text string) *jinja.Dict {
	d, err := jinja.DecodeJSON([]byte(text))
	require.NoError(t, err)
	return d.(*jinja.Dict)
}

// TestSmallTemplates: the templates are rendered, or refused, as by transformers (testdata/templates/render.py).
func TestSmallTemplates(t *testing.T) {
	var stored struct {
		Variables json.RawMessage
		Small     map[string]any // texts, or objects with errors
	}
	data, err := os.ReadFile("../testdata/templates/renderings.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &stored))
	require.Greater(t, len(stored.Small), 120)
	for source, want := range stored.Small {
		template, err := jinja.Parse(source)
		got := ""
		if err == nil {
			got, _, err = template.Render(t.Context(), dict(t, string(stored.Variables)), moment)
		}
		if _, ok := want.(string); !ok {
			assert.Error(t, err, source)
			continue
		}
		assert.NoError(t, err, source)
		assert.Equal(t, want, got, source)
	}
}

// TestSpans: the spans of generation blocks and of passes of loops cover their texts, and have their items.
func TestSpans(t *testing.T) {
	template, err := jinja.Parse(`{% for m in list %}<{{ m.a }}>
  {% generation %}
é{{ m.b }}{%- endgeneration %}
!{% endfor %}{% generation %}{% endgeneration %}`)
	require.NoError(t, err)
	variables := dict(t, `{"list": [{"a": 1, "b": "x"}, {"a": 2, "b": "yy"}]}`)
	text, spans, err := template.Render(t.Context(), variables, moment)
	require.NoError(t, err)
	require.Equal(t, "<1>\néx!<2>\néyy!", text)
	require.Len(t, spans, 5)
	list, _ := variables.Get("list")
	for i, want := range []string{"éx", "<1>\néx!", "éyy", "<2>\néyy!", ""} {
		require.Equal(t, want, text[spans[i].From:spans[i].To])
		require.Equal(t, i%2 == 1, spans[i].Pass)
		if i < 4 {
			require.Len(t, spans[i].Items, 1)
			require.Same(t, list.([]any)[i/2], spans[i].Items[0])
		}
	}
}

func TestErrors(t *testing.T) {
	const blocks = "break, continue, for, generation, if, macro, set"
	long := strings.Repeat
	for _, row := range []struct{ name, source, want string }{
		{"another block", "a\n{% include 'x' %}", "line 2: got the block include, want one of " + blocks},
		{"a file", "{{ open('/etc/passwd').read() }}", "line 1: got a call of nothing defined: open, want a function"},
		{"import", "{% import 'x' as y %}", "line 1: got the block import, want one of " + blocks},
		{"no attributes of Python", "{{ ''.__class__.__mro__() }}",
			"line 1: got nothing defined: __class__, want a value with '__mro__'"},
		{"a block without an end", "\n{% if x %}\n", "line 2: got the end, want {% endif %}"},
		{"another end", "{% if x %}{% endfor %}", "line 1: got the block endfor, want one of " + blocks},
		{"a tag without an end", "{{ x", "line 1: got a tag without an end, want }}"},
		{"a comment without an end", "{# x", "line 1: got a comment without an end, want #}"},
		{"a string without an end", "\n\n{{ 'x }}", "line 3: got a string without an end, want '"},
		{"an escape", `{{ '\xq' }}`, `line 1: got the escape \xq' }}, want 2 hexadecimal digits of a character`},
		{"another character", "{{ a ? b }}", "line 1: got '?', want an expression"},
		{"no expression", "{{ }}", `line 1: got "}}", want an expression`},
		{"two expressions", "{{ a b }}", `line 1: got "b", want }}`},
		{"a filter", "{{ 1|x }}", `line 1: got the filter "x", want one of the known ones, such as tojson or trim`},
		{"a test", "{{ 1 is x }}", `line 1: got the test "x", want one of the known ones, such as defined or string`},
		{"a filter's value", "{{ 1|indent }}", "line 1: indent: got a number, want a string"},
		{"a filter's argument", "{{ [1]|round('a') }}", "line 1: round: precision: got a string, want a number"},
		{"another argument", "{{ [1]|tojson(ident=2) }}", "line 1: tojson: got the argument ident, want one of " +
			"(ensure_ascii, indent, separators, sort_keys), each once"},
		{"a change of a list", "{{ [1].append(2) }}", "line 1: got a call of nothing defined: append, want a function"},
		{"text and list", "{{ 'a' + [1] }}", "line 1: got a string + a list, want values that this operator takes"},
		{"something that is not there", "{{ 'a' + x }}", "line 1: got a string + nothing defined, want values that this " +
			"operator takes"},
		{"a loop over nothing", "{% for a in none %}{% endfor %}", "line 1: got none, want a list, a dict or a string"},
		{"two variables", "{% for a, b in [1] %}{% endfor %}", "line 1: got a number for 2 variables, want a list"},
		{"three items", "{% for a, b in [[1, 2, 3]] %}{% endfor %}", "line 1: got 3 items for 2 variables, want as many"},
		{"a division by 0", "{{ 1 // 0 }}", "line 1: got a division by 0, want another number"},
		{"a member of a dict", "{% set d = {} %}{% set d.x = 1 %}", "line 1: got an assignment to a member of a dict, want " +
			"it of a namespace"},
		{"a macro's arguments", "{% macro m(a) %}{% endmacro %}{{ m(1, 2) }}", "line 1: m: got 2 arguments, want at most 1"},
		{"a macro's names", "{% macro m(a) %}{% endmacro %}{{ m(b=2) }}", "line 1: m: got the argument b, want one of its " +
			"parameters"},
		{"a raised exception", "x\n{{ raise_exception('No\nsystem') }}", "line 2: the template refuses: No system"},
		{"a span that is nowhere", "{% set x %}{% generation %}{% endgeneration %}{% endset %}", "line 1: got a generation " +
			"block within a macro or set, want it in the text itself"},

		{"it loops for ever", "{% for a in range(9999999) %}{% for b in range(9999999) %}{% endfor %}{% endfor %}",
			"line 1: got a range(0, 9999999), want at most 100000 numbers"},
		{"a recursion", "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
			"line 1: got more than 150 calls or values within one another, want fewer"},
		{"a large range", "{{ range(999999999999) }}", "line 1: got a range(0, 999999999999), want at most 100000 numbers"},
		{"a text that doubles", "{% set n = namespace(s='x') %}{% for i in range(99) %}{% set n.s = n.s ~ n.s %}{% endfor %}",
			"line 1: got a rendering of more than 80000000 steps, want fewer"},
		{"a list that doubles", "{% set n = namespace(s=[1]) %}{% for i in range(99) %}{% set n.s = n.s + n.s %}{% endfor %}",
			"line 1: got a rendering of more than 80000000 steps, want fewer"},
		{"a value in itself", "{% set n = namespace() %}{% set n.n = n %}{{ n }}",
			"line 1: got more than 150 calls or values within one another, want fewer"},
		{"a replacement that grows", "{% set n = namespace(s='xx') %}{% for i in range(99) %}{% set n.s = " +
			"n.s|replace('x', n.s) %}{% endfor %}", "line 1: got a rendering of more than 80000000 steps, want fewer"},
		{"parentheses", "{{ " + long("(", 1000) + "1" + long(")", 1000) + " }}",
			"line 1: got more than 150 blocks and expressions within one another, want fewer"},
		{"signs", "{{ " + long("-", 1000) + "1 }}",
			"line 1: got more than 150 blocks and expressions within one another, want fewer"},
		{"blocks", long("{% if x %}", 1000),
			"line 1: got more than 150 blocks and expressions within one another, want fewer"},
		{"a large template", long("x", 1<<20+1), "line 1: got a template of 1048577 bytes, want at most 1048576"},
	} {
		template, err := jinja.Parse(row.source)
		if err == nil {
			_, _, err = template.Render(t.Context(), &jinja.Dict{}, moment)
		}
		assert.EqualError(t, err, row.want, row.name)
	}
}

// TestRenderHearsContext: a rendering ends with the cause of its context.
func TestRenderHearsContext(t *testing.T) {
	template, err := jinja.Parse("{% for a in range(1000000) %}{% endfor %}")
	require.NoError(t, err)
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("stop")
	cancel(stop)
	_, _, err = template.Render(ctx, &jinja.Dict{}, moment)
	require.ErrorIs(t, err, stop)
}

// TestDeepOperators: an expression of many operators does not exhaust the stack.
func TestDeepOperators(t *testing.T) {
	template, err := jinja.Parse("{{ 0" + strings.Repeat("+1", 500_000) + " }}")
	require.NoError(t, err)
	text, _, err := template.Render(t.Context(), &jinja.Dict{}, moment)
	require.NoError(t, err)
	require.Equal(t, "500000", text)
}

// TestDecodeJSON: the order of keys is kept.
func TestDecodeJSON(t *testing.T) {
	d := dict(t, `{"b": 1, "a": [null, true, 2.5, "é\n", {}], "c": {"z": 12345678901234567890, "y": 2}}`)
	text, err := json.Marshal(d)
	require.NoError(t, err)
	require.Equal(t, `{"b":1,"a":[null,true,2.5,"é\n",{}],"c":{"z":12345678901234567890,"y":2}}`, string(text))
	for _, row := range []struct{ name, text, want string }{
		{"no JSON", "{", "unexpected EOF"},
		{"two values", "1 2", "got more than one JSON value, want one"},
		{"deep", strings.Repeat("[", 1000), "got more than 150 JSON values within one another, want fewer"},
	} {
		_, err := jinja.DecodeJSON([]byte(row.text))
		assert.EqualError(t, err, row.want, row.name)
	}
}

// For any template, Parse and Render return a text or an error of one line.
func FuzzTemplate(f *testing.F) {
	for _, name := range []string{"llama3", "qwen2.5", "qwen3", "smollm2", "smollm3", "gemma3", "mistral"} {
		source, err := os.ReadFile("../testdata/templates/" + name + ".jinja")
		require.NoError(f, err)
		f.Add(string(source))
	}
	f.Add("{% for a in range(3) %}{{ loop.index|string ~ a }}{% endfor %}{{ {'a': [1][::-1]}|tojson(indent=1) }}")
	for _, source := range hostile(2) {
		f.Add(strings.ReplaceAll(source, "100000", "3"))
	}
	f.Fuzz(func(t *testing.T, source string) {
		template, err := jinja.Parse(source)
		if err == nil {
			_, _, err = template.Render(t.Context(), dict(t, `{"messages": [{"role": "user", "content": "Hi"}],
				"tools": null}`), moment)
		}
		if err != nil {
			require.Less(t, len(err.Error()), 500)
		}
	})
}
