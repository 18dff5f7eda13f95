package txnlog_test

import "testing"

// A server alone, with epochs or with sessions that began at other servers, is one of an ensemble.
func TestLogSaysThatOtherServersAreMissing(t *testing.T) {
	begin := func(zxid int64, number int64) record {
		return record{zxid: zxid, session: number<<56 | 5, kind: createSession}
	}
	ends := record{zxid: 2, session: 2 << 56, kind: closeSession}
	for name, test := range map[string]struct {
		servers [][]record
		want    []string
	}{
		"no ensemble":              {[][]record{{begin(1, 1), made(2, 7, "/a")}}, nil},
		"an epoch":                 {[][]record{{made(e1+1, 7, "/a")}}, []string{"one server of an ensemble: transactions may be missing"}},
		"sessions at two":          {[][]record{{begin(1, 1), begin(2, 2)}}, []string{"sessions began at 2 servers, and not all are read"}},
		"sessions at a high one":   {[][]record{{begin(1, 1), begin(2, -2)}}, []string{"sessions began at 2 servers"}},
		"a session that ends":      {[][]record{{begin(1, 1), ends}}, nil},
		"two, and sessions at two": {[][]record{{begin(e1+1, 1), begin(e1+2, 2)}, {begin(e1+1, 1), begin(e1+2, 2)}}, nil},
		"two, and sessions at three": {
			[][]record{{begin(e1+1, 1), begin(e1+2, 2), begin(e1+3, 3)}, {begin(e1+1, 1), begin(e1+2, 2), begin(e1+3, 3)}},
			[]string{"sessions began at 3 servers"},
		},
	} {
		var dirs []string
		for i, records := range test.servers {
			dirs = append(dirs, write(t, map[string][]byte{"log.1": logOf(records...), "myid": {byte('1' + i)}}))
		}
		_, log := replayed(t, "/", dirs...)
		wantNotes(t, name, log, test.want...)
		if log.Incomplete != (test.want != nil) {
			t.Errorf("%s: got Incomplete %v", name, log.Incomplete)
		}
	}
}
