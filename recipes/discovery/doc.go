// Package discovery finds the processes of a service, and registers them, on the nodes and in the JSON of Java's
// curator-x-discovery: programs in both languages find each other, also those of Spring Cloud Zookeeper.
//
//	services := discovery.NewServiceDiscovery(client, "/services")
//	port := 8080
//	me, err := services.Register(ctx, discovery.ServiceInstance{Name: "orders", Address: "10.0.0.7", Port: &port})
//	if err != nil { // it blocks until the instance is registered
//		return err
//	}
//	defer me.Close()
//
//	orders := services.NewServiceCache("orders")
//	if err := orders.Start(ctx); err != nil { // blocks until it has every instance
//		return err
//	}
//	defer orders.Close()
//	all := slices.Collect(orders.Instances()) // asks no server
//	if len(all) > 0 {
//		call(all[rand.IntN(len(all))])
//	}
//
// There is no ServiceProvider: the last four lines are one. Leave out what is not enabled ([ServiceInstance.IsEnabled])
// and what your program could not reach.
//
// # What it promises
//
//   - An instance is registered from the return of [ServiceDiscovery.Register] to [Registration.Close]. Its node is
//     a [nodes.PersistentNode]: when the session ends, the next one registers the instance again.
//   - Two processes do not register one ID: the second waits until the first has gone. An instance whose process ends,
//     or is cut off, goes with its session, within a session timeout and two ticks of the servers. Other types than
//     [Dynamic] differ, see [ServiceDiscovery.Register].
//   - A [ServiceCache] shows what the servers had a moment ago, also without a connection, and reports every
//     difference.
//   - A node that is no instance harms no other: [ServiceDiscovery.Instances] returns the others with an error, as
//     net.LookupSRV does, and a ServiceCache keeps it apart ([ServiceCache.Bad]).
//   - What this package does not know stays: the class of a payload of Java, in its "@class", and fields of other
//     releases ([ServiceInstance.Extra]).
//
// # The nodes
//
// An instance is the data of the node at base path, name and ID, such as /services/orders/7f0c…; missing parents
// are created as containers. Its [ServiceType] says whether the node is ephemeral. The node of a DynamicSequential
// instance is called "_c_", a GUID, the ID and a number, where Java's has the last two alone. So nodes differ in their
// names ([Event.Node]), but instances not always in their IDs. A service whose name in Java has slashes, such as
// shop/orders, is found by its last part, orders, below /services/shop.
//
// Java deletes its node and creates it again whenever it reconnects; [ServiceCache.Events] says what readers here see
// of that. It also deletes the node of another process that has its ID. So a service in both languages needs different
// IDs, as random ones are.
//
// Curator: curator-x-discovery.
package discovery
