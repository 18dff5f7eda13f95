package listen_test

import (
	"testing"

	"github.com/gocurator/curator/framework/listen"
	"github.com/gocurator/curator/framework/zktest"
)

func TestABlockedListenerHoldsUpNoOther(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		blocked, free := newListener(), newListener()
		close(free.goOn)
		ls := listen.NewListeners(listen.Every[int])
		ls.Add(blocked.hear)
		ls.Add(free.hear)
		ls.Push(1)
		ls.Push(2)
		free.want(t, 1, 2)
		blocked.want(t, 1)
		close(blocked.goOn)
		blocked.want(t, 1, 2)
	})
}

func TestListenerHearsTheFirstValueBeforeLaterOnes(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		l := newListener()
		close(l.goOn)
		ls := listen.NewListeners(listen.Every[int])
		ls.Push(0) // before there was a listener
		ls.Add(l.hear, 1)
		ls.Push(2)
		l.want(t, 1, 2)
	})
}

func TestListenersOfTheNewestValueSkipOlderOnesEachByItself(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		slow, quick := newListener(), newListener()
		close(quick.goOn)
		ls := listen.NewListeners(listen.Newest[int])
		ls.Add(slow.hear)
		ls.Add(quick.hear)
		for i := range 4 {
			ls.Push(i)
			slow.want(t, 0)
		}
		quick.want(t, 0, 1, 2, 3)
		close(slow.goOn)
		slow.want(t, 0, 3)
	})
}

func TestStoppedListenerIsCalledNoMore(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		stopped, other := newListener(), newListener()
		close(other.goOn)
		ls := listen.NewListeners(listen.Every[int])
		stop := ls.Add(stopped.hear)
		ls.Add(other.hear)
		ls.Push(1)
		stopped.want(t, 1)
		ls.Push(2) // it waits for the call that runs
		stop()
		stop()
		ls.Push(3)
		close(stopped.goOn)
		stopped.want(t, 1)
		other.want(t, 1, 2, 3)
	})
}

func TestClosedListenersAreCalledNoMore(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		before, after := newListener(), newListener()
		close(after.goOn)
		ls := listen.NewListeners(listen.Every[int])
		stop := ls.Add(before.hear)
		ls.Push(1)
		before.want(t, 1)
		ls.Push(2)
		ls.Close()
		stopAfter := ls.Add(after.hear, 3)
		ls.Push(4)
		close(before.goOn)
		before.want(t, 1)
		after.want(t)
		stop()
		stopAfter()
	})
}
