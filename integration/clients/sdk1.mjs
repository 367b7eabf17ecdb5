// Drives a server with @modelcontextprotocol/sdk 1.x (protocols 2024-11-05 to 2025-11-25);
// see steps.mjs. The scenario's sdk is the package to import, under which the versions are
// installed side by side.
import { run } from "./steps.mjs";

await run(async (scenario, elicit) => {
  const { Client } = await import(`${scenario.sdk}/client/index.js`);
  const capabilities = {};
  if (scenario.roots) capabilities.roots = {};
  if (scenario.answers) capabilities.elicitation = {};
  const client = new Client({ name: "sdk1", version: "1" }, { capabilities });
  if (scenario.roots) {
    const { ListRootsRequestSchema } = await import(`${scenario.sdk}/types.js`);
    client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: scenario.roots.map((uri) => ({ uri })) }));
  }
  if (scenario.answers) {
    const { ElicitRequestSchema } = await import(`${scenario.sdk}/types.js`);
    client.setRequestHandler(ElicitRequestSchema, (request) => elicit(request.params));
  }
  const transport = await newTransport(scenario);
  await client.connect(transport);
  return {
    negotiated: { server: client.getServerVersion() },
    list: () => client.listTools(),
    ping: () => client.ping(),
    call: (params, options) => client.callTool(params, undefined, options),
    close: async () => {
      await transport.terminateSession?.(); // HTTP only; what follows just drops the connection
      await client.close();
    },
  };
});

// 1.0.4 has no streamable HTTP, so its module is imported only where it is used.
async function newTransport({ sdk, command, args, url, headers }) {
  if (url) {
    const { StreamableHTTPClientTransport } = await import(`${sdk}/client/streamableHttp.js`);
    return new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
  }
  const { StdioClientTransport } = await import(`${sdk}/client/stdio.js`);
  return new StdioClientTransport({ command, args });
}
