// Package txnlog reads what ZooKeeper servers have executed, in order, from the files of real servers ([Open], [Read],
// [ReadEnsemble], [Parse]). Tests judge by it what clients cannot see, such as when a node was deleted and by which
// session. Tools read logs of any size with [Open], damaged ones too. The transactions are those that a server in memory
// reports, zktest.Transaction.
//
// A replay starts with the nodes that each server creates by itself: /, /zookeeper, /zookeeper/quota and
// /zookeeper/config. Below /zookeeper/quota servers count usage without transactions.
//
// [Read], [ReadEnsemble] and [Parse] do not know the owner of a deleted node whose creation they have not read.
package txnlog
