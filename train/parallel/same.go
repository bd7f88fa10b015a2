package parallel

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"attention/internal/oneline"
)

// fact is a value that must be equal in all processes of a Group, such as the training text.
type fact struct{ Name, Value string }

// Same returns an error in all processes if the facts of a process differ from those of rank 0: another value, an
// additional fact or a missing one. Facts are a name, its value, the next name and so on. The error names the first
// such rank, its first differing fact with both values, and the names of the other differing facts.
func (g *Group) Same(facts ...string) error {
	var mine []fact
	for i := 0; i+1 < len(facts); i += 2 {
		mine = append(mine, fact{facts[i], shortened(facts[i+1])})
	}
	text, err := json.Marshal(mine)
	if err := g.Agree(err); err != nil {
		return err
	}
	texts, err := g.gatherTexts(string(text))
	if err != nil {
		return err
	}
	all := make([][]fact, len(texts))
	for rank, text := range texts {
		if err := json.Unmarshal([]byte(text), &all[rank]); err != nil {
			return fmt.Errorf("train: group: rank %d: facts: %w", rank, err)
		}
	}
	for rank, got := range all {
		if err := compareFacts(got, all[0]); err != nil {
			return fmt.Errorf("train: group: rank %d: %w", rank, err)
		}
	}
	return nil
}

// compareFacts returns an error for the first fact that differs, with the names of more.
func compareFacts(got, want []fact) error {
	var first error
	var more []string
	differs := func(name, format string, values ...any) {
		if first == nil {
			first = fmt.Errorf(format, values...)
		} else {
			more = append(more, name)
		}
	}
	for _, w := range want {
		switch value, ok := valueOf(got, w.Name); {
		case !ok:
			differs(w.Name, "got no %s, want rank 0's, %q", w.Name, w.Value)
		case value != w.Value:
			differs(w.Name, "got another %s than rank 0, %q, want its %q", w.Name, value, w.Value)
		}
	}
	for _, g := range got {
		if _, ok := valueOf(want, g.Name); !ok {
			differs(g.Name, "got %s %q, want none, as rank 0 has", g.Name, g.Value)
		}
	}
	if len(more) > 0 {
		return fmt.Errorf("%w; another %s too", first, oneline.List(more, 3))
	}
	return first
}

func valueOf(facts []fact, name string) (value string, ok bool) {
	i := slices.IndexFunc(facts, func(f fact) bool { return f.Name == name })
	if i < 0 {
		return "", false
	}
	return facts[i].Value, true
}

// shortened returns the beginning of a long value and the checksum of the whole value.
func shortened(value string) string {
	const most = 100
	if len(value) <= most {
		return value
	}
	sum := sha256.Sum256([]byte(value))
	return value[:most/2] + "… with SHA-256 " + hex.EncodeToString(sum[:4])
}
