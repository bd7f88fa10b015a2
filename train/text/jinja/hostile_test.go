package jinja_test

import (
	"fmt"
	"os"
	"runtime"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"attention/train/text/jinja"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Beginnings of hostile templates. grownTo makes two equal texts of 16·2ⁿ bytes; shared makes a list, and a dict, of
// 2⁶⁰ values in the memory of 60; listOf makes a list that has a text 2²⁰ times.
const (
	forever = "{% for i in range(100000) %}{% for j in range(100000) %}"
	end     = "{% endfor %}{% endfor %}"
	grownTo = "{%% set ns = namespace(s='aaaaaaaaaaaaaaaa', t='aaaaaaaaaaaaaaaa', n=[1]) %%}{%% for i in range(%d) %%}" +
		"{%% set ns.s = ns.s ~ ns.s %%}{%% set ns.t = ns.t ~ ns.t %%}{%% endfor %%}{%% set s = ns.s %%}{%% set t = ns.t %%}"
	shared = "{% set ns = namespace(a=[1], d={}) %}{% for i in range(60) %}{% set ns.a = [ns.a, ns.a] %}{% set ns.d = " +
		"{'a': ns.d, 'b': ns.d} %}{% endfor %}"
	listOf   = "{% set ns.n = [ns.s] %}{% for i in range(20) %}{% set ns.n = ns.n + ns.n %}{% endfor %}"
	thousand = "{% set l = range(1000)|list %}"
)

// hostile are templates that would take hours or gigabytes, by their kinds, with texts of 16·2ⁿ bytes for each size n.
func hostile(sizes ...int) map[string]string {
	large, small := fmt.Sprintf(grownTo, 20), fmt.Sprintf(grownTo, 8)
	always := func(of string) string { return forever + of + end }
	all := map[string]string{
		"nothing": always(""), "literals": always("{% set x = [" + strings.Repeat("1,", 500) + "] %}"),
		"dicts":              always("{% set x = {" + strings.Repeat("'a': 1,", 500) + "} %}"),
		"and":                always("{% set x = 1" + strings.Repeat(" and 1", 500) + " %}"),
		"or":                 always("{% set x = 0" + strings.Repeat(" or 0", 500) + " %}"),
		"sums":               always("{% set x = 1" + strings.Repeat(" + 1", 500) + " %}"),
		"if":                 always(strings.Repeat("{% if false %}{% endif %}", 500)),
		"choices":            always("{% set x = 1" + strings.Repeat(" if 0 else 2", 50) + " %}"),
		"macro's parameters": "{% macro m(" + strings.Repeat("a, ", 500) + "b=1) %}{% endmacro %}" + always("{{ m() }}"),
		"macro's defaults":   "{% macro m(a=range(1000)|list) %}{% endmacro %}" + always("{% set x = m() %}"),
		"macros of macros": "{% macro m(n) %}{% if n %}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}{% endmacro %}" +
			"{{ m(100) }}",
		"paths": "{% set d = {'a': 1} %}" + always("{% set x = [d]|map(attribute='"+
			strings.Repeat("a.", 500)+"a')|list %}"),
		"a text that doubles": fmt.Sprintf(grownTo, 99),
		"a list that doubles": small + strings.Replace(listOf, "20", "99", 1),
		"a list that repeats": "{% set x = [0] * 10000000000 %}", "a text that repeats": "{% set x = 'a' * 10000000000 %}",
		"repeats of repeats": "{% set x = 'a' * 1000000 * 1000000 %}", "a power": "{% set x = 10 ** (10 ** 10) %}",
		"powers":     "{% set ns = namespace(n=7) %}{% for i in range(100) %}{% set ns.n = ns.n * ns.n %}{% endfor %}",
		"an integer": always("{% set x = 7 ** 5000 %}"), "its digits": always("{% set x = (7 ** 5000)|string %}"),
		"output": large + forever + "{{ ns.s }}" + end, "set": large + always("{% set x %}{{ ns.s }}{% endset %}"),
		"shared ==": shared + "{{ ns.a == ns.a }}", "shared dicts": shared + "{{ ns.d == ns.d }}",
		"shared in": shared + "{{ ns.a in [ns.a] }}", "shared <": shared + "{{ ns.a < ns.a }}",
		"shared tojson": shared + "{{ ns.a|tojson }}", "shared dicts tojson": shared + "{{ ns.d|tojson }}",
		"shared string": shared + "{{ ns.a|string }}", "shared ~": shared + "{{ ns.a ~ ns.d }}",
		"shared sort":   shared + "{{ [ns.a, ns.a]|sort|length }}",
		"shared unique": shared + "{{ [ns.a, ns.a]|unique|list|length }}",
		"shared join":   shared + "{{ ns.a|join }}", "shared trim": shared + "{{ ns.a|trim }}",
		"indent of JSON": "{% set ns = namespace(a=range(100000)|list) %}{% for i in range(140) %}{% set ns.a = [ns.a] %}" +
			"{% endfor %}{{ ns.a|tojson(indent=150) }}",
		"a large indent":  "{{ [1]|tojson(indent=10000000000) }}",
		"a long indent":   large + "{{ [[[[1]]]]|tojson(indent=ns.s) }}{{ ns.s|tojson(separators=(ns.s, ns.s)) }}",
		"separators":      large + "{{ (range(100000)|list)|tojson(separators=(ns.s, ns.s)) }}",
		"indent":          small + "{{ ('\n' * 1000000)|indent(10000000, blank=true) }}",
		"indent of texts": large + "{{ ('\n' * 1000000)|indent(ns.s, blank=true) }}",
		"join":            large + "{{ range(100000)|join(ns.s) }}",
		"replace":         large + "{{ ns.s.replace('a', ns.t) }}", "replace nothing": large + "{{ ns.s|replace('', ns.t) }}",
		"sort of texts": fmt.Sprintf(grownTo, 16) + listOf + "{{ ns.n|sort|length }}",
		"in a list":     large + listOf + "{{ (ns.t ~ 'b') in ns.n }}",
		"unique":        thousand + always("{% set x = l|unique|list %}"),
		"strip": large + "{% set x = ('b' ~ ns.t).strip(ns.s ~ 'b') %}" +
			"{% set y = (ns.s.replace('a','b')).strip(ns.s ~ 'b') %}",
		"recursion":   "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
		"itself":      "{% set n = namespace() %}{% set n.n = n %}{{ n == n }}{{ n }}",
		"white space": large + always("{% set x = (ns.s.replace('a', ' ')).strip() %}"),
		"strftime":    large + "{{ strftime_now(ns.s.replace('a', '%c')) }}",
		"generation": "{% for i in range(100000) %}{% for j in range(100000) %}" +
			"{% generation %}{% endgeneration %}{% endfor %}{% endfor %}",
		"scopes":     always("{% set a = 1 %}{% set b = 2 %}{% set c = 3 %}"),
		"namespaces": "{% set ns = namespace() %}" + always("{% set x = namespace(a=1, b=2, c=3) %}"),
		"dict":       always("{% set x = dict(a=1, b=2, c=3) %}"),
		"unpacking":  thousand + always("{% set "+strings.Repeat("a, ", 999)+"a = l %}"),
		"arguments":  thousand + always("{% set x = dict(*[l|map('list')]) %}{% set x = 'a'.join(*[l]) %}"),
		"loops": "{% for a in range(9) %}" + strings.Repeat("{% for b in range(9) %}", 100) +
			strings.Repeat("{% endfor %}", 101),
		"a filter of a loop": "{% for i in range(100000) %}{% for j in range(100000) if false %}{% endfor %}{% endfor %}",
		"a long name":        always("{% set x = " + strings.Repeat("a", 100000) + " %}"),
	}
	for _, of := range []string{"s == t", "s < t", "s != t", "s in t", "s|float", "s|int", "s|length", "s.strip()", "s|trim",
		"s|upper", "s|lower", "s|title", "s|capitalize", "s.split()", "s.split('a')", "s.split('b')", "s|list", "s|tojson",
		"s|string|length", "s ~ t", "s + t", "s * 3", "[s]|string", "s|replace('b', 'c')", "s.find('b')", "s.count('b')",
		"s.splitlines()", "s[::-1]", "s[8000000]", "s[-8000000]", "s[:8000000]", "s|reverse", "s|unique|list", "s|first",
		"s|indent", "s|escape", "s is lower", "s is upper", "s is eq(t)", "s.startswith(t)", "s.endswith(t)", "s.isdigit()",
		"s|map('upper')|list", "s|select|list", "s|sort", "s|safe + t", "(s|safe).strip('b')", "s|items", "s|join('b')",
		"[s, t]|sort", "[s, t]|unique|list", "{'a': s} == {'a': t}", "s.partition('b')", "s.rsplit('b')", "s.join(t)",
		"s|default(t)", "s|max", "s is in t", "s not in [t]"} {
		for _, n := range sizes {
			all[fmt.Sprint(of, n)] = fmt.Sprintf(grownTo, n) + always("{% set x = "+of+" %}")
		}
	}
	return all
}

// TestHostileTemplates: each ends within 2 s and 200 MB with an error of one line.
func TestHostileTemplates(t *testing.T) {
	sizes := []int{16}
	if os.Getenv("ATTENTION_TESTS_LARGE") != "" {
		sizes = []int{0, 8, 16, 20}
	}
	kinds := hostile(sizes...)
	require.Greater(t, len(kinds), 80)
	for name, source := range kinds {
		template, err := jinja.Parse(source)
		require.NoError(t, err, name)
		took, most := time.Hour, 0
		for try := 0; try < 3 && took > 2*time.Second; try++ { // repeated if the machine is busy
			memory := watchMemory()
			began := time.Now()
			_, _, err = template.Render(t.Context(), &jinja.Dict{}, moment)
			took, most = time.Since(began), memory()
		}
		if testing.Verbose() {
			t.Logf("%-20s %5d ms %4d MB %v", name, took.Milliseconds(), most>>20, err)
		}
		assert.Error(t, err, name)
		assert.NotContains(t, fmt.Sprint(err), "\n", name)
		assert.Less(t, len(fmt.Sprint(err)), 500, name)
		assert.Less(t, took, 2*time.Second, name)
		assert.Less(t, most, 200<<20, name)
	}
}

// watchMemory returns a function that returns the largest heap size since the call of watchMemory.
func watchMemory() func() int {
	runtime.GC()
	most, stop, done := 0, make(chan struct{}), make(chan struct{})
	heap := func() {
		sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		metrics.Read(sample)
		most = max(most, int(sample[0].Value.Uint64()))
	}
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
				heap()
			}
		}
	}()
	return func() int {
		close(stop)
		<-done
		heap()
		return most
	}
}
