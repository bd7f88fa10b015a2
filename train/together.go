package train

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"iter"
	"slices"

	"attention/internal/config"
	"attention/internal/dense"
	"attention/internal/kernel"

	"gorgonia.org/tensor"
)

// checkShares refuses a group that has more processes than a step has batches.
func (c Config) checkShares() error {
	if c.Group == nil {
		return nil
	}
	if got, size := c.batchesPerStep(), c.Group.Size(); got < size {
		return fmt.Errorf("train: %w", config.Errorf(c, "Accumulate",
			"got %d for a group of %d processes, which share the batches of a step, want at least %[2]d", got, size))
	}
	return nil
}

// beginTogether begins Run in all processes, or in none if one has an error or differs from
// rank 0. They save when rank 0 does.
func (l *Loop) beginTogether(source Resumable, err error) error {
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

// facts returns the values that the bits of the coming steps depend on, for Group.Same.
func (l *Loop) facts(source Resumable) ([]string, error) {
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
		"kernels", kernel.InstructionSet(),
		"precision", l.step.program.precision.String(),
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
		sum.Write(dense.BytesOf(value, 0, wholeOf(value).Len()))
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// groupMeanLoss is meanLoss in a group. The losses are added in the order of the batches, whichever
// process had them.
func (l *Loop) groupMeanLoss(ctx context.Context, s Source) (mean float64, tokens int, err error) {
	g := l.config.Group
	own, n, err := l.eval.losses(ctx, s, g.Rank(), g.Size())
	if agreed := g.Agree(err); agreed != nil {
		if agreed != err && isStop(agreed) { // the context of another process has ended
			agreed = fmt.Errorf("stopped: %w", agreed)
		}
		return 0, 0, agreed
	}
	if err := g.Same("number of batches of the evaluation", fmt.Sprint(n)); err != nil {
		return 0, 0, err
	}
	counts := make([]int, g.Size())
	for rank := range counts {
		counts[rank] = (n - rank + g.Size() - 1) / g.Size()
	}
	parts, err := gatherLosses(g, own, counts)
	if err != nil {
		return 0, 0, err
	}
	all := make([]batchLoss, n)
	for i := range all {
		all[i] = parts[i%g.Size()][i/g.Size()]
	}
	mean, tokens = meanOf(all)
	return mean, tokens, nil
}
