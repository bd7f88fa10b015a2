package text

// joiner performs byte-pair encoding: among the pairs of neighbouring tokens it repeatedly joins the one with the
// lowest rank, the first of equal ones, until no neighbours form a pair. It reuses its memory for each piece of text.
type joiner struct {
	pairs  *pairTable
	links  []link   // one for each symbol; symbols inside a longer token are unused
	joins  []uint64 // a heap of rank<<32 | link; an entry whose rank differs from its link's is out of date
	starts []int32  // the first symbol of each token
}

// link is a token, stored at the index of its first symbol.
type link struct {
	before, next int32 // indices of the neighbouring tokens; −1 before the first, the number of symbols after the last
	id           int32
	rank, joined int32 // rank of the pair of this token and the next one, and the id of the joined token
}

// chunk is the number of symbols that are joined together: as many as fit into the processor's cache.
const chunk = 128

// append adds the tokens that result from joining symbols.
//
// A sequence of tokens is the encoding of its symbols if every two neighbours are the encoding of theirs: the first
// join across a border between tokens would depend on these two alone. A long piece is therefore encoded chunk by
// chunk: a chunk is joined together with the last tokens before it. If the first of these tokens does not change, no
// earlier token changes.
func (j *joiner) append(to []int, symbols []int32) []int {
	first, size := len(to), chunk
	j.starts = j.starts[:0]
	for end := 0; end < len(symbols); {
		end = min(end+size, len(symbols))
		for back := 4; ; back *= 2 {
			kept, start := max(len(j.starts)-back, 0), int32(0)
			if kept > 0 {
				start = j.starts[kept]
			}
			j.join(symbols[start:end])
			if kept > 0 && (int(j.links[0].id) != to[first+kept] || start+j.links[0].next != j.starts[kept+1]) {
				continue
			}
			to, j.starts = to[:first+kept], j.starts[:kept]
			for i := int32(0); int(i) < len(j.links); i = j.links[i].next {
				to, j.starts = append(to, int(j.links[i].id)), append(j.starts, start+i)
			}
			size = max(size, len(j.links)) // so that each symbol is joined a bounded number of times
			break
		}
	}
	return to
}

// join makes links for symbols and joins them.
func (j *joiner) join(symbols []int32) {
	j.links, j.joins = j.links[:0], j.joins[:0]
	for i, id := range symbols {
		j.links = append(j.links, link{before: int32(i) - 1, next: int32(i) + 1, id: id})
	}
	for i := range symbols {
		j.look(int32(i))
	}
	for len(j.joins) > 0 {
		least := j.pop()
		at := int32(uint32(least))
		l := &j.links[at]
		if l.rank != int32(least>>32) {
			continue
		}
		l.id = l.joined
		j.links[l.next].rank = noRank
		l.next = j.links[l.next].next
		if int(l.next) < len(j.links) {
			j.links[l.next].before = at
		}
		j.look(at)
		if l.before >= 0 {
			j.look(l.before)
		}
	}
}

// look finds the pair of the token at an index and the next one.
func (j *joiner) look(at int32) {
	l := &j.links[at]
	l.rank = noRank
	if int(l.next) == len(j.links) {
		return
	}
	if l.rank, l.joined = j.pairs.find(l.id, j.links[l.next].id); l.rank != noRank {
		j.push(uint64(l.rank)<<32 | uint64(at))
	}
}

func (j *joiner) push(join uint64) {
	j.joins = append(j.joins, join)
	for i := len(j.joins) - 1; i > 0; {
		above := (i - 1) / 2
		if j.joins[above] <= join {
			return
		}
		j.joins[i], j.joins[above] = j.joins[above], join
		i = above
	}
}

func (j *joiner) pop() uint64 {
	first, last := j.joins[0], len(j.joins)-1
	moved := j.joins[last]
	j.joins = j.joins[:last]
	for i := 0; ; {
		least := 2*i + 1
		if least >= last {
			if last > 0 {
				j.joins[i] = moved
			}
			return first
		}
		if least+1 < last && j.joins[least+1] < j.joins[least] {
			least++
		}
		if moved <= j.joins[least] {
			j.joins[i] = moved
			return first
		}
		j.joins[i] = j.joins[least]
		i = least
	}
}
