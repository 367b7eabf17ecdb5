// Package protocol is what a server and the agent in a sandbox say to each other, and the
// agent to the supervisors of its commands.
//
// Both directions are streams of frames. A [Frame] is a kind, the id of the request that it
// belongs to, a header in JSON and a body of raw bytes, so that binary output costs what it
// weighs and a relay need not look inside. The server speaks first: a [Hello] request is
// answered with the agent's version, so that nothing that was said before a stream was
// attached matters. Requests may overlap, and are answered in any order.
//
//	request   answers
//	Hello     Hello
//	Ping      Ping
//	Run       Progress (as often as asked for), then Result or Failed; Ended follows a
//	          Result that left processes running
//	Poll      State or Failed
//	Kill      State or Failed, when the processes are gone
//	List      Jobs
//	Reset     Reset, when nothing runs any more; each Run and Poll and Kill that waited is
//	          answered before, with Failed
//
// The package imports the standard library only, since the agent is built from it.
package protocol
