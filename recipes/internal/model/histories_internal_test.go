package model

// Where the exploration of a switch begins, so that the failure is near.
const (
	aBecomesAReaderAndCWaits = `
		a queues
		the server executes the creation of a for client 1
		client 1 hears of the creation of a0-__WRIT__0000000000
		the server executes the listing of a for client 1
		client 1 hears of the listing of a
		a takes its turn
		b is to follow a
		c queues
		the server executes the creation of c for client 2
		the server executes the creation of a reader of a0-__WRIT__0000000000 for client 1
		client 1 hears of the creation of a reader of b0-__READ__0000000000
		b takes its turn
		a releases
		the server executes the removal of a0-__WRIT__0000000000 for client 1
		the server executes the listing of c for client 2
		client 2 hears of the creation of c0-__WRIT__0000000001
		client 2 hears of the listing of c`
	aHasHadTheDirectoryToItself = `
		a queues
		b queues
		the server executes the creation of a for client 1
		client 1 hears of the creation of a0-lock-0000000000
		the server executes the listing of a for client 1
		client 1 hears of the listing of a
		client 1 watches the directory
		a takes its turn
		the server executes the read of the directory for client 1
		client 1 hears of the read of the directory
		a releases
		the server executes the removal of a0-lock-0000000000 for client 1
		client 1 hears of the removal of a0-lock-0000000000
		a queues
		the server executes the creation of a for client 1
		client 1 hears of the creation of a1-lock-0000000001
		the server executes the listing of a for client 1
		client 1 hears of the listing of a
		a takes its turn
		a releases
		the server executes the removal of a1-lock-0000000001 for client 1`
	aReturnsAndBHasMadeTheDirectory = aHasHadTheDirectoryToItself + `
		! client 1 loses its connection
		! the empty directory is removed
		client 1 connects to server 1
		the server executes the removal of a1-lock-0000000001 for client 1
		client 1 hears of the removal of a1-lock-0000000001
		the server executes the creation of b for client 2`
)
