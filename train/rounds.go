package train

import "math/bits"

// What all processes give reaches all of them in ⌈log₂ N⌉ rounds, in which each passes on all that
// it has. So does a sum, backwards: in each round a process sends half of what it has. For a power
// of two of processes those of a round are partners, whose ranks differ in one bit; the nearest
// exchange most. For another number the parts go round (Bruck et al., 1997,
// doi:10.1109/71.642949).

// at returns the process at position i of this one's order: itself, those that it meets in the
// first round, in the second, and so on. In the round of d = 1, 2, 4, … it gets what the positions
// d to 2·d − 1 have from the process at position d.
func (t *team) at(i int) int {
	n := t.Size()
	if n&(n-1) == 0 {
		return t.Rank() ^ reversed(i, n)
	}
	return (t.Rank() + i) % n
}

// before returns the process for which this one is at position d.
func (t *team) before(d int) int {
	n := t.Size()
	if n&(n-1) == 0 {
		return t.at(d)
	}
	return (t.Rank() - d + n) % n
}

// reversed returns the number of the log₂ n bits of i in reverse.
func reversed(i, n int) int { return int(bits.Reverse64(uint64(i)) >> (65 - bits.Len(uint(n)))) }

// gather returns what each process gave, by rank; all know the numbers of bytes. The bytes are
// valid until the next call.
func (t *team) gather(mine []byte, sizes []int) ([][]byte, error) {
	n := t.Size()
	if n == 1 {
		return [][]byte{mine}, nil
	}
	begin := make([]int, n+1) // of the part of a position
	for i := range n {
		begin[i+1] = begin[i] + sizes[t.at(i)]
	}
	all := t.room(begin[n])
	copy(all, mine)
	for d := 1; d < n; d *= 2 {
		count := min(d, n-d)
		if err := t.exchange(t.before(d), all[:begin[count]], t.at(d), all[begin[d]:begin[d+count]]); err != nil {
			return nil, err
		}
	}
	parts := make([][]byte, n)
	for i := range n {
		parts[t.at(i)] = all[begin[i]:begin[i+1]]
	}
	return parts, nil
}

// room returns memory of n bytes, aligned for numbers. It is the team's: the next call may
// return it again.
func (t *team) room(n int) []byte {
	if len(t.scratch)*8 < n {
		t.scratch = make([]float64, (n+7)/8)
	}
	return asBytes(t.scratch)[:n]
}
