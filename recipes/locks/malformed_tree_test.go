package locks_test

import (
	"context"
	"errors"
	"reflect"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/internal/malformtest"
)

var treeACL = []zk.ACL{
	{Perms: zk.PermAll, Scheme: "world", ID: "anyone"}, {Perms: zk.PermRead, Scheme: "digest", ID: "bob:x"},
}

// treeStory is a client that makes nodes with their parents, sets and reads ACLs, and deletes trees.
func treeStory() *malformtest.Story {
	return &malformtest.Story{
		Recover: func(ctx context.Context, r *malformtest.Run) error {
			if err := deleteTree(ctx, r); err != nil {
				return err
			}
			for _, step := range []func(context.Context, *malformtest.Run) error{plantTree, restrictTree, readTree, deleteTree} {
				if err := step(ctx, r); err != nil {
					return err
				}
			}
			return nil
		},
		Left: func(r *malformtest.Run) string {
			if r.Server.Exists("/t") {
				return "a tree that was deleted is there"
			}
			return ""
		},
		Parts: []malformtest.Part{
			{Name: "making", Live: lives(plantTree), Kinds: []string{malformtest.FrameCreate}},
			{Name: "restricting", Live: lives(plantTree, restrictTree), Kinds: []string{malformtest.FrameSetACL}},
			{Name: "reading", Live: lives(plantTree, restrictTree, readTree), Kinds: []string{
				malformtest.FrameGetACL, malformtest.FrameExists,
			}},
			{Name: "deleting", Live: lives(plantTree, deleteTree), Kinds: []string{
				malformtest.FrameDelete, malformtest.FrameListing,
			}},
			{Name: "deleting for long", All: true, Live: lives(plantTree, deleteTree), Kinds: []string{
				malformtest.FrameDelete, malformtest.FrameListing,
			}},
		},
	}
}

// lives takes steps while frames are spoiled, each for the time that they are at most.
func lives(steps ...func(ctx context.Context, r *malformtest.Run) error) func(r *malformtest.Run) {
	return func(r *malformtest.Run) {
		r.Arm()
		for _, step := range steps {
			_ = r.Bounded("a step", malformtest.SpoilTime, func(ctx context.Context) error { return step(ctx, r) })
		}
		time.Sleep(time.Second)
	}
}

func plantTree(ctx context.Context, r *malformtest.Run) error {
	for _, node := range []string{"/t/a/b", "/t/a/c", "/t/d"} {
		_, _, err := r.Client.Create(ctx, node, nil, framework.CreatingParentsIfNeeded())
		if err != nil && !errors.Is(err, zk.ErrNodeExists) {
			return err
		}
		if !r.Server.Exists(node) {
			r.Bad(malformtest.OutcomeFalse, "Create of %s has made nothing: %v", node, err)
		}
	}
	return nil
}

func restrictTree(ctx context.Context, r *malformtest.Run) error {
	_, err := r.Client.SetACL(ctx, "/t/d", treeACL, -1)
	return err
}

func readTree(ctx context.Context, r *malformtest.Run) error {
	acl, _, err := r.Client.ACL(ctx, "/t/d")
	if err == nil && !reflect.DeepEqual(acl, treeACL) {
		r.Bad(malformtest.OutcomeFalse, "got ACL %v, want %v", acl, treeACL)
	}
	if err != nil {
		return err
	}
	stat, err := r.Client.Exists(ctx, "/t/a")
	if err == nil && stat == nil {
		r.Bad(malformtest.OutcomeFalse, "/t/a does not exist, want it to")
	}
	return err
}

func deleteTree(ctx context.Context, r *malformtest.Run) error {
	err := r.Client.Delete(ctx, "/t", -1, framework.DeletingChildrenIfNeeded())
	if errors.Is(err, zk.ErrNoNode) {
		err = nil
	}
	if err == nil && r.Server.Exists("/t") {
		r.Bad(malformtest.OutcomeFalse, "Delete has left the tree")
	}
	return err
}
