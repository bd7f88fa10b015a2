package jinja

// sequence returns an expression, or a tuple of expressions separated by commas.
func (p *parser) sequence() expression { return p.sequenceOf((*parser).expression) }

func (p *parser) sequenceOf(one func(p *parser) expression) expression {
	first := one(p)
	if !p.is(operatorToken, ",") {
		return first
	}
	items := []expression{first}
	for p.took(operatorToken, ",") {
		if p.is(operatorToken, ")") || p.kind() == closeToken || p.kind() == closeValueToken {
			break
		}
		items = append(items, one(p))
	}
	return tupleOf{items}
}

// expression returns an expression: x, x if test, or x if test else y.
func (p *parser) expression() expression {
	defer p.deeper()()
	e := p.or()
	for p.took(nameToken, "if") {
		p.deepen()
		c := choice{test: p.or(), yes: e}
		if p.took(nameToken, "else") {
			c.no = p.expression()
		}
		e = c
	}
	return e
}

func (p *parser) or() expression { return p.logical("or", (*parser).and) }

func (p *parser) and() expression { return p.logical("and", (*parser).not) }

// logical parses operands with the given word between them, "or" or "and".
func (p *parser) logical(word string, operand func(p *parser) expression) expression {
	e := logical{word == "or", []expression{operand(p)}}
	for p.took(nameToken, word) {
		e.items = append(e.items, operand(p))
	}
	if len(e.items) == 1 {
		return e.items[0]
	}
	return e
}

func (p *parser) not() expression {
	defer p.deeper()()
	if p.took(nameToken, "not") {
		return not{p.not()}
	}
	return p.comparison()
}

func (p *parser) comparison() expression {
	e := comparison{first: p.sum()}
	for {
		switch {
		case p.is(operatorToken, "==", "!=", "<", ">", "<=", ">=") || p.is(nameToken, "in"):
			e.rest = append(e.rest, operand{p.next().text, p.sum()})
		case p.is(nameToken, "not") && p.tokens[1].text == "in":
			p.next()
			p.next()
			e.rest = append(e.rest, operand{"not in", p.sum()})
		case len(e.rest) == 0:
			return e.first
		default:
			return e
		}
	}
}

func (p *parser) sum() expression { return p.chain((*parser).joined, "+", "-") }

// joined returns an expression, or several that ~ joins to one text.
func (p *parser) joined() expression {
	e := joined{[]expression{p.product()}}
	for p.took(operatorToken, "~") {
		e.items = append(e.items, p.product())
	}
	if len(e.items) == 1 {
		return e.items[0]
	}
	return e
}

func (p *parser) product() expression { return p.chain((*parser).power, "*", "/", "//", "%") }

func (p *parser) power() expression { return p.chain((*parser).filtered, "**") }

// chain returns operands of a kind between operators that are applied from left to right.
func (p *parser) chain(of func(p *parser) expression, operators ...string) expression {
	e := chain{first: of(p)}
	for p.is(operatorToken, operators...) {
		e.rest = append(e.rest, operand{p.next().text, of(p)})
	}
	if len(e.rest) == 0 {
		return e.first
	}
	return e
}

// filtered returns x, x|filter or x is test.
func (p *parser) filtered() expression {
	defer p.ascend(p.depth)
	e := p.sign()
	for {
		switch {
		case p.took(operatorToken, "|"):
			e = p.filter(e)
		case p.took(nameToken, "is"):
			e = p.test(e)
		case p.took(operatorToken, "("):
			e = call{e, p.arguments()}
		default:
			return e
		}
		p.deepen()
	}
}

// filter parses a filter after its bar and applies it to an expression.
func (p *parser) filter(of expression) filter {
	f := filter{of: of, name: p.expect(nameToken, "the name of a filter").text}
	if p.took(operatorToken, "(") {
		f.arguments = p.arguments()
	}
	return f
}

// test parses a test after is and applies it to an expression.
func (p *parser) test(of expression) expression {
	negative := p.took(nameToken, "not")
	t := test{of: of, name: p.expect(nameToken, "the name of a test").text}
	switch {
	case p.took(operatorToken, "("):
		t.arguments = p.arguments()
	case p.is(nameToken, "else", "or", "and"):
	case p.is(nameToken, "is"):
		fail("got two tests with is, want one")
	case p.kind() == nameToken, p.kind() == stringToken, p.kind() == integerToken, p.kind() == floatToken,
		p.is(operatorToken, "[", "{"):
		t.arguments = []argument{{value: p.members(p.primary())}}
	}
	if negative {
		return not{t}
	}
	return t
}

func (p *parser) sign() expression {
	defer p.deeper()()
	if p.is(operatorToken, "+", "-") {
		return p.members(signed{p.next().text == "-", p.sign()})
	}
	return p.members(p.primary())
}

// members returns an expression with its members, indices, slices and calls.
func (p *parser) members(e expression) expression {
	defer p.ascend(p.depth)
	for {
		switch {
		case p.took(operatorToken, "."):
			if p.kind() == integerToken {
				e = item{e, p.primary()}
			} else {
				e = attribute{e, p.expect(nameToken, "the name of a member").text}
			}
		case p.took(operatorToken, "["):
			e = p.index(e)
		case p.took(operatorToken, "("):
			e = call{e, p.arguments()}
		default:
			return e
		}
		p.deepen()
	}
}

// index parses x[i] or x[from:to:step] after the bracket.
func (p *parser) index(of expression) expression {
	var parts [3]expression
	n := 0
	for !p.took(operatorToken, "]") {
		if p.took(operatorToken, ":") {
			if n++; n > 2 {
				fail("got more than two colons in a slice, want at most two")
			}
			continue
		}
		if parts[n] != nil {
			fail("got %q, want : or ]", p.next().text)
		}
		parts[n] = p.expression()
	}
	if n > 0 {
		return slice{of, parts}
	}
	if parts[0] == nil {
		fail("got [], want an index between the brackets")
	}
	return item{of, parts[0]}
}

// arguments parses the arguments of a call after its parenthesis.
func (p *parser) arguments() (all []argument) {
	p.items(")", func() {
		a := argument{}
		switch {
		case p.is(operatorToken, "*", "**"):
			a.stars = len(p.next().text)
		case p.kind() == nameToken && p.tokens[1].kind == operatorToken && p.tokens[1].text == "=":
			a.name = p.next().text
			p.next()
		case len(all) > 0 && (all[len(all)-1].name != "" || all[len(all)-1].stars > 0):
			fail("got an argument without a name after one with, want it before")
		}
		a.value = p.expression()
		all = append(all, a)
	})
	return all
}
