// Drives a server with @modelcontextprotocol/sdk 1.x (protocol 2025-11-25); see steps.mjs.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { run } from "./steps.mjs";

await run(async ({ command, args }) => {
  const client = new Client({ name: "sdk1", version: "1" });
  await client.connect(new StdioClientTransport({ command, args }));
  return {
    negotiated: { server: client.getServerVersion() },
    list: () => client.listTools(),
    ping: () => client.ping(),
    call: (params, options) => client.callTool(params, undefined, options),
    close: () => client.close(),
  };
});
