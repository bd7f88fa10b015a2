package commandtest

import (
	"testing"
	"time"

	"attention/cmd/attention/internal/program"
)

// SetClock replaces the program's clock by one that advances by a second with every reading. It returns the time of the
// first reading.
func SetClock(t *testing.T) (begin time.Time) {
	begin = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	now, real := begin.Add(-time.Second), program.Now
	program.Now = func() time.Time {
		now = now.Add(time.Second)
		return now
	}
	t.Cleanup(func() { program.Now = real })
	return begin
}
