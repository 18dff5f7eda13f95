//go:build js && wasm

// Process is the program in each Web Worker of the playground: a worker that contends for the lock, or the server. The
// page says which, and is the network between them.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"syscall/js"

	"github.com/gocurator/curator/examples/playground/internal/play"
)

func main() {
	host := js.Global().Get("host")
	tell := func(e play.Event) {
		text, err := json.Marshal(e)
		if err != nil { // a number that is none
			panic(err)
		}
		host.Call("tell", string(text))
	}
	n := newNetwork(host)
	var err error
	if host.Get("role").String() == "server" {
		err = serve(n, tell)
	} else {
		err = work(n, host.Get("settings").String(), tell)
	}
	tell(play.Event{Kind: play.Failed, Text: err.Error()})
}

// work contends for the lock, for as long as the process lives.
func work(n *network, settings string, tell func(play.Event)) error {
	worker := &play.Worker{Dial: n.dial, Tell: tell, Begin: n.begin}
	if err := json.Unmarshal([]byte(settings), &worker.Settings); err != nil {
		return fmt.Errorf("settings: %w", err)
	}
	n.listen(nil)
	return worker.Run(context.Background())
}

// serve is the server, for as long as the process lives.
func serve(n *network, tell func(play.Event)) error {
	server := play.NewServer(tell)
	n.listen(func(order string, worker int) {
		switch order {
		case "freeze":
			server.Freeze()
		case "unfreeze":
			server.Unfreeze()
		case "remove":
			server.Remove(worker)
		}
	})
	tell(play.Event{Kind: play.Ready})
	return server.Serve(n)
}
