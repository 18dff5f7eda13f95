// Package ranked has the mutexes of the library, and their order: a goroutine that holds one locks only those of a
// higher rank, so no two goroutines wait for each other.
//
// With the race detector each mutex checks the order. A goroutine that breaks it ends the process, even without a
// deadlock, as the runtime does for concurrent writes to a map. Without the race detector a [Mutex] costs what a
// [sync.Mutex] does.
//
// A recipe outside of this module uses the ranks [Recipe] and [Leaf], or its own types with numbers between:
//
//	type Barrier struct {
//		mu     ranked.Mutex[ranked.Recipe, Barrier]
//		opened bool // guarded by mu
//	}
//
// Curator has none.
package ranked

// A Rank is the place of a mutex in the order. It is a type, so that the zero value of a [Mutex] has one.
type Rank interface {
	// Rank is higher for a mutex that is locked later.
	Rank() int
}

// The order of the library. Mutexes of one rank are never held together by a goroutine. DESIGN.md of package locks says
// which mutex guards what.
type (
	// Outer is the rank of a recipe's mutex with another one of the recipe under it.
	Outer struct{}

	// Recipe is the rank of a recipe's mutex that is held during calls of the library. Others are of rank Leaf.
	Recipe struct{}

	// Registry is the rank of Registry.mu in the engine of the recipes.
	Registry struct{}

	// View is the rank of what a Registry has: sharedView.mu and Grant.mu.
	View struct{}

	// Client is the rank of the state of a client: core.mu.
	Client struct{}

	// Session is the rank of the table of a session: base.mu.
	Session struct{}

	// Branch is the rank of a mutex with nothing under it but leaves, as link.mu.
	Branch struct{}

	// Leaf is the rank of a mutex with none of the library under it.
	Leaf struct{}
)

// The numbers leave room for ranks between them.

// Rank is 50.
func (Outer) Rank() int { return 50 }

// Rank is 100.
func (Recipe) Rank() int { return 100 }

// Rank is 200.
func (Registry) Rank() int { return 200 }

// Rank is 300.
func (View) Rank() int { return 300 }

// Rank is 400.
func (Client) Rank() int { return 400 }

// Rank is 500.
func (Session) Rank() int { return 500 }

// Rank is 600.
func (Branch) Rank() int { return 600 }

// Rank is 700.
func (Leaf) Rank() int { return 700 }
