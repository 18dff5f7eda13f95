package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"time"
)

// playground are the files of the page, if the program was built with them.
var playground fs.FS

var errNoPlayground = errors.New("this program was built without the page; in a clone, go run -C examples ./playground serves it")

// servePlayground serves the page until the server that it returns is closed. It has nothing to do with the ZooKeeper
// server of this process: the page has one of its own.
func servePlayground(address string, files fs.FS, errs io.Writer) (*http.Server, error) {
	if files == nil {
		return nil, errNoPlayground
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	server := &http.Server{Addr: listener.Addr().String(), Handler: http.FileServerFS(files), ReadHeaderTimeout: 10 * time.Second}
	go func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			_, _ = fmt.Fprintf(errs, "testserver: the playground is gone: %v\n", err)
		}
	}()
	return server, nil
}
