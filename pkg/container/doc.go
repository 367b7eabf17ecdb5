// Package container runs commands in sandboxes: containers of a Docker engine, with an agent
// of our own as their first process.
//
// An [Engine] is found by [Connect], and makes a [Sandbox] as a [Config] says with
// [Engine.Open]. A [Sandbox] runs a [Command], several at once, each under a supervisor
// that ends its whole process tree in time, and bounds its output where it is made. Whatever
// becomes of this process, the sandbox ends: its standard input ends with it, and the engine
// removes it.
//
// What runs commands is a [Backend]. There are three: the agent in a container; `docker
// exec` where the agent cannot run, which can do less and says so ([Abilities]); and the agent
// as a plain process of this machine ([OpenLocal]), which isolates nothing.
//
// The package knows no MCP and no policy, and logs nothing. It never mounts the engine's
// socket, and hands nothing of this process's environment to a sandbox.
package container
