// Race has a data race, unless it has an argument.
package main

import "os"

var shared int

func main() {
	done := make(chan struct{})
	go func() {
		shared++
		close(done)
	}()
	if len(os.Args) > 1 {
		<-done
	}
	shared++
	<-done
}
