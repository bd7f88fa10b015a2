package serve

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"attention/cmd/attention/internal/commandtest"
	"attention/cmd/attention/internal/view/forward"

	"github.com/stretchr/testify/require"
)

// Sections are computed for the sentence in the request, or else for the initial sentence of the server; a wrong
// sentence is an error.
func TestSections(t *testing.T) {
	m, err := forward.Open(commandtest.WriteGPT(t, commandtest.SmallGPT(t)))
	require.NoError(t, err)
	s := &Server{config: Config{Models: []*forward.Model{m}, Chapter: true, Text: "one step more"}}
	for _, c := range []struct {
		query, want string // the words, or the error
	}{
		{"number=5", "one step more"},
		{"number=5&sentence=" + url.QueryEscape(" the  cat\n"), "the cat"},
		{"number=17&sentence=alone", ""},
		{"", `number: got "", want 1 to 29`},
		{"number=a+very+long+word+of+a+stranger", `number: got "a very long word of ", want 1 to 29`},
		{"number=0", "number: got 0, want 1 to 29"},
		{"number=30", "number: got 30, want 1 to 29"},
		{"number=5&sentence=", "sentence: got 0, want 2 to 64 words"},
		{"number=5&sentence=alone", "sentence: got 1, want 2 to 64 words"},
		{"number=5&sentence=a%00+b", `sentence: got "a\x00", want 1 to 64 bytes of printable text without blanks`},
	} {
		got, err := s.section(request(c.query))
		if err != nil {
			require.EqualError(t, err, c.want)
			continue
		}
		require.Equal(t, c.want, strings.Join(got.(forward.Section).Words, " "))
	}
	s.config.Chapter = false
	_, err = s.section(request("number=5"))
	require.EqualError(t, err, "section: got a request for one, want attention view --chapter")
	s.passes = newPasses(s.config.Models)
	_, err = s.values(request("pass=none&layer=0&head=0"))
	require.ErrorIs(t, err, errGone)
}

// Steps have the numbers of inputs and weights, and formulas for all other values. Of large matrices they have a
// corner.
func TestSectionsHaveWhatThePageComputesFrom(t *testing.T) {
	section, err := forward.NewSection(5, nil)
	require.NoError(t, err)
	for _, step := range section.Steps {
		require.Equal(t, step.Exact == nil, step.Values != nil, step.Name)
	}
	section, err = forward.NewSection(20, nil)
	require.NoError(t, err)
	found := false
	for _, step := range section.Steps {
		require.LessOrEqual(t, len(step.Values), 64, step.Name)
		if step.Name == "W_query.weight" {
			found = true
			require.Equal(t, []int{8, 8}, step.Shape)
			require.Equal(t, []int{768, 768}, step.Whole)
		}
	}
	require.True(t, found)
}

func request(query string) *http.Request { return &http.Request{URL: &url.URL{RawQuery: query}} }
