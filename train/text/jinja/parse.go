package jinja

import (
	"maps"
	"slices"
	"strings"
)

// parser turns tokens into statements.
type parser struct {
	tokens []token
	line   int // position of the last token consumed
	depth  int
}

func (p *parser) kind() tokenKind { return p.tokens[0].kind }

// next consumes and returns a token. It does not move behind the last token.
func (p *parser) next() token {
	t := p.tokens[0]
	p.line = t.line
	if t.kind != endToken {
		p.tokens = p.tokens[1:]
	}
	return t
}

// is reports whether the next token is an operator or a name with one of these texts.
func (p *parser) is(kind tokenKind, texts ...string) bool {
	return p.kind() == kind && slices.Contains(texts, p.tokens[0].text)
}

// took consumes the next token if it is an operator or a name with one of these texts, and reports whether it did.
func (p *parser) took(kind tokenKind, texts ...string) bool {
	if !p.is(kind, texts...) {
		return false
	}
	p.next()
	return true
}

// expect consumes a token of a kind; errors name the kind by want.
func (p *parser) expect(kind tokenKind, want string) token {
	t := p.next()
	if t.kind != kind {
		fail("got %q, want %s", t.text, want)
	}
	return t
}

func (p *parser) operator(text string) {
	if t := p.next(); t.kind != operatorToken || t.text != text {
		fail("got %q, want %s", t.text, text)
	}
}

// deeper counts a level of nesting; the function that it returns ends the level.
func (p *parser) deeper() func() {
	before := p.depth
	p.deepen()
	return func() { p.ascend(before) }
}

func (p *parser) ascend(depth int) { p.depth = depth }

func (p *parser) deepen() {
	if p.depth++; p.depth > mostDepth {
		fail("got more than %d blocks and expressions within one another, want fewer", mostDepth)
	}
}

// block returns the statements up to the next block with one of these names, or without names up to the end.
func (p *parser) block(until ...string) (body []statement) {
	defer p.deeper()()
	for {
		switch {
		case p.kind() == textToken:
			t := p.next()
			body = append(body, output{t.line, literal{t.text}})
		case p.kind() == openValueToken:
			line := p.next().line
			body = append(body, output{line, p.sequence()})
			p.expect(closeValueToken, "}}")
		case p.kind() == endToken || slices.Contains(until, p.tokens[1].text):
			return body
		default:
			line := p.next().line
			name := p.expect(nameToken, "the name of a block").text
			begin, ok := blocks[name]
			if !ok {
				fail("got the block %.50s, want one of %s", name, strings.Join(slices.Sorted(maps.Keys(blocks)), ", "))
			}
			body = append(body, numbered{line, begin(p)})
		}
	}
}

// blocks maps the names of blocks to functions that parse the rest of the block.
var blocks map[string]func(p *parser) statement

func init() {
	blocks = map[string]func(p *parser) statement{
		"set": (*parser).set, "if": (*parser).branch, "for": (*parser).loop, "macro": (*parser).macro,
		"generation": func(p *parser) statement {
			p.close()
			return generation{p.ending("endgeneration")}
		},
		"break":    func(p *parser) statement { p.close(); return jump(leaves) },
		"continue": func(p *parser) statement { p.close(); return jump(goesOn) },
	}
}

func (p *parser) close() { p.expect(closeToken, "%}") }

// ending returns the statements up to the block with a name, and consumes that block.
func (p *parser) ending(name string) []statement {
	body := p.block(name)
	p.end(name)
	return body
}

// end consumes the block with a name.
func (p *parser) end(name string) {
	if t := p.next(); t.kind != openToken {
		fail("got %s, want {%% %s %%}", t.text, name)
	}
	p.next()
	p.close()
}

// began consumes the beginning of the block with a name if it is next, and reports whether it did.
func (p *parser) began(name string) bool {
	if p.kind() != openToken || p.tokens[1].text != name {
		return false
	}
	p.next()
	p.next()
	return true
}

func (p *parser) set() statement {
	s := assignment{to: p.target()}
	if p.took(operatorToken, "=") {
		s.value = p.sequence()
		p.close()
		return s
	}
	p.expect(closeToken, "= or %}")
	s.body = p.ending("endset")
	return s
}

// target returns the target of an assignment: a variable, a name of a namespace, or a tuple of them.
func (p *parser) target() expression {
	var items []expression
	for {
		items = append(items, p.oneTarget())
		if !p.took(operatorToken, ",") {
			break
		}
		if p.kind() != nameToken && !p.is(operatorToken, "(") || p.is(nameToken, "in") {
			return tupleOf{items}
		}
	}
	if len(items) == 1 {
		return items[0]
	}
	return tupleOf{items}
}

func (p *parser) oneTarget() expression {
	defer p.deeper()()
	if p.took(operatorToken, "(") {
		e := p.target()
		p.operator(")")
		return e
	}
	t := p.expect(nameToken, "the name of a variable")
	if _, ok := constants[t.text]; ok {
		fail("got an assignment to %s, want it to a variable", t.text)
	}
	if p.took(operatorToken, ".") {
		return attribute{variable{t.text}, p.expect(nameToken, "the name of a member").text}
	}
	return variable{t.text}
}

func (p *parser) branch() statement {
	s := branch{test: p.sequence()}
	p.close()
	s.body = p.block("elif", "else", "endif")
	switch {
	case p.began("elif"):
		defer p.deeper()()
		s.otherwise = []statement{p.branch()}
		return s
	case p.began("else"):
		p.close()
		s.otherwise = p.block("endif")
	}
	p.end("endif")
	return s
}

func (p *parser) loop() statement {
	s := loop{to: p.target()}
	if !p.took(nameToken, "in") {
		fail("got %q, want in", p.next().text)
	}
	s.of = p.sequenceOf((*parser).or)
	if p.took(nameToken, "if") {
		s.where = p.expression()
	}
	p.close()
	s.body = p.block("else", "endfor")
	if p.began("else") {
		p.close()
		s.otherwise = p.block("endfor")
	}
	p.end("endfor")
	return s
}

func (p *parser) macro() statement {
	s := macro{name: p.expect(nameToken, "the name of a macro").text}
	p.operator("(")
	s.parameters = p.parameters()
	p.close()
	s.body = p.ending("endmacro")
	return s
}

// parameters returns the parameters of a macro after the parenthesis.
func (p *parser) parameters() (all []argument) {
	p.items(")", func() {
		a := argument{name: p.expect(nameToken, "the name of a parameter").text}
		if p.took(operatorToken, "=") {
			a.value = p.expression()
		}
		all = append(all, a)
	})
	return all
}
