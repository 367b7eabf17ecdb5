// What both drivers share: they read a scenario from stdin, run its steps one after the
// other, and print one JSON object a step on stdout.
//
// Scenario: { command, args | url, headers, sdk, era, roots: [uri], answers, steps: [step] }
// Step:     { do: "list" | "ping" | "call", tool, args, progress: true, cancelAfterMs: n, answer }
// Line:     { step, ms, result | error: { code, message }, progress: [params], asked: [message] }
//
// With answers: true the client declares elicitation, and gives the answer of the step (accept,
// decline or cancel) to every question; the line says what was asked.
//
// The server is a command that the client starts, or a URL, with headers for every request.
// The first line is of the step "connect" and holds what was negotiated. The last one is
// of the step "close".
import { text } from "node:stream/consumers";

// run runs the scenario with a client of either library:
// connect(scenario, elicit) resolves to { negotiated, list(), ping(), call(params, options), close() }.
export async function run(connect) {
  const scenario = JSON.parse(await text(process.stdin));
  let client;
  let asked, answer;
  const elicit = (params) => {
    asked.push(params.message);
    return answer === "accept" ? { action: "accept", content: {} } : { action: answer };
  };
  const connected = await report("connect", async () => {
    client = await connect(scenario, elicit);
    return client.negotiated;
  });
  if (!connected) return;
  for (const step of scenario.steps) {
    await report(step.do, (line) => {
      line.asked = asked = [];
      answer = step.answer;
      return perform(client, step, line);
    });
  }
  await report("close", () => client.close());
}

async function report(step, action) {
  const line = { step };
  const start = performance.now();
  try {
    line.result = (await action(line)) ?? {};
  } catch (err) {
    line.error = { code: err?.code ?? null, message: String(err?.message ?? err) };
  }
  line.ms = Math.round(performance.now() - start);
  process.stdout.write(JSON.stringify(line) + "\n");
  return line.error === undefined;
}

function perform(client, step, line) {
  switch (step.do) {
    case "list":
      return client.list();
    case "ping":
      return client.ping();
    case "call":
      return client.call({ name: step.tool, arguments: step.args }, callOptions(step, line));
  }
  throw new Error(`unknown step ${step.do}`);
}

// callOptions are the same in both libraries. Only onprogress makes them send a token.
function callOptions(step, line) {
  const options = {};
  if (step.progress) {
    line.progress = [];
    options.onprogress = (p) => line.progress.push(p);
  }
  if (step.cancelAfterMs) options.signal = AbortSignal.timeout(step.cancelAfterMs);
  return options;
}
