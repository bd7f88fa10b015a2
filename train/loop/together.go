package loop

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"iter"
	"slices"

	"attention/internal/dense"
	"attention/internal/simd"
	"attention/train"

	"gorgonia.org/tensor"
)

// beginTogether begins Run in all processes, or in none if one has an error or differs from rank 0. All processes save
// when rank 0 does.
func (l *Loop) beginTogether(source train.Resumable, err error) error {
	g := l.config.Group
	if err := g.Agree(err); err != nil {
		return err
	}
	facts, err := l.facts(source)
	if err := g.Agree(err); err != nil {
		return err
	}
	if err := g.Same(facts...); err != nil {
		return err
	}
	mine, err := binary.Append(nil, binary.LittleEndian, l.saving)
	if err != nil {
		return err
	}
	parts, err := g.Gather(mine, slices.Repeat([]int{len(mine)}, g.Size()))
	if err != nil {
		return err
	}
	_, err = binary.Decode(parts[0], binary.LittleEndian, &l.saving)
	return err
}

// facts returns the values that determine the bits of the coming steps, for Group.Same.
func (l *Loop) facts(source train.Resumable) ([]string, error) {
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
	return []string{
		"kernels", simd.InstructionSet(),
		"precision", l.config.Precision.String(),
		"config", string(settings),
		"model and data", string(about),
		"number of steps taken", fmt.Sprint(l.Steps()),
		"position in the data", position,
		"weights' checksum", sumOf(l.params.All()),
	}, nil
}

// sumOf returns the SHA-256 of tensors.
func sumOf(tensors iter.Seq2[string, *tensor.Dense]) string {
	sum := sha256.New()
	for name, value := range tensors {
		fmt.Fprintf(sum, "%q %s\n", name, dense.Form(value))
		sum.Write(dense.BytesOf(value, 0, value.Shape().TotalSize()))
	}
	return hex.EncodeToString(sum.Sum(nil))
}
