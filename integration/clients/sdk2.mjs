// Drives a server with @modelcontextprotocol/client 2.x; see steps.mjs. The era is
// "legacy" (2025-11-25), "auto" (asks first), or "pin" (2026-07-28 and nothing else).
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { run } from "./steps.mjs";

const modes = { legacy: "legacy", auto: "auto", pin: { pin: "2026-07-28" } };

await run(async ({ command, args, era }) => {
  const client = new Client({ name: "sdk2", version: "1" }, { versionNegotiation: { mode: modes[era] } });
  await client.connect(new StdioClientTransport({ command, args }));
  return {
    negotiated: { server: client.getServerVersion(), protocol: client.getNegotiatedProtocolVersion() },
    list: () => client.listTools(),
    ping: () => client.ping(),
    call: (params, options) => client.callTool(params, options),
    close: () => client.close(),
  };
});
