// Package streamable serves an [mcp.Server] over streamable HTTP, to clients of every
// protocol era at one endpoint, /mcp.
//
// A POST that says in header or _meta that it speaks 2026-07-28 or later goes to a handler
// without sessions; everything else goes to one with sessions, for clients of 2024 to
// 2025. Round both stand the checks of Host, Origin and token, the limits on bodies,
// connections and sessions, and answers in JSON-RPC for whatever is refused.
//
//	e, err := streamable.New(server, streamable.Options{Loopback: true})
//	...
//	err = e.Serve(ctx, listener)
//
// An [Endpoint] is an [http.Handler] too, for programs that have a server of their own;
// the limits on connections and headers, and the orderly end, come with Serve only. There
// is no TLS here: that is a proxy's.
package streamable
