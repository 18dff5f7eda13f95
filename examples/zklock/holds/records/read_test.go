package records_test

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/gocurator/curator/examples/zklock/holds/records"
)

const whole = `{"path":"/a","node":"n","session":"0x1a1fbf0a55f0001","czxid":7,"begin":{"time":"2026-11-27T03:00:00Z","zxid":7},` +
	`"end":{"time":"2026-11-27T03:00:01Z","zxid":8},"how":"released"}`

// clocked is one by a process, whose clock is compared.
var clocked = strings.Replace(whole, `{`, `{"process":"p",`, 1)

func TestReadTakesWhatIsThereAndCountsTheRest(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want records.Report
		bad  string // in the first problem
	}{
		"nothing":             {"", records.Report{}, ""},
		"one":                 {whole + "\n", records.Report{Records: 1}, ""},
		"without its newline": {whole, records.Report{Records: 1}, ""},
		"torn":                {whole + "\n" + whole[:40], records.Report{Records: 1, Torn: true}, ""},
		"torn, then more":     {whole[:40] + "\n" + whole + "\n", records.Report{Records: 1, Broken: 1}, "line 1: "},
		"empty line":          {"\n" + whole + "\n", records.Report{Records: 1, Broken: 1}, "line 1: "},
		"no JSON":             {whole + "\nhello\n" + whole + "\n", records.Report{Records: 2, Broken: 1}, "line 2: "},
		"too long":            {strings.Repeat("x", 200_000) + "\n" + whole + "\n", records.Report{Records: 1, Broken: 1}, "more than 65536"},
		"too long, torn":      {whole + "\n" + strings.Repeat("x", 200_000), records.Report{Records: 1, Torn: true}, ""},
		"missing":             {`{"missing":3}` + "\n" + strings.Replace(whole, `{`, `{"missing":2,`, 1) + "\n", records.Report{Records: 1, Missing: 5}, ""},
		"more than can be counted": {
			strings.Repeat(`{"missing":9223372036854775807}`+"\n", 2), records.Report{Missing: math.MaxInt64}, "",
		},
		"a long name":        {strings.Replace(whole, `"/a"`, `"/`+strings.Repeat("a", 1024)+`"`, 1) + "\n", records.Report{Broken: 1}, "a name of more than 1024"},
		"a long process":     {strings.Replace(whole, `{`, `{"process":"`+strings.Repeat("p", 1025)+`",`, 1) + "\n", records.Report{Broken: 1}, "a name of"},
		"a clock":            {clocked + "\n", records.Report{Records: 1}, ""},
		"a clock, one time":  {strings.Replace(clocked, `00:01Z`, `00:00Z`, 1) + "\n", records.Report{Records: 1}, ""},
		"a clock ran back":   {strings.Replace(clocked, `03:00:01Z`, `02:59:59Z`, 1) + "\n", records.Report{Broken: 1}, "no time of one clock"},
		"a clock, no begin":  {strings.Replace(clocked, `"time":"2026-11-27T03:00:00Z",`, ``, 1) + "\n", records.Report{Broken: 1}, "no time of one clock"},
		"a clock, no end":    {strings.Replace(clocked, `"time":"2026-11-27T03:00:01Z",`, ``, 1) + "\n", records.Report{Broken: 1}, "no time of one clock"},
		"negative":           {strings.Replace(whole, `"czxid":7`, `"czxid":-7`, 1) + "\n", records.Report{Broken: 1}, "negative"},
		"another end":        {strings.Replace(whole, "released", "freed", 1) + "\n", records.Report{Broken: 1}, "unknown way"},
		"relative path":      {strings.Replace(whole, `"/a"`, `"a"`, 1) + "\n", records.Report{Broken: 1}, "does not begin"},
		"decimal session":    {strings.Replace(whole, `"0x1`, `"1`, 1) + "\n", records.Report{Broken: 1}, "no 0x"},
		"no session":         {strings.Replace(whole, `"0x1`, `"0xg`, 1) + "\n", records.Report{Broken: 1}, "invalid syntax"},
		"a path as its node": {strings.Replace(whole, `"n"`, `"a/n"`, 1) + "\n", records.Report{Broken: 1}, "no node"},
	} {
		got, err := records.Read(strings.NewReader(c.text), func(records.Record) error { return nil })
		problem := ""
		if got.First != nil {
			problem = got.First.Error()
		}
		got.First = nil
		if err != nil || got != c.want || !strings.Contains(problem, c.bad) || (c.bad == "") != (problem == "") {
			t.Errorf("%s: got %+v, %q, %v, want %+v, %q", name, got, problem, err, c.want, c.bad)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(whole + "\n" + whole[:20]))
	f.Add([]byte(`{"missing":3}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var again bytes.Buffer
		lines := json.NewEncoder(&again)
		first, err := records.Read(bytes.NewReader(text), func(r records.Record) error { return lines.Encode(r) })
		if err != nil {
			t.Fatal(err)
		}
		second, err := records.Read(&again, func(records.Record) error { return nil })
		if err != nil || second.Records != first.Records || second.Broken > 0 || second.Torn {
			t.Errorf("got %+v, %v of what was read and written again, want all of %+v", second, err, first)
		}
	})
}
