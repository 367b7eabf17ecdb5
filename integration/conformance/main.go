// Program conformance is a server for the official conformance suites: it has every tool,
// prompt and resource that they ask for by name, and is served by package streamable, so
// that what a suite finds is found in the transport of all servers here.
//
// It has no use outside tests.
package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"syscall"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolhost/toolhost/pkg/toolkit/streamable"
)

func main() {
	addr := flag.String("http", "127.0.0.1:0", "serve on `ADDR`; port 0 takes a free one")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if err := serve(ctx, *addr); err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(1)
	}
}

func serve(ctx context.Context, addr string) error {
	e, err := streamable.New(newServer(), streamable.Options{Loopback: true})
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "conformance: serving http://%s/mcp\n", l.Addr())
	return e.Serve(ctx, l)
}

func newServer() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "conformance", Version: "1"}, &mcp.ServerOptions{
		CompletionHandler:  complete,
		SubscribeHandler:   func(context.Context, *mcp.SubscribeRequest) error { return nil },
		UnsubscribeHandler: func(context.Context, *mcp.UnsubscribeRequest) error { return nil },
	})
	addTools(s)
	addChanges(s)
	addAskers(s)
	addPrompts(s)
	addResources(s)
	return s
}
