package text

// byteLetters are the characters that represent bytes in the tokens of a byte-level model: a printable byte represents
// itself, the others are U+0100, U+0101, … in order.
var byteLetters = func() (letters [256]rune) {
	next := rune(0x100)
	for b := range letters {
		letters[b] = rune(b)
		if b < '!' || b > '~' && b < 0xa1 || b == 0xad {
			letters[b] = next
			next++
		}
	}
	return letters
}()

// bytesInOrder are the bytes in the order of their ids in GPT-2's vocabulary: printable ones first.
var bytesInOrder = func() (bytes []byte) {
	for _, printable := range []bool{true, false} {
		for b, r := range byteLetters {
			if (int(r) == b) == printable {
				bytes = append(bytes, byte(b))
			}
		}
	}
	return bytes
}()

// letterBytes are the bytes that characters represent; −1 for characters that do not represent a byte.
var letterBytes = func() (bytes [0x144]int16) {
	for i := range bytes {
		bytes[i] = -1
	}
	for b, r := range byteLetters {
		bytes[r] = int16(b)
	}
	return bytes
}()

// appendLetters adds the characters that represent bytes.
func appendLetters(to []byte, bytes string) []byte {
	for i := range len(bytes) {
		to = append(to, string(byteLetters[bytes[i]])...)
	}
	return to
}

// appendBytes adds the bytes that the characters of a token represent. A token with any other character is added
// unchanged.
func appendBytes(to []byte, letters string) []byte {
	begin := len(to)
	for _, r := range letters {
		if int(r) >= len(letterBytes) || letterBytes[r] < 0 {
			return append(to[:begin], letters...)
		}
		to = append(to, byte(letterBytes[r]))
	}
	return to
}

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
