package encoders

import (
	"cmp"
	"math/rand/v2"
	"slices"
)

// sortedBatches is the number of batches whose examples are sorted by length together: enough that texts of a batch are
// of similar length, and so few that each epoch has other batches.
const sortedBatches = 32

// draw returns the batches of the epoch, which depend on the seed and the epoch only. Examples that share a text with a
// batch, and do not fit into another of their group, move to the next group.
func (s *Batches) draw() (plan [][]int32) {
	order := make([]int32, len(s.rows))
	for i := range order {
		order[i] = int32(i)
	}
	random := rand.New(rand.NewPCG(s.config.Seed, s.epoch))
	if s.config.Shuffle {
		random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	}
	size := s.config.Batch * sortedBatches
	if !s.config.Shuffle {
		size = len(order)
	}
	var group []int32
	for len(order) > 0 {
		n := min(size, len(order))
		group, order = append(group, order[:n]...), order[n:]
		slices.SortStableFunc(group, func(i, j int32) int { return cmp.Compare(s.rows[i].tokens(), s.rows[j].tokens()) })
		var batches [][]int32
		batches, group = s.cut(group, len(order) == 0 || len(group) > 2*size)
		plan = append(plan, batches...)
	}
	if s.config.Shuffle {
		random.Shuffle(len(plan), func(i, j int) { plan[i], plan[j] = plan[j], plan[i] })
	}
	return plan
}

// cut cuts a group of examples into batches, in none of which a text comes twice if texts are negatives of others. It
// returns the examples that do not fill a batch, unless all should be in one.
func (s *Batches) cut(group []int32, all bool) (batches [][]int32, left []int32) {
	for len(group) > 0 {
		var batch, later []int32
		seen := map[uint64]bool{}
		for at, i := range group {
			if len(batch) == s.config.Batch {
				later = append(later, group[at:]...)
				break
			}
			texts := s.rows[i].hashes[:s.summary.Texts]
			if s.contrasts() && slices.ContainsFunc(texts, func(h uint64) bool { return seen[h] }) {
				later = append(later, i)
				continue
			}
			for _, h := range texts {
				seen[h] = true
			}
			batch = append(batch, i)
		}
		if len(batch) < s.config.Batch && !all {
			return batches, group
		}
		batches, group = append(batches, batch), later
	}
	return batches, nil
}

// contrasts reports whether the texts of other examples in a batch are negatives.
func (s *Batches) contrasts() bool { return !s.config.alone() && !s.summary.Scored }
