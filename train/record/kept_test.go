package record

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// After many evaluations fewer of them have a record. Whether one is due depends only on the evaluation's number.
func TestRecordsThinOut(t *testing.T) {
	records := 0
	for i := range 1_000_000 {
		if i%recordStride(i) == 0 {
			records++
		}
		if i < allRecords {
			require.Equal(t, i+1, records)
		}
	}
	require.Equal(t, 2, recordStride(allRecords))
	require.Equal(t, 4, recordStride(2*allRecords))
	require.Less(t, records, 6*allRecords)
}

// Recorded steps stay evenly spread and include the first and the last; the remaining ones do not depend on how often
// records were removed.
func TestMomentsThinOut(t *testing.T) {
	const every = 5
	index := func(step int) (int, bool) { return step / every, step%every == 0 }
	var m kept
	for step := 0; step <= 1000; step += every {
		m.add(step, nil)
		m.thin(index)
		require.LessOrEqual(t, len(m.steps), mostTimes)
		require.Equal(t, 0, m.steps[0])
		require.Equal(t, step, m.steps[len(m.steps)-1])
	}
	m.add(1003, nil) // the last step
	m.thin(index)
	var want, all []int
	for step := 0; step <= 1000; step += every {
		all = append(all, step)
	}
	for step := 0; step <= 1000; step += 8 * every {
		want = append(want, step)
	}
	require.Equal(t, append(want, 1003), m.steps)
	late := kept{steps: append(all[50:], 1003)}
	late.thin(index)
	require.Equal(t, 250, late.steps[0], "the first one of a run that began to record late")
	require.Equal(t, want[7:], late.steps[1:len(late.steps)-1])
}

// The measured elements are evenly spread, also over the columns of a matrix.
func TestMeasuredElementsAreSpread(t *testing.T) {
	const n, m, columns = 1 << 20, 1 << 10, 1 << 10
	at := spread(n, m)
	seen := map[int]bool{}
	for i, a := range at {
		require.GreaterOrEqual(t, a, i*n/m)
		require.Less(t, a, (i+1)*n/m)
		seen[a%columns] = true
	}
	require.Greater(t, len(seen), columns/2)
	require.Equal(t, []int{0, 1, 2}, spread(3, 3))
}
