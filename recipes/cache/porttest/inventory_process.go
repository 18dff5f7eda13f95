package porttest

import (
	"context"
	"fmt"
	"path"

	"github.com/gocurator/curator/recipes/cache"
)

// An inventoryProcess follows the inventory, and is a host too, now and then.
type inventoryProcess struct {
	w         *world
	p         *process
	inventory *Inventory
}

func startInventory(ctx context.Context, w *world, p *process) program {
	v, a := NewInventory(p.Client, w.root), NewAnnouncer(p.Client)
	if err := v.Start(ctx); err != nil {
		w.t.Fatal(err)
	}
	p.announcer = a
	return &inventoryProcess{w: w, p: p, inventory: v}
}

func (v *inventoryProcess) step(context.Context) {
	root, dice, a := v.w.root, v.p.dice, v.p.announcer
	host := fmt.Sprintf("host%d-%d", v.p.number, dice.IntN(3))
	item, data := fmt.Sprintf("%s/inventory/%s/item%d", root, host, dice.IntN(5)), fmt.Sprint(dice.IntN(100))
	switch dice.IntN(8) {
	case 0:
		a.Withdraw(root + "/announcements/" + host)
	case 1, 2:
		a.Announce(root+"/announcements/"+host, data)
	case 3:
		a.Withdraw(item)
	default:
		a.Announce(item, data)
	}
}

func (v *inventoryProcess) has() map[string]string {
	hosts := map[string]string{}
	for name, items := range v.inventory.Hosts() {
		hosts[name] = fmt.Sprint(items)
	}
	return hosts
}

func (v *inventoryProcess) wants(tree map[string]string) map[string]string {
	hosts := map[string]string{}
	for node, data := range tree {
		if path.Dir(node) != v.w.root+"/announcements" {
			continue
		}
		items := map[string]string{"": data}
		for item, data := range tree {
			if path.Dir(item) == v.w.root+"/inventory/"+path.Base(node) {
				items[path.Base(item)] = data
			}
		}
		hosts[path.Base(node)] = fmt.Sprint(items)
	}
	return hosts
}

func (v *inventoryProcess) caches() []*cache.CuratorCache {
	v.inventory.mu.Lock()
	defer v.inventory.mu.Unlock()
	caches := []*cache.CuratorCache{v.inventory.outer}
	for _, h := range v.inventory.hosts {
		caches = append(caches, h.inner)
	}
	return caches
}

func (v *inventoryProcess) close() {
	v.inventory.Close()
	v.p.announcer.Close()
}
