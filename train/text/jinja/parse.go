package jinja

import "slices"

// parser makes statements of tokens.
type parser struct {
	tokens []token
	line   int // of the last token taken
	depth  int
}

func (p *parser) kind() tokenKind { return p.tokens[0].kind }

// next takes a token. The last one stays.
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

// took takes the next token if it is an operator or a name with one of these texts.
func (p *parser) took(kind tokenKind, texts ...string) bool {
	if !p.is(kind, texts...) {
		return false
	}
	p.next()
	return true
}

// expect takes a token of a kind, which errors call want.
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

// deeper counts what is within one another; the function that it returns ends one.
func (p *parser) deeper() func() {
	if p.depth++; p.depth > mostDepth {
		fail("got more than %d blocks and expressions within one another, want fewer", mostDepth)
	}
	return func() { p.depth-- }
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
			body = append(body, output{line, p.expression()})
			p.expect(closeValueToken, "}}")
		case p.kind() == endToken || slices.Contains(until, p.tokens[1].text):
			return body
		default:
			line := p.next().line
			name := p.expect(nameToken, "the name of a block").text
			begin, ok := blocks[name]
			if !ok {
				fail("got the block %s, want set, if, for, break, continue, macro or generation", name)
			}
			body = append(body, numbered{line, begin(p)})
		}
	}
}

// blocks parse blocks after their names.
var blocks map[string]func(p *parser) statement

func init() {
	blocks = map[string]func(p *parser) statement{
		"set": (*parser).set, "if": (*parser).branch, "for": (*parser).loop, "macro": (*parser).macro,
		"generation": func(p *parser) statement {
			p.expect(closeToken, "%}")
			return generation{p.ending("endgeneration")}
		},
		"break":    func(p *parser) statement { p.expect(closeToken, "%}"); return jump(leaves) },
		"continue": func(p *parser) statement { p.expect(closeToken, "%}"); return jump(goesOn) },
	}
}

// ending returns the statements up to the block with a name, which it takes.
func (p *parser) ending(name string) []statement {
	body := p.block(name)
	p.end(name)
	return body
}

// end takes the block with a name.
func (p *parser) end(name string) {
	if t := p.next(); t.kind != openToken {
		fail("got %s, want {%% %s %%}", t.text, name)
	}
	p.next()
	p.expect(closeToken, "%}")
}

// began takes the beginning of the block with a name if it is next.
func (p *parser) began(name string) bool {
	if p.kind() != openToken || p.tokens[1].text != name {
		return false
	}
	p.next()
	p.next()
	return true
}

func (p *parser) set() statement {
	s := assignment{to: p.sequence()}
	switch to := s.to.(type) {
	case variable, list:
		namesOf(to)
	case member:
		if _, ok := to.key.(literal); !ok {
			fail("got an assignment to a member, want it to a name of a namespace")
		}
	default:
		fail("got an assignment to a value, want it to a variable")
	}
	if p.took(operatorToken, "=") {
		s.value = p.sequence()
		p.expect(closeToken, "%}")
		return s
	}
	p.expect(closeToken, "= or %}")
	s.body = p.ending("endset")
	return s
}

// namesOf returns the names of a variable or of a list of them.
func namesOf(e expression) (names []string) {
	switch e := e.(type) {
	case variable:
		return []string{e.name}
	case list:
		for _, item := range e.items {
			if v, ok := item.(variable); ok {
				names = append(names, v.name)
				continue
			}
			fail("got a value, want the name of a variable")
		}
		return names
	}
	fail("got a value, want names of variables")
	return nil
}

func (p *parser) branch() statement {
	s := branch{test: p.expression()}
	p.expect(closeToken, "%}")
	s.body = p.block("elif", "else", "endif")
	switch {
	case p.began("elif"):
		defer p.deeper()()
		s.otherwise = []statement{p.branch()}
		return s
	case p.began("else"):
		p.expect(closeToken, "%}")
		s.otherwise = p.block("endif")
	}
	p.end("endif")
	return s
}

func (p *parser) loop() statement {
	s := loop{names: []string{p.expect(nameToken, "the name of a variable").text}}
	for p.took(operatorToken, ",") {
		s.names = append(s.names, p.expect(nameToken, "the name of a variable").text)
	}
	if !p.took(nameToken, "in") {
		fail("got %q, want in", p.next().text)
	}
	s.of = p.or()
	if p.took(nameToken, "if") {
		s.where = p.expression()
	}
	p.expect(closeToken, "%}")
	s.body = p.block("else", "endfor")
	if p.began("else") {
		p.expect(closeToken, "%}")
		s.otherwise = p.block("endfor")
	}
	p.end("endfor")
	return s
}

func (p *parser) macro() statement {
	s := macro{name: p.expect(nameToken, "the name of a macro").text}
	p.operator("(")
	s.parameters = p.arguments()
	for i, a := range s.parameters {
		if a.name == "" {
			s.parameters[i] = argument{name: namesOf(a.value)[0]}
		}
	}
	p.expect(closeToken, "%}")
	s.body = p.ending("endmacro")
	return s
}
