package chapter

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Formula is the computation of a step as a tree: an operation on formulas, the value of another step, or a number.
// These are the operations; those on rows and matrices use the last axes of their operands: These are the operations;
// those on rows and matrices take the last axes of their operands:
//
//	step, number, root     the value of Step; Number; √Number
//	dot                    a·b: product of matrices, one for each block; of vectors their dot product
//	times, plus            a⊙b, a + b, element by element; a vector b is added to each row of a
//	over                   a / b, element by element; b is one number, or one for each row of a
//	sum                    Σ a: along the last axis
//	transpose, row         aᵀ: of the last two axes; a[i]: the part Number of the first axis
//	exp, log               of each element, as are tanh and sigmoid
//	best                   1 at the largest number above 0 of each row, 0 elsewhere
//	softmax                of each row; its second operand, if any, is a score without a key
//	tril, fill             0 or −∞ where a causal mask hides; fill(a, m) hides where m is 0
//	stack, join            operands as blocks of one; side by side, along the last axis
//	split, merge           (T, N) as (Number, T, N/Number), a block for each head; and back
//	additive               scores Σ v·tanh(q[t] + k[s]) of operands q (T, N), k (S, N) and v (1, N)
type Formula struct {
	Op     string    `json:"op"`
	Step   string    `json:"step,omitempty"`
	Number float64   `json:"number,omitempty"`
	Of     []Formula `json:"of,omitempty"`
}

// functions lists the operations written as a name with operands in parentheses, with the smallest and largest number
// of operands.
var functions = map[string][2]int{
	"exp": {1, 1}, "log": {1, 1}, "tanh": {1, 1}, "sigmoid": {1, 1}, "best": {1, 1}, "softmax": {1, 2}, "tril": {1, 1},
	"fill": {1, 2}, "stack": {1, 64}, "join": {1, 64}, "split": {2, 2}, "merge": {1, 1}, "additive": {3, 3},
}

// ParseFormula reads the formula of a step, such as softmax(q·kᵀ / √2), in which names are names
// of steps.
func ParseFormula(text string, names []string) (Formula, error) {
	p := parser{rest: text, names: slices.Clone(names)}
	slices.SortFunc(p.names, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	f := p.sum()
	if p.err == nil && p.rest != "" {
		p.fail("an operator")
	}
	if p.err != nil {
		return Formula{}, fmt.Errorf("chapter: formula: %.200q: %w", text, p.err)
	}
	return f, nil
}

// parser reads a formula. After an error it reads no further.
type parser struct {
	rest  string
	names []string // the longest first
	depth int
	err   error
}

// maxDepth is how deep parentheses may be nested.
const maxDepth = 32

func (p *parser) fail(want string) {
	if p.err == nil {
		p.err = fmt.Errorf("got %.20q, want %s", p.rest, want)
	}
	p.rest = ""
}

// next removes a sign from the start of the text and reports whether it was there.
func (p *parser) next(sign string) bool {
	rest, ok := strings.CutPrefix(p.rest, sign)
	if ok {
		p.rest = strings.TrimLeft(rest, " ")
	}
	return ok
}

// sum reads a + b + ….
func (p *parser) sum() Formula {
	f := p.product()
	for p.next("+") {
		f = Formula{Op: "plus", Of: []Formula{f, p.product()}}
	}
	return f
}

// product reads a·b / c⊙….
func (p *parser) product() Formula {
	f := p.factor()
	for {
		op := ""
		switch {
		case p.next("·"):
			op = "dot"
		case p.next("⊙"):
			op = "times"
		case p.next("/"):
			op = "over"
		default:
			return f
		}
		f = Formula{Op: op, Of: []Formula{f, p.factor()}}
	}
}

// factor reads Σ a, √2, or a name, a number, a function or parentheses, each with the ᵀ and [i] behind it.
func (p *parser) factor() Formula {
	if p.depth++; p.depth > maxDepth {
		p.fail("fewer parentheses")
	}
	defer func() { p.depth-- }()
	switch {
	case p.next("Σ"):
		return Formula{Op: "sum", Of: []Formula{p.factor()}}
	case p.next("√"):
		return Formula{Op: "root", Number: p.number()}
	}
	f := p.primary()
	for {
		switch {
		case p.next("ᵀ"):
			f = Formula{Op: "transpose", Of: []Formula{f}}
		case p.next("["):
			f = Formula{Op: "row", Number: p.number(), Of: []Formula{f}}
			p.want("]")
		default:
			return f
		}
	}
}

func (p *parser) want(sign string) {
	if p.err == nil && !p.next(sign) {
		p.fail(sign)
	}
}

func (p *parser) primary() Formula {
	for _, name := range p.names {
		if rest, ok := strings.CutPrefix(p.rest, name); ok && !goesOn(name, rest) {
			p.next(name)
			return Formula{Op: "step", Step: name}
		}
	}
	for name, operands := range functions {
		if p.next(name + "(") {
			return p.function(name, operands)
		}
	}
	if p.next("(") {
		f := p.sum()
		p.want(")")
		return f
	}
	return Formula{Op: "number", Number: p.number()}
}

// goesOn reports whether the text after a name continues with another letter of a name.
func goesOn(name, rest string) bool {
	inside := func(c rune) bool {
		return unicode.IsLetter(c) && c != 'ᵀ' || unicode.IsDigit(c) || c == '_' || c == '.'
	}
	last, _ := utf8.DecodeLastRuneInString(name)
	first, _ := utf8.DecodeRuneInString(rest)
	return inside(last) && inside(first)
}

// function reads the operands of a function. The second operand of split is a number.
func (p *parser) function(name string, operands [2]int) Formula {
	f := Formula{Op: name}
	for f.Of = append(f.Of, p.sum()); p.next(","); {
		f.Of = append(f.Of, p.sum())
	}
	p.want(")")
	if n := len(f.Of); p.err == nil && (n < operands[0] || n > operands[1]) {
		p.fail(fmt.Sprintf("%d to %d operands of %s", operands[0], operands[1], name))
	}
	if name == "split" && len(f.Of) == 2 {
		f.Number, f.Of = f.Of[1].Number, f.Of[:1]
	}
	return f
}

// number reads a number.
func (p *parser) number() float64 {
	n := len(p.rest) - len(strings.TrimLeft(p.rest, "0123456789.e-"))
	v, err := strconv.ParseFloat(p.rest[:n], 64)
	if err != nil {
		p.fail("the name of a step, a function or a number")
		return 0
	}
	p.next(p.rest[:n])
	return v
}
