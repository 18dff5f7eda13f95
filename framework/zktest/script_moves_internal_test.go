package zktest

// moves has sessions go from one server of an ensemble to another, while the
// old connection is still open.
func (s *script) moves(to func(server int)) {
	for _, way := range [][2]int{{1, 2}, {0, 1}, {1, 0}} {
		from, dest := way[0], way[1]
		s.logf("\n# from server %d to %d", from, dest)
		move := func() (old, moved *client) {
			to(from)
			old = s.connect()
			old.create("/moves", "", 3)
			to(dest)
			moved = s.open()
			moved.hello(0, 30000, old.id, old.pass, true)
			settle()
			return old, moved
		}
		end := func(c *client) {
			c.do(OpCloseSession, "", nil)
			settle()
		}

		old, moved := move()
		old.get(OpExists, "/m", false)
		old.ping()
		old.path(OpSync, "/")
		moved.path(OpGetEphemerals, "/")
		end(moved)
		old.ping()

		old, moved = move()
		old.create("/refused", "", 0)
		old.ping()
		moved.get(OpExists, "/refused", false)
		end(moved)

		old, moved = move()
		old.ping()
		old.path(OpSync, "/")
		end(moved)

		old, moved = move()
		end(old)
		moved.ping()
		moved.ping()

		to(from)
		c := s.connect()
		to(dest)
		s.open().hello(0, 30000, c.id, []byte("wrong password!!"), true)
		settle()
		c.ping()
		c.path(OpSync, "/")
		end(c)
	}
}
