package model

import (
	"cmp"
	"testing"
)

// limit keeps the run of every day short.
const limit = 2_500

func TestEveryStateIsRight(t *testing.T) {
	for _, c := range Configs {
		t.Run(c.Name, func(t *testing.T) {
			m := New(c)
			m.Limit = cmp.Or(*states, limit)
			result, err := m.Explore()
			t.Log(result)
			if err != nil {
				t.Error(err)
			}
		})
	}
}
