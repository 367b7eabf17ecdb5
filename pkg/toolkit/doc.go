// Package toolkit serves tools over MCP.
//
// A program is an [App]; [Main] gives it the command line that all servers share. A tool
// is a [Tool]: a [Definition] and three steps, Plan, Run and Render, registered with
// [Add]. Everything between the wire and these steps is here: tolerant decoding of
// arguments, approval, deadlines, progress, budgets, errors, logs and the transports.
//
// The package holds no tool, and no rule about what may run: that is package approval.
package toolkit
