package framework

// A followed directory is one whose newest listing is kept, whoever asked for it.
type followed struct {
	followers int
	children  []string
}

// Follow keeps the newest listing of a directory that anybody in this session asks for, until unfollow is called as often as
// Follow. It asks for none by itself.
func (s *Session) Follow(dir string) (unfollow func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.followed[dir]
	if f == nil {
		f = &followed{}
		s.followed[dir] = f
	}
	f.followers++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if f.followers--; f.followers == 0 {
			delete(s.followed, dir)
		}
	}
}

// Newest returns the newest listing of a followed directory that has arrived: later in the session's order than whatever it
// contains. It is nil if there has been none, and must not be changed.
func (s *Session) Newest(dir string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.followed[dir]; f != nil {
		return f.children
	}
	return nil
}

// listed keeps an answer for those who follow. It is called in the order of arrival.
func (s *Session) listed(dir string, children []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.followed[dir]; f != nil {
		f.children = children
	}
}
