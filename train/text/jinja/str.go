package jinja

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"unicode"
)

// str returns a value as Python's str does, and an undefined value as "".
func (r *run) str(x any) string {
	switch x := x.(type) {
	case undefined:
		return ""
	case string:
		return x
	case markup:
		return string(x)
	}
	return r.repr(x)
}

// repr returns a value as Python's repr does: strings have quotes.
func (r *run) repr(x any) string {
	b := builder{r: r}
	b.repr(x)
	return b.String()
}

func (b *builder) repr(x any) {
	defer b.r.deeper()()
	b.r.spend(nodeCost)
	switch x := x.(type) {
	case nil:
		b.write("None")
	case bool:
		b.write(map[bool]string{true: "True", false: "False"}[x])
	case int:
		b.write(strconv.Itoa(x))
	case *big.Int:
		b.r.spend(x.BitLen())
		b.write(x.String())
	case float64:
		b.write(floatText(x))
	case string:
		b.quoted(x)
	case markup:
		b.write("Markup(")
		b.quoted(string(x))
		b.write(")")
	case []any:
		b.items("[", x, "]")
	case tuple:
		end := ")"
		if len(x) == 1 {
			end = ",)"
		}
		b.items("(", x, end)
	case view:
		if b.write(x.name); !x.indexed {
			b.items("([", x.items, "])")
		}
	case *Dict:
		b.write("{")
		for i, key := range x.keys {
			if i > 0 {
				b.write(", ")
			}
			b.quoted(key)
			b.write(": ")
			b.repr(x.values[key])
		}
		b.write("}")
	case namespace:
		b.write("<Namespace ")
		b.repr(x.Dict)
		b.write(">")
	case undefined:
		b.write("Undefined")
	default:
		b.write("<" + strings.TrimPrefix(typeName(x), "a ") + ">")
	}
}

func (b *builder) items(begin string, items []any, end string) {
	b.write(begin)
	for i, item := range items {
		if i > 0 {
			b.write(", ")
		}
		b.repr(item)
	}
	b.write(end)
}

// quoted writes a string as Python's repr does.
func (b *builder) quoted(text string) {
	quote := '\''
	if strings.Contains(text, "'") && !strings.Contains(text, `"`) {
		quote = '"'
	}
	b.write(string(quote))
	start := 0
	for i, c := range text {
		escape := ""
		switch {
		case c == quote || c == '\\':
			escape = `\` + string(c)
		case c == '\n':
			escape = `\n`
		case c == '\r':
			escape = `\r`
		case c == '\t':
			escape = `\t`
		case unicode.IsPrint(c):
			continue
		case c <= 0xff:
			escape = fmt.Sprintf(`\x%02x`, c)
		case c <= 0xffff:
			escape = fmt.Sprintf(`\u%04x`, c)
		default:
			escape = fmt.Sprintf(`\U%08x`, c)
		}
		b.write(text[start:i])
		b.write(escape)
		start = i + len(string(c))
	}
	b.write(text[start:])
	b.write(string(quote))
}
