package parallel

import (
	"math/bits"

	"attention/internal/dense"
)

// An all-gather takes ⌈log₂ N⌉ rounds, in each of which a process sends everything that it has received. A sum takes
// the same rounds backwards: in each round a process sends half of its numbers. If the number of processes is a power
// of two, the ranks of two partners in a round differ in one bit, and neighbours exchange most. For other numbers the
// parts rotate (Bruck et al., 1997, doi:10.1109/71.642949).

// at returns the process at position i in the order of this process: itself, its partner of the first round, the
// partners of the second round, and so on. In the round d = 1, 2, 4, … it receives the parts of positions d to 2·d − 1
// from the process at position d.
func (g *Group) at(i int) int {
	n := g.Size()
	if n&(n-1) == 0 {
		return g.Rank() ^ reversed(i, n)
	}
	return (g.Rank() + i) % n
}

// before returns the process for which this one is at position d.
func (g *Group) before(d int) int {
	n := g.Size()
	if n&(n-1) == 0 {
		return g.at(d)
	}
	return (g.Rank() - d + n) % n
}

// reversed returns the number of the log₂ n bits of i in reverse.
func reversed(i, n int) int { return int(bits.Reverse64(uint64(i)) >> (65 - bits.Len(uint(n)))) }

// Gather returns the bytes of each process, by rank; all processes know the lengths. The bytes are valid until the next
// call.
func (g *Group) Gather(mine []byte, sizes []int) ([][]byte, error) {
	n := g.Size()
	if n == 1 {
		return [][]byte{mine}, nil
	}
	begin := make([]int, n+1) // the range of a position's part
	for i := range n {
		begin[i+1] = begin[i] + sizes[g.at(i)]
	}
	all := g.room(begin[n])
	copy(all, mine)
	for d := 1; d < n; d *= 2 {
		count := min(d, n-d)
		if err := g.exchange(g.before(d), all[:begin[count]], g.at(d), all[begin[d]:begin[d+count]]); err != nil {
			return nil, err
		}
	}
	parts := make([][]byte, n)
	for i := range n {
		parts[g.at(i)] = all[begin[i]:begin[i+1]]
	}
	return parts, nil
}

// room returns memory of n bytes, aligned for numbers. The memory belongs to the group: the next call may return it
// again.
func (g *Group) room(n int) []byte {
	if len(g.scratch)*8 < n {
		g.scratch = make([]float64, (n+7)/8)
	}
	return dense.Bytes(g.scratch)[:n]
}
