package serve

import (
	"fmt"
	"io"

	"github.com/cli/browser"
)

// OpenBrowser opens a page in the system's browser, without waiting for it. The channel gets an error if that fails.
func OpenBrowser(url string) <-chan error {
	browser.Stdout, browser.Stderr = io.Discard, io.Discard
	failed := make(chan error, 1)
	go func() {
		if err := browser.OpenURL(url); err != nil {
			failed <- fmt.Errorf("--open: %w, want a browser; the page is at the URL all the same", err)
		}
	}()
	return failed
}
