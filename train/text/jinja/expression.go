package jinja

// sequence returns an expression, or a list of those that commas separate.
func (p *parser) sequence() expression {
	first := p.expression()
	if !p.is(operatorToken, ",") {
		return first
	}
	items := []expression{first}
	for p.took(operatorToken, ",") {
		if p.is(operatorToken, ")", "=") || p.kind() == closeToken {
			break
		}
		items = append(items, p.expression())
	}
	return list{items}
}

// expression returns an expression: x, x if test, or x if test else y.
func (p *parser) expression() expression {
	defer p.deeper()()
	e := p.or()
	if !p.took(nameToken, "if") {
		return e
	}
	c := choice{test: p.or(), yes: e}
	if p.took(nameToken, "else") {
		c.no = p.expression()
	}
	return c
}

func (p *parser) or() expression {
	e := p.and()
	for p.took(nameToken, "or") {
		e = either{e, p.and()}
	}
	return e
}

func (p *parser) and() expression {
	e := p.not()
	for p.took(nameToken, "and") {
		e = both{e, p.not()}
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
	e := p.sum()
	for {
		switch {
		case p.is(operatorToken, "==", "!=", "<", ">", "<=", ">=") || p.is(nameToken, "in"):
			e = binary{p.next().text, e, p.sum()}
		case p.is(nameToken, "not") && p.tokens[1].text == "in":
			p.next()
			p.next()
			e = not{binary{"in", e, p.sum()}}
		default:
			return e
		}
	}
}

func (p *parser) sum() expression { return p.chain((*parser).product, "+", "-", "~") }

func (p *parser) product() expression { return p.chain((*parser).power, "*", "/", "//", "%") }

func (p *parser) power() expression { return p.chain((*parser).test, "**") }

// chain returns operands of a kind between operators, of which the first ones bind first.
func (p *parser) chain(operand func(p *parser) expression, operators ...string) expression {
	e := operand(p)
	for p.is(operatorToken, operators...) {
		e = binary{p.next().text, e, operand(p)}
	}
	return e
}

// test returns x, or x is test.
func (p *parser) test() expression {
	e := p.filtered()
	for p.took(nameToken, "is") {
		negative := p.took(nameToken, "not")
		t := test{of: e, name: p.expect(nameToken, "the name of a test").text}
		if p.took(operatorToken, "(") {
			t.arguments = p.arguments()
		}
		e = t
		if negative {
			e = not{t}
		}
	}
	return e
}

// filtered returns x, or x|filter.
func (p *parser) filtered() expression {
	e := p.sign()
	for p.took(operatorToken, "|") {
		f := filter{of: e, name: p.expect(nameToken, "the name of a filter").text}
		if p.took(operatorToken, "(") {
			f.arguments = p.arguments()
		}
		e = f
	}
	return e
}

func (p *parser) sign() expression {
	defer p.deeper()()
	switch {
	case p.took(operatorToken, "+"):
		return binary{"*", literal{1}, p.sign()}
	case p.took(operatorToken, "-"):
		return binary{"*", literal{-1}, p.sign()}
	}
	return p.members(p.primary())
}

// members returns an expression with its members, indices, slices and calls.
func (p *parser) members(e expression) expression {
	for {
		switch {
		case p.took(operatorToken, "."):
			if p.kind() == numberToken {
				e = member{e, p.primary()}
				continue
			}
			e = member{e, literal{p.expect(nameToken, "the name of a member").text}}
		case p.took(operatorToken, "["):
			e = p.index(e)
		case p.took(operatorToken, "("):
			e = call{e, p.arguments()}
		default:
			return e
		}
	}
}

// index returns x[i] or x[from:to:step] after its bracket.
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
	return member{of, parts[0]}
}

// arguments returns the arguments of a call after its parenthesis.
func (p *parser) arguments() (all []argument) {
	for !p.took(operatorToken, ")") {
		a := argument{value: p.expression()}
		if v, ok := a.value.(variable); ok && p.took(operatorToken, "=") {
			a = argument{v.name, p.expression()}
		}
		if len(all) > 0 && all[len(all)-1].name != "" && a.name == "" {
			fail("got an argument without a name after one with, want it before")
		}
		all = append(all, a)
		if !p.took(operatorToken, ",") && !p.is(operatorToken, ")") {
			fail("got %q, want , or )", p.next().text)
		}
	}
	return all
}
