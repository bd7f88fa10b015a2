package text

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dlclark/regexp2"
)

// matches yields where a pattern matches a text, from left to right.
type matches func(text string, yield func(start, end int)) error

// literalMatches yields the occurrences of a string.
func literalMatches(pattern string) matches {
	return func(text string, yield func(start, end int)) error {
		if pattern == "" {
			return nil
		}
		for at := 0; ; {
			n := strings.Index(text[at:], pattern)
			if n < 0 {
				return nil
			}
			yield(at+n, at+n+len(pattern))
			at += n + len(pattern)
		}
	}
}

// Time limits of a regular expression: for one match, and additionally for each byte of a text.
const (
	matchTime = 2 * time.Second
	byteTime  = 20 * time.Microsecond
)

// expressionMatches yields the matches of a regular expression.
func expressionMatches(pattern string) (matches, error) {
	const longest = 10_000
	if len(pattern) > longest {
		return nil, fmt.Errorf("got a pattern of %d bytes, want at most %d", len(pattern), longest)
	}
	re, err := regexp2.Compile(pattern, regexp2.None)
	if err != nil {
		return nil, fmt.Errorf("got pattern %.100q, want a regular expression: %w", pattern, err)
	}
	re.MatchTimeout = matchTime
	slow := fmt.Errorf("pattern %.100q takes more than %v on a text", pattern, matchTime)
	return func(text string, yield func(start, end int)) error {
		begun, most := time.Now(), matchTime+time.Duration(len(text))*byteTime
		at, passed := 0, 0 // offset in bytes and in characters
		bytes := func(n int) int {
			for ; passed < n; passed++ {
				_, size := utf8.DecodeRuneInString(text[at:])
				at += size
			}
			return at
		}
		match, err := re.FindStringMatch(text)
		for ; match != nil && err == nil; match, err = re.FindNextMatch(match) {
			yield(bytes(match.Index), bytes(match.Index+match.Length))
			if time.Since(begun) > most {
				return slow
			}
		}
		if err != nil {
			return slow
		}
		return nil
	}, nil
}

// behavior says what happens to the matches at which a text is split.
type behavior string

const (
	removed            behavior = "Removed"
	isolated           behavior = "Isolated"
	mergedWithPrevious behavior = "MergedWithPrevious"
	mergedWithNext     behavior = "MergedWithNext"
	contiguous         behavior = "Contiguous"
)

// cutAt splits a part at matches, or at the text between them.
func cutAt(p part, b behavior, invert bool, at matches, yield func(part) error) error {
	cuts := cuts{behavior: b}
	end := 0
	add := func(to int, match bool) {
		if to > end {
			cuts.add(end, to, match != invert)
		}
		end = to
	}
	err := at(p.text, func(start, stop int) {
		add(start, false)
		if stop == start {
			cuts.add(start, stop, !invert)
		}
		add(stop, true)
	})
	if err != nil {
		return err
	}
	add(len(p.text), false)
	for _, c := range cuts.parts {
		if c[0] == c[1] {
			continue
		}
		if err := yield(p.slice(c[0], c[1])); err != nil {
			return err
		}
	}
	return nil
}

// cuts collects the parts of a text.
type cuts struct {
	behavior behavior
	parts    [][2]int
	match    bool // whether the last one was a match
}

// add adds a part, which is either a match or the text between matches.
func (c *cuts) add(start, end int, match bool) {
	before, n := c.match, len(c.parts)
	c.match = match
	switch {
	case match && c.behavior == removed:
	case n > 0 && (c.behavior == contiguous && match == before ||
		c.behavior == mergedWithPrevious && match && !before ||
		c.behavior == mergedWithNext && before && !match):
		c.parts[n-1][1] = end
	default:
		c.parts = append(c.parts, [2]int{start, end})
	}
}
