package txnlog

import "fmt"

// A Note says what is wrong in the files of servers, or what they lack.
type Note struct {
	Kind NoteKind
	// File is a log, a snapshot, or a directory; empty of Gap and Unseen.
	File string
	// Offset is where in the file, of Damaged, Torn and CutShort.
	Offset int64
	// First and Last are zxids, of Gap, Unseen, Deposed, Unproven, Unconfirmed and Differs.
	First, Last int64
	// Err says what is wrong, of Damaged, Torn and CutShort. Of Damaged it names the offset.
	Err error
	// Rest says that the rest of the file is not read, of Damaged.
	Rest bool
	// Servers is how many servers the sessions name, of Others.
	Servers int
}

// NoteKind says what a Note is about.
type NoteKind string

// The kinds of notes.
const (
	// Damaged is a record that is not what a server wrote, or a file that is no log or snapshot. The other records and
	// files are read.
	Damaged NoteKind = "damaged"
	// Torn is a file that ends in the middle of a record: its server was killed or writes on, or a copy of its newest
	// log is not whole.
	Torn NoteKind = "torn"
	// CutShort is a file that ends so, without the zeros that servers allocate ahead, and has newer ones beside it: a
	// copy that is not whole.
	CutShort NoteKind = "cut short"
	// Gap is a number of transactions of one leader that no log has.
	Gap NoteKind = "gap"
	// Unseen are the zxids between two epochs where no server's files show how far the earlier one went: transactions,
	// or whole epochs, may be missing.
	Unseen NoteKind = "unseen"
	// Deposed are transactions of a server's log that were never executed: a leader that was deposed had proposed them.
	Deposed NoteKind = "deposed"
	// Unproven are transactions at the end of an epoch that may not have been executed: the logs that would show it
	// are missing. They are taken for executed.
	Unproven NoteKind = "unproven"
	// Unconfirmed are the newest transactions, which most servers do not have in their logs. They are taken for
	// executed.
	Unconfirmed NoteKind = "unconfirmed"
	// Differs is a transaction that is another one in the log of another server.
	Differs NoteKind = "differs"
	// Others says that these are servers of an ensemble, and that others are not read: the newest transactions may not
	// have been executed, and some may be missing.
	Others NoteKind = "others"
	// NoLog is a directory without a log.
	NoLog NoteKind = "no log"
)

// Incomplete reports whether a note says that the files do not show all that was executed, or not for sure. What
// servers leave behind when they are killed or deposed says nothing of that kind.
func (n Note) Incomplete() bool { return n.Kind != Torn && n.Kind != Deposed }

// String returns a sentence without a full stop.
func (n Note) String() string {
	switch n.Kind {
	case Damaged:
		text := fmt.Sprintf("%s: %v", n.File, n.Err)
		if n.Rest {
			text += "; the rest of the file is not read"
		}
		return text
	case Torn:
		return fmt.Sprintf("%s: ends in %s: its server was killed or is writing it, or the copy is not whole", n.File, n.where())
	case CutShort:
		return fmt.Sprintf("%s: ends in %s, without zeros behind it, and is not the newest: the copy is not whole",
			n.File, n.where())
	case Unseen:
		return fmt.Sprintf("transactions from zxid %#x to %#x may be missing: no directory shows by its logs and snapshots "+
			"that there were none", n.First, n.Last)
	case Others:
		if n.Servers > 1 {
			return fmt.Sprintf("%s: sessions began at %d servers, and not all are read: transactions may be missing, and the "+
				"newest may not have been executed", n.File, n.Servers)
		}
		return n.File + ": one server of an ensemble: transactions may be missing, and some may not have been executed"
	case Gap:
		return fmt.Sprintf("%d transactions are in no log, from zxid %#x to %#x", n.Last-n.First+1, n.First, n.Last)
	case Deposed:
		return fmt.Sprintf("%s: transactions from zxid %#x to %#x were not executed: a leader that was deposed proposed them",
			n.File, n.First, n.Last)
	case Unproven:
		return fmt.Sprintf("%s: transactions from zxid %#x to %#x may not have been executed: the logs that would show it "+
			"are missing", n.File, n.First, n.Last)
	case Unconfirmed:
		return fmt.Sprintf("%s: transactions from zxid %#x to %#x may not have been executed: most of these servers do not "+
			"have them, unless their files are older", n.File, n.First, n.Last)
	case Differs:
		return fmt.Sprintf("%s: transaction %#x is not that of the other servers, and is left out", n.File, n.First)
	case NoLog:
		return n.File + ": no log of transactions"
	}
	return fmt.Sprintf("%s: %s: %v", n.File, n.Kind, n.Err)
}

func (n Note) where() string {
	if n.Offset == 0 {
		return "the header, or is empty"
	}
	return fmt.Sprintf("the middle of a record at offset %d", n.Offset)
}
