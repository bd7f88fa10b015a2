package main

import (
	"reflect"
	"strings"
	"testing"

	"attention/layers"
	"attention/train/tasks/dates"

	"github.com/stretchr/testify/require"
)

// Each field of a config of layers uses the same words in its Go name and in its JSON key; the keys of LoRAConfig are
// PEFT's.
func TestKeysAreTheWordsOfFields(t *testing.T) {
	seen := 0
	for _, of := range append([]reflect.Type{reflect.TypeFor[dates.Config]()}, exportedTypes...) {
		if of.Kind() != reflect.Struct || of == reflect.TypeFor[layers.LoRAConfig]() ||
			!strings.Contains(of.PkgPath(), "/layers") && !strings.Contains(of.PkgPath(), "/tasks/") {
			continue
		}
		for _, f := range reflect.VisibleFields(of) {
			if key, _, _ := strings.Cut(f.Tag.Get("json"), ","); key != "" && key != "-" {
				require.Equal(t, strings.ToLower(f.Name), strings.ReplaceAll(key, "_", ""), "%v.%s", of, f.Name)
				seen++
			}
		}
	}
	require.Greater(t, seen, 150)
}
