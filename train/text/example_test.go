package text_test

import (
	"fmt"

	"attention/train/text"
)

func ExampleVocabulary() {
	v, err := text.NewVocabulary("hello")
	if err != nil {
		fmt.Println(err)
		return
	}
	ids, err := v.Encode("hole")
	fmt.Println(v.Characters(), ids, err)
	_, err = v.Encode("help")
	fmt.Println(err)
	// Output:
	// ehlo [1 3 2 0] <nil>
	// text: got 'p' at position 3, want one of the vocabulary's 4 characters
}
