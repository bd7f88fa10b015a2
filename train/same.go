package train

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"iter"
	"strings"

	"attention/internal/kernel"

	"gorgonia.org/tensor"
)

// Fact is what must be equal in all processes of a Group, such as the text that they learn from.
type Fact struct{ Name, Value string }

// Same returns an error, in all processes of a group, which call it together, if one has
// another value of a fact than rank 0. It names the first such rank and fact. The processes
// have facts of the same names in the same order.
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
	var all strings.Builder
	for _, f := range facts { // two lines each
		fmt.Fprintf(&all, "%q\n%q\n", f.Name, shortened(f.Value))
	}
	texts, err := t.gatherTexts(all.String())
	if err != nil {
		return err
	}
	want := strings.Split(texts[0], "\n")
	for rank, text := range texts {
		got := strings.Split(text, "\n")
		for i, line := range got {
			if i >= len(want) || line == want[i] {
				continue
			}
			return fmt.Errorf("train: group: rank %d: got another %s than rank 0, %s, want its %s",
				rank, unquoted(want[i-i%2]), line, want[i])
		}
		if len(got) != len(want) {
			return fmt.Errorf("train: group: rank %d: got %d facts, want rank 0's %d", rank, len(got)/2, len(want)/2)
		}
	}
	return nil
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

func unquoted(text string) string { return strings.Trim(text, `"`) }

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
