package text

// ByteTokenizer's ids are the bytes of a text, 0 to 255. It encodes any string, even one that is not UTF-8.
type ByteTokenizer struct{}

// Len returns 256.
func (ByteTokenizer) Len() int { return 256 }

// Encode returns the bytes of text. It never returns an error.
func (ByteTokenizer) Encode(text string) ([]int, error) {
	ids := make([]int, len(text))
	for i := range ids {
		ids[i] = int(text[i])
	}
	return ids, nil
}

// Decode returns the string whose bytes are ids. An id outside [0, 256) is an
// error that names it and its position.
func (b ByteTokenizer) Decode(ids []int) (string, error) {
	text := make([]byte, len(ids))
	for i, id := range ids {
		if err := checkID(i, id, b.Len()); err != nil {
			return "", err
		}
		text[i] = byte(id)
	}
	return string(text), nil
}

// Config returns the config with the name Bytes.
func (ByteTokenizer) Config() TokenizerConfig { return TokenizerConfig{Name: Bytes} }
