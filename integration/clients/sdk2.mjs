// Drives a server with @modelcontextprotocol/client 2.x; see steps.mjs. The era is
// "legacy" (2025-11-25), "auto" (asks first), or "pin" (2026-07-28 and nothing else).
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { run } from "./steps.mjs";

const modes = { legacy: "legacy", auto: "auto", pin: { pin: "2026-07-28" } };

await run(async ({ command, args, url, headers, era, roots, answers }, elicit) => {
  const capabilities = {};
  if (roots) capabilities.roots = {};
  if (answers) capabilities.elicitation = { form: {} };
  const client = new Client({ name: "sdk2", version: "1" }, { capabilities, versionNegotiation: { mode: modes[era] } });
  if (roots) client.setRequestHandler("roots/list", () => ({ roots: roots.map((uri) => ({ uri })) }));
  if (answers) client.setRequestHandler("elicitation/create", (request) => elicit(request.params));
  const transport = url
    ? new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } })
    : new StdioClientTransport({ command, args });
  await client.connect(transport);
  return {
    negotiated: { server: client.getServerVersion(), protocol: client.getNegotiatedProtocolVersion() },
    list: () => client.listTools(),
    ping: () => client.ping(),
    call: (params, options) => client.callTool(params, options),
    close: () => client.close(),
  };
});
