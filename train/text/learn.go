package text

import (
	"cmp"
	"container/heap"
	"errors"
	"fmt"
	"math"
	"strings"
)

// EndOfText is the special token between texts in GPT-2's tokenizer and in learned tokenizers.
const EndOfText = endOfText

// leastLearned is the smallest vocabulary that can be learned: all bytes and <|endoftext|>.
const leastLearned = 257

// LearnBytePairs learns a byte-pair encoding of n tokens from a text and returns the contents of its tokenizer.json:
// the 256 bytes in the order of GPT-2's vocabulary, then the tokens in the order in which they are made, then the
// special token <|endoftext|>. The next token is the pair of neighbours that occurs most often within the words of
// GPT-2's pattern; of equally frequent pairs, the one with the lower first id, then with the lower second id. If no
// pair occurs twice before there are n tokens, the error names the largest possible n. An <|endoftext|> in the text
// separates two texts.
//
// The memory grows with the bytes of the different words, by about 60 bytes for each, and therefore at most with the
// bytes of the text.
func LearnBytePairs(text string, n int) ([]byte, error) {
	switch {
	case text == "":
		return nil, errors.New("text: learn: got an empty text, want at least one character")
	case n < leastLearned:
		return nil, fmt.Errorf("text: learn: got %d tokens, want at least %d: all bytes and %s", n, leastLearned, endOfText)
	case int64(len(text)) > math.MaxInt32:
		return nil, fmt.Errorf("text: learn: got %d bytes, want at most %d", len(text), math.MaxInt32)
	}
	if err := checkUTF8(text); err != nil {
		return nil, fmt.Errorf("text: learn: %w", err)
	}
	l := newLearner(text)
	for len(l.merges) < n-leastLearned {
		p, ok := l.most()
		if !ok {
			return nil, fmt.Errorf("text: learn: got %d tokens, want at most %d: in the rest of the text no pair comes twice",
				n, leastLearned+len(l.merges))
		}
		l.join(p)
	}
	return learnedJSON(l.merges)
}

// tokenPair is two neighbouring tokens.
type tokenPair struct{ first, second int32 }

// compare orders pairs by their first ids, then by their second ones.
func (p tokenPair) compare(q tokenPair) int {
	return cmp.Or(cmp.Compare(p.first, q.first), cmp.Compare(p.second, q.second))
}

// symbol is a token within a word, at an index of the learner's symbols.
type symbol struct {
	id           int32 // −1 after it was joined to the symbol before
	before, next int32 // indices of its neighbours in the word; −1 for none
	times        int32 // how often the word occurs
}

// occurrences holds the positions of a pair, and how often it occurs in the text.
type occurrences struct {
	tokenPair
	times  int
	at     []int32 // indices of the first symbols, ascending; some may hold another pair by now
	queued int     // times when it was put into the queue
}

// learner joins the pairs of a text. All occurrences of a pair appear at the same time, with the younger of its tokens;
// afterwards their number only decreases.
type learner struct {
	symbols []symbol
	pairs   map[tokenPair]*occurrences
	fresh   []*occurrences // pairs that are not in the queue yet
	queue   pairQueue
	merges  []tokenPair
}

// newLearner returns the learner of the different words of a text.
func newLearner(text string) *learner {
	alternatives, _ := words(gpt2Pattern)
	counts, cutter := map[string]int32{}, wordCutter{alternatives: alternatives}
	for text := range strings.SplitSeq(text, endOfText) {
		_ = cutter.cut(part{text: text}, func(p part) error { counts[p.text]++; return nil })
	}
	l, ids := &learner{pairs: map[tokenPair]*occurrences{}}, [256]int32{}
	for id, b := range bytesInOrder {
		ids[b] = int32(id)
	}
	l.reserve(counts, ids)
	for word, times := range counts {
		for i := range len(word) {
			at := int32(len(l.symbols))
			l.symbols = append(l.symbols, symbol{id: ids[word[i]], before: at - 1, next: at + 1, times: times})
			if i == 0 {
				l.symbols[at].before = -1
				continue
			}
			l.add(at - 1)
		}
		l.symbols[len(l.symbols)-1].next = -1
	}
	l.enqueue()
	return l
}

// reserve allocates the symbols and pairs of words at their final sizes, so that no smaller copies are left behind.
func (l *learner) reserve(words map[string]int32, ids [256]int32) {
	symbols, pairs := 0, make([]int32, 1<<16)
	for word := range words {
		symbols += len(word)
		for i := 1; i < len(word); i++ {
			pairs[ids[word[i-1]]<<8|ids[word[i]]]++
		}
	}
	l.symbols = make([]symbol, 0, symbols)
	for i, n := range pairs {
		if n > 0 {
			o := &occurrences{tokenPair: tokenPair{int32(i >> 8), int32(i & 255)}, at: make([]int32, 0, n)}
			l.pairs[o.tokenPair] = o
			l.fresh = append(l.fresh, o)
		}
	}
}

// add counts the pair of the symbol at an index and the next one.
func (l *learner) add(at int32) {
	s := l.symbols[at]
	p := tokenPair{s.id, l.symbols[s.next].id}
	o := l.pairs[p]
	if o == nil {
		o = &occurrences{tokenPair: p}
		l.pairs[p] = o
		l.fresh = append(l.fresh, o)
	}
	o.at = append(o.at, at)
	o.times += int(s.times)
}

// remove undoes add, before one of the two symbols changes.
func (l *learner) remove(at int32) {
	s := l.symbols[at]
	if o := l.pairs[tokenPair{s.id, l.symbols[s.next].id}]; o != nil { // nil for the pair that is being joined
		o.times -= int(s.times)
	}
}

// enqueue puts new pairs that occur at least twice into the queue, and drops the others.
func (l *learner) enqueue() {
	for _, o := range l.fresh {
		if o.times < 2 {
			delete(l.pairs, o.tokenPair)
			continue
		}
		o.queued = o.times
		heap.Push(&l.queue, o)
	}
	l.fresh = l.fresh[:0]
}

// most removes the most frequent pair, if it occurs at least twice, from the queue and returns it. It reports whether
// there is one.
func (l *learner) most() (o *occurrences, ok bool) {
	for len(l.queue) > 0 {
		o = l.queue[0]
		switch {
		case o.times < 2:
			heap.Pop(&l.queue)
			delete(l.pairs, o.tokenPair)
		case o.times < o.queued:
			o.queued = o.times
			heap.Fix(&l.queue, 0)
		default:
			heap.Pop(&l.queue)
			return o, true
		}
	}
	return nil, false
}

// join replaces every occurrence of a pair by a new token.
func (l *learner) join(o *occurrences) {
	id := int32(leastLearned - 1 + len(l.merges))
	l.merges = append(l.merges, o.tokenPair)
	delete(l.pairs, o.tokenPair)
	for _, at := range o.at {
		s := &l.symbols[at]
		if s.id != o.first || s.next < 0 || l.symbols[s.next].id != o.second {
			continue // it is part of another token now
		}
		next := s.next
		after := l.symbols[next].next
		if s.before >= 0 {
			l.remove(s.before)
		}
		if after >= 0 {
			l.remove(next)
			l.symbols[after].before = at
		}
		s.id, s.next, l.symbols[next].id = id, after, -1
		if s.before >= 0 {
			l.add(s.before)
		}
		if after >= 0 {
			l.add(at)
		}
	}
	l.enqueue()
}

// pairQueue is a heap. Its first pair is the most frequent one, and the lowest of equally frequent ones.
type pairQueue []*occurrences

func (q pairQueue) Len() int { return len(q) }

func (q pairQueue) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(q[j].queued, q[i].queued), q[i].compare(q[j].tokenPair)) < 0
}

func (q pairQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }

func (q *pairQueue) Push(o any) { *q = append(*q, o.(*occurrences)) }

func (q *pairQueue) Pop() any {
	last := len(*q) - 1
	o := (*q)[last]
	*q = (*q)[:last]
	return o
}
