package train

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"

	"attention/internal/kernel"

	"gorgonia.org/tensor"
)

// Fact is what must be equal in all processes of a Group, such as the text that they learn from.
type Fact struct{ Name, Value string }

// Same returns an error, in all processes of a group, which call it together, if one has
// another value of a fact than rank 0, or a fact that rank 0 has not, or lacks one. It names
// the first such rank, with the first such fact and its values, and the names of others.
func Same(g Group, facts ...Fact) error {
	t, err := newTeam(g)
	if err != nil {
		return err
	}
	return t.same(facts)
}

func (t *team) same(facts []Fact) error {
	if t.Size() == 1 {
		return nil
	}
	mine := slices.Clone(facts)
	for i := range mine {
		mine[i].Value = shortened(mine[i].Value)
	}
	text, err := json.Marshal(mine)
	if err := t.agree(err); err != nil {
		return err
	}
	texts, err := t.gatherTexts(string(text))
	if err != nil {
		return err
	}
	all := make([][]Fact, len(texts))
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

// compareFacts tells the first fact that is another than wanted, and names more.
func compareFacts(got, want []Fact) error {
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
	const most = 3
	switch {
	case len(more) > most:
		return fmt.Errorf("%w; another %s and %d more too", first, strings.Join(more[:most], ", "), len(more)-most)
	case len(more) > 0:
		return fmt.Errorf("%w; another %s too", first, strings.Join(more, ", "))
	}
	return first
}

func valueOf(facts []Fact, name string) (value string, ok bool) {
	i := slices.IndexFunc(facts, func(f Fact) bool { return f.Name == name })
	if i < 0 {
		return "", false
	}
	return facts[i].Value, true
}

// shortened returns a long value's beginning and the checksum of all of it.
func shortened(value string) string {
	const most = 100
	if len(value) <= most {
		return value
	}
	sum := sha256.Sum256([]byte(value))
	return value[:most/2] + "… with SHA-256 " + hex.EncodeToString(sum[:4])
}

// facts are those that the bits of the steps to come depend on.
func (l *Loop) facts(source Resumable) ([]Fact, error) {
	settings, err := json.Marshal(l.config)
	if err != nil {
		return nil, err
	}
	about, err := json.Marshal(l.config.About)
	if err != nil {
		return nil, err
	}
	position := "none"
	if source != nil {
		position = fmt.Sprintf("%x", source.State())
	}
	return []Fact{
		{"kernels", kernel.InstructionSet()},
		{"precision", l.step.program.precision.String()},
		{"config", string(settings)},
		{"model and data", string(about)},
		{"number of steps taken", fmt.Sprint(l.Steps())},
		{"position in the data", position},
		{"weights' checksum", sumOf(l.params.All())},
	}, nil
}

// sumOf returns the SHA-256 of tensors.
func sumOf(tensors iter.Seq2[string, *tensor.Dense]) string {
	sum := sha256.New()
	for name, value := range tensors {
		fmt.Fprintf(sum, "%q %s\n", name, formOf(value))
		sum.Write(bytesOfPart(value, wholeOf(value)))
	}
	return hex.EncodeToString(sum.Sum(nil))
}
