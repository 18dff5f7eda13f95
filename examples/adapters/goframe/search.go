package goframeregistry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/gocurator/curator/recipes/cache"
)

// Search returns the services that have all that in chooses, by path, as the servers have them now: those whose key
// begins with the prefix, or of all directories without one. There may be none. Errors are those of
// cache.CuratorCache.Start.
func (r *Registry[W, In, S, M]) Search(ctx context.Context, in In) ([]S, error) {
	query := struct {
		Prefix   string
		Name     string
		Version  string
		Metadata M
	}(in)
	read := r.newCache(query.Prefix)
	if err := read.Start(ctx); err != nil {
		return nil, err
	}
	defer func() { _ = read.Close() }()
	var found []S
	all, _ := r.services(read, query.Prefix)
	for _, service := range all {
		if (query.Name == "" || query.Name == service.GetName()) &&
			(query.Version == "" || query.Version == service.GetVersion()) && has(service.GetMetadata(), query.Metadata) {
			found = append(found, service)
		}
	}
	return found, nil
}

// has reports whether metadata have what is wanted. They come from JSON, where 1 is not an int: so texts are compared.
func has[M ~map[string]any](metadata, wanted M) bool {
	for name, value := range wanted {
		if got, ok := metadata[name]; !ok || fmt.Sprint(got) != fmt.Sprint(value) {
			return false
		}
	}
	return true
}

// newCache returns a cache of the directory of a prefix, or of all directories.
func (r *Registry[W, In, S, M]) newCache(prefix string) *cache.CuratorCache {
	dir, depth := r.directory(prefix), 1
	if dir == r.root {
		depth = 2
	}
	return cache.NewCuratorCache(r.client, dir, cache.WithDepth(depth))
}

// A version is one state of one node.
type version struct {
	path         string
	czxid, mzxid int64
}

// services returns the services that a cache has, and of which versions of which nodes they are. Two prefixes can have
// one directory: the services of another one are left out, and so is what is no service.
func (r *Registry[W, In, S, M]) services(from *cache.CuratorCache, prefix string) ([]S, []version) {
	var (
		services []S
		versions []version
	)
	for node := range from.All() {
		below := strings.TrimPrefix(strings.TrimPrefix(node.Path, r.root), "/")
		if !strings.Contains(below, "/") {
			continue // a directory
		}
		service, err := r.decode(node.Data)
		if err != nil {
			r.client.Logger().Warn("goframeregistry: a node is no service", "path", node.Path, "error", err)
			continue
		}
		if !strings.HasPrefix(service.GetKey(), prefix) {
			continue
		}
		services = append(services, service)
		versions = append(versions, version{node.Path, node.Stat.Czxid, node.Stat.Mzxid})
	}
	return services, versions
}

// parsed is what parse returns. GoFrame's panics on an address without a port.
func (r *Registry[W, In, S, M]) parsed(key, value string) (service S, err error) {
	panicked := r.client.CatchPanic("goframeregistry: the parser of services", func() { service, err = r.parse(key, value) })
	return service, errors.Join(panicked, err)
}

func (r *Registry[W, In, S, M]) decode(data []byte) (service S, err error) {
	var c content
	if err := json.Unmarshal(data, &c); err != nil {
		return service, err
	}
	return r.parsed(c.Key, c.Value)
}
