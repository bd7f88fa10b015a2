package text

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// readDecoder returns the decoder of a tokenizer.json.
func readDecoder(value jsontext.Value) (d pieceDecoder, err error) {
	if len(value) == 0 || value.Kind() == 'n' {
		return pieceDecoder{between: " "}, nil
	}
	fused := false
	err = readComponents(value, func(c component) []jsontext.Value { return c.Decoders }, 0, func(c component) error {
		if fused {
			return d.addFused(c)
		}
		fused = c.Type == "Fuse" || c.Type == "ByteLevel"
		return d.add(c)
	})
	return d, err
}

// add adds a decoder that processes each token alone.
func (d *pieceDecoder) add(c component) error {
	switch c.Type {
	case "Fuse":
	case "ByteLevel":
		d.each = append(d.each, func(token string, _ bool) string { return string(appendBytes(nil, token)) })
	case "ByteFallback":
		d.each = append(d.each, byteToken)
	case "Metaspace":
		prefix, err := c.prefix()
		d.each = append(d.each, metaspaceText(c.Replacement, prefix != "never"))
		return err
	case "Strip":
		if !oneCharacter(c.Content) || c.Start < 0 || c.Stop < 0 {
			return fmt.Errorf("strip: got content %.100q, start %d and stop %d, want a character and numbers of it",
				c.Content, c.Start, c.Stop)
		}
		d.each = append(d.each, trimmed(c.Content, c.Start, c.Stop))
	case "Replace":
		at, err := c.Pattern.matches()
		change := replace(at, c.Content)
		d.each = append(d.each, func(token string, _ bool) string {
			if changed, err := change(token, lengthLimit(token)); err == nil {
				return changed
			}
			return token
		})
		return err
	case "WordPiece":
		d.each = append(d.each, wordPieceText(c.Prefix, c.Cleanup))
	default:
		return unsupported(c.Type, "Sequence, ByteLevel, Metaspace, Replace, ByteFallback, Fuse, Strip, WordPiece")
	}
	return nil
}

// addFused adds a decoder that processes the whole text.
func (d *pieceDecoder) addFused(c component) error {
	switch {
	case c.Type == "Fuse":
		return nil
	case c.Type == "Strip" && d.trim == "" && oneCharacter(c.Content) && min(c.Start, c.Stop) >= 0:
		d.trim, d.left, d.right = c.Content, c.Start, c.Stop
		return nil
	case c.Type == "Replace" && d.trim == "" && c.Pattern.String != nil && oneCharacter(*c.Pattern.String):
		return d.add(c)
	}
	return fmt.Errorf("got %.100s of the whole text, want one Strip, or Replace of a character before it", c.Type)
}
