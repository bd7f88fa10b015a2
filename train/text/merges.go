package text

// Merges returns the pairs of tokens that are joined, in their order, as the file writes them.
func (t *BPETokenizer) Merges() [][2]string {
	var merges [][2]string
	for _, s := range t.pairs.slots {
		if s.left == 0 {
			continue
		}
		for len(merges) <= int(s.rank) {
			merges = append(merges, [2]string{})
		}
		merges[s.rank] = [2]string{t.tokens[s.left-1], t.tokens[s.right]}
	}
	return merges
}
