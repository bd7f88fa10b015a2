package safetensors

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// FuzzRead reads any bytes. An accepted file must be consistent and equal after it is
// written and read again; any other must be an error.
func FuzzRead(f *testing.F) {
	f.Add([]byte(pythonFile))
	f.Add([]byte(file(`{}`, 0)))
	f.Add([]byte(file(`{"\ud83d\ude00":{"dtype":"BF16","shape":[2,1],"data_offsets":[0,4]}}`, 4)))
	for _, row := range hostile {
		if len(row.file) < 1000 { // the longer ones only slow the fuzzer down
			f.Add([]byte(row.file))
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := Read(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			require.Nil(t, got)
			require.Less(t, len(err.Error()), 2000)
			return
		}
		for _, x := range got.Tensors {
			n, ok := elements(x.Shape)
			_, held := typeOf(x.Data)
			require.True(t, ok)
			require.Equal(t, n, held)
			require.LessOrEqual(t, n*x.DType.Size(), len(b))
		}
		var first, second bytes.Buffer
		require.NoError(t, Write(&first, got))
		again, err := Read(bytes.NewReader(first.Bytes()), int64(first.Len()))
		require.NoError(t, err)
		for i := range got.Tensors { // what Write decides for itself
			got.Tensors[i].DType, _ = typeOf(got.Tensors[i].Data)
		}
		if len(got.Metadata) == 0 {
			got.Metadata = nil
		}
		assert.Equal(t, bitsOf(inFileOrder(got)), bitsOf(again))
		require.NoError(t, Write(&second, again))
		require.Equal(t, first.Bytes(), second.Bytes())
	})
}
