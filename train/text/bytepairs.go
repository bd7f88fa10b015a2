package text

// bytePairs is byte-pair encoding: it joins the two neighbouring pieces whose token has the least id, the first of them
// if several have it, until no two pieces make a token.
type bytePairs struct {
	ids map[string]int32
}

// noToken is the id of two pieces that make no token.
const noToken = int32(1<<31 - 1)

// piece is a piece of a word, from its own index in the word to the next one's.
type piece struct {
	before, next int32 // indices of the pieces beside it; −1 before the first, the length of the word after the last
	id           int32 // of the token that this piece and the next one make
}

// merge is the piece of a word at an index with the next one, and the id of their token.
type merge struct{ id, at int32 }

// less orders merges as they are made.
func (p merge) less(q merge) bool { return p.id < q.id || p.id == q.id && p.at < q.at }

// joiner joins the pieces of a word. Its memory serves one word after the other.
type joiner struct {
	bytePairs
	word   string
	pieces []piece // one for each byte; those within a longer piece are not used any more
	merges []merge // a heap; a merge whose id is not that of its piece has gone
}

// append adds the ids of a word, which is not empty.
func (j *joiner) append(to []int, word string) []int {
	if id, ok := j.ids[word]; ok {
		return append(to, int(id))
	}
	n := int32(len(word))
	j.word, j.pieces, j.merges = word, j.pieces[:0], j.merges[:0]
	for i := range n {
		j.pieces = append(j.pieces, piece{before: i - 1, next: i + 1})
	}
	for i := range n {
		j.look(i)
	}
	for len(j.merges) > 0 {
		if first := j.pop(); j.pieces[first.at].id == first.id {
			j.join(first.at)
		}
	}
	for i := int32(0); i < n; i = j.pieces[i].next {
		to = append(to, int(j.ids[word[i:j.pieces[i].next]]))
	}
	return to
}

// look finds the token of the piece at an index and the next one.
func (j *joiner) look(at int32) {
	p := &j.pieces[at]
	p.id = noToken
	if int(p.next) == len(j.word) {
		return
	}
	if id, ok := j.ids[j.word[at:j.pieces[p.next].next]]; ok {
		p.id = id
		j.push(merge{id, at})
	}
}

// join joins the piece at an index and the next one.
func (j *joiner) join(at int32) {
	p := &j.pieces[at]
	j.pieces[p.next].id = noToken
	p.next = j.pieces[p.next].next
	if int(p.next) < len(j.word) {
		j.pieces[p.next].before = at
	}
	j.look(at)
	if p.before >= 0 {
		j.look(p.before)
	}
}

func (j *joiner) push(p merge) {
	j.merges = append(j.merges, p)
	for i := len(j.merges) - 1; i > 0; {
		above := (i - 1) / 2
		if !j.merges[i].less(j.merges[above]) {
			return
		}
		j.merges[i], j.merges[above] = j.merges[above], j.merges[i]
		i = above
	}
}

func (j *joiner) pop() merge {
	first, last := j.merges[0], len(j.merges)-1
	j.merges[0] = j.merges[last]
	j.merges = j.merges[:last]
	for i := 0; ; {
		least := 2*i + 1
		if least >= last {
			return first
		}
		if least+1 < last && j.merges[least+1].less(j.merges[least]) {
			least++
		}
		if !j.merges[least].less(j.merges[i]) {
			return first
		}
		j.merges[i], j.merges[least] = j.merges[least], j.merges[i]
		i = least
	}
}
