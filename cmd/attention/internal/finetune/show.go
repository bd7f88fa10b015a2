package finetune

import (
	"context"
	"fmt"
	"io"

	"attention/train/text"
)

// showLessons prints what of the first n examples is learned: a line for each token, those that the loss counts marked.
func (e *examples) showLessons(ctx context.Context, w io.Writer, tokenizer text.Tokenizer, n int) error {
	file := e.files[0]
	for i := range min(n, file.Len()) {
		example, err := file.At(i)
		if err != nil {
			return err
		}
		lesson, _, err := e.lessons.Of(ctx, example)
		if err != nil {
			return fmt.Errorf("%s: %w", file.Where(i), err)
		}
		texts, err := text.Texts(tokenizer, lesson.IDs)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "example %d: %d tokens\n", i+1, len(lesson.IDs))
		for j, id := range lesson.IDs {
			mark := " "
			if lesson.Learned[j] && j > 0 {
				mark = "learned"
			}
			fmt.Fprintf(w, "%6d  %-7s  %q\n", id, mark, texts[j])
		}
	}
	return nil
}
