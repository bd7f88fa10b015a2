package jinja

import (
	"slices"
	"strings"
)

// split splits a string at a separator, or at white space, at most as often as the second argument says.
func split(r *run, s string, g given) any {
	most := argumentOf(g, 1, -1)
	if most < 0 {
		most = len(s)
	}
	if g.at(0, nil) == nil {
		return texts(r, fields(r, s, most))
	}
	separator := separatorOf(g)
	n := 1 + min(strings.Count(s, separator), most)
	r.spendTimes(itemCost, n)
	return texts(r, strings.SplitN(s, separator, n))
}

// separatorOf returns the first argument, which must be a text that is not empty.
func separatorOf(g given) string {
	separator := argumentOf(g, 0, "")
	if separator == "" {
		fail("%s: got an empty separator, want a character", g.of)
	}
	return separator
}

// fields splits a string at white space, at most most times.
func fields(r *run, s string, most int) (parts []string) {
	r.spend(2 * len(s))
	for s = strings.TrimLeftFunc(s, isSpace); s != ""; s = strings.TrimLeftFunc(s, isSpace) {
		r.spend(itemCost)
		n := strings.IndexFunc(s, isSpace)
		if n < 0 || len(parts) == most {
			return append(parts, s)
		}
		parts, s = append(parts, s[:n]), s[n:]
	}
	return parts
}

// rsplit is split, but starts from the end.
func rsplit(r *run, s string, g given) any {
	most := argumentOf(g, 1, -1)
	if most < 0 || most > len(s) {
		return split(r, s, g)
	}
	r.spend(2 * len(s))
	space, separator := g.at(0, nil) == nil, " "
	if !space {
		separator = separatorOf(g)
	}
	var parts []string
	for {
		if space {
			s = strings.TrimRightFunc(s, isSpace)
		}
		r.spend(itemCost)
		from, n := strings.LastIndex(s, separator), len(separator)
		if space {
			from, n = strings.LastIndexFunc(s, isSpace), 0
			if from >= 0 {
				n = runeLen(s[from:])
			}
		}
		if from < 0 || len(parts) == most {
			break
		}
		parts, s = append(parts, s[from+n:]), s[:from]
	}
	if !space || s != "" {
		parts = append(parts, s)
	}
	slices.Reverse(parts)
	return texts(r, parts)
}

// partition splits a string in two at a separator; find returns its position.
func partition(r *run, s string, g given, find func(s, separator string) int) any {
	separator := separatorOf(g)
	at := find(s, separator)
	switch {
	case at >= 0:
		return tuple{s[:at], separator, s[at+len(separator):]}
	case g.of == "partition":
		return tuple{s, "", ""}
	}
	return tuple{"", "", s}
}

// splitLines splits a text at the ends of lines, which stay in the result if keep is true.
func (r *run) splitLines(s string, keep bool) (lines []string) {
	r.spend(2 * len(s))
	for s != "" {
		r.spend(itemCost)
		n := strings.IndexFunc(s, isLineEnd)
		if n < 0 {
			return append(lines, s)
		}
		end := n + runeLen(s[n:])
		if strings.HasPrefix(s[n:], "\r\n") {
			end = n + 2
		}
		if keep {
			n = end
		}
		lines, s = append(lines, s[:n]), s[end:]
	}
	return lines
}

func isLineEnd(c rune) bool {
	return '\n' <= c && c <= '\r' || 0x1c <= c && c <= 0x1e || c == 0x85 || c == 0x2028 || c == 0x2029
}
