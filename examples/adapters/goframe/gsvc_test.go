package goframeregistry_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	goframeregistry "github.com/gocurator/curator/examples/adapters/goframe"
)

// What follows has the shape of GoFrame's package gsvc, as far as a registry meets it: GoFrame is no dependency.

type (
	gsvcMetadata    map[string]any
	gsvcSearchInput struct {
		Prefix   string
		Name     string
		Version  string
		Metadata gsvcMetadata
	}
	gsvcService interface {
		GetName() string
		GetVersion() string
		GetKey() string
		GetValue() string
		GetPrefix() string
		GetMetadata() gsvcMetadata
		GetEndpoints() []string
	}
	gsvcWatcher interface {
		Proceed() (services []gsvcService, err error)
		Close() error
	}
	gsvcRegistry interface {
		Register(ctx context.Context, service gsvcService) (registered gsvcService, err error)
		Deregister(ctx context.Context, service gsvcService) error
		Search(ctx context.Context, in gsvcSearchInput) (result []gsvcService, err error)
		Watch(ctx context.Context, key string) (watcher gsvcWatcher, err error)
	}
)

var _ gsvcRegistry = goframeregistry.New[gsvcWatcher, gsvcSearchInput](nil, "", newServiceWithKV)

// A service is what gsvc.LocalService is: its key is /head/deployment/namespace/name/version/endpoints.
type service struct {
	name, version, endpoints string
	metadata                 gsvcMetadata
}

func (s *service) GetName() string           { return s.name }
func (s *service) GetVersion() string        { return s.version }
func (s *service) GetMetadata() gsvcMetadata { return s.metadata }
func (s *service) GetEndpoints() []string    { return strings.Split(s.endpoints, ",") }
func (s *service) GetKey() string            { return s.GetPrefix() + "/" + s.endpoints }
func (s *service) GetPrefix() string         { return "/service/default/default/" + s.name + "/" + s.version }

func (s *service) GetValue() string {
	value, err := json.Marshal(s.metadata)
	if err != nil {
		panic(err)
	}
	return string(value)
}

func newServiceWithKV(key, value string) (gsvcService, error) {
	parts := strings.Split(strings.Trim(key, "/"), "/")
	if len(parts) < 6 {
		return nil, fmt.Errorf("invalid service key %q", key)
	}
	if !strings.Contains(parts[5], ":") {
		panic(fmt.Sprintf("invalid address %q", parts[5]))
	}
	s := &service{name: parts[3], version: parts[4], endpoints: parts[5]}
	return s, json.Unmarshal([]byte(value), &s.metadata)
}
