// pi has no MCP of its own. This extension asks the tool door for its tools and registers them under their own names.
const door = process.env.WILDTOOL_MCP_URL;
let calls = 0;

async function ask(method, params) {
  calls += 1;
  const response = await fetch(door, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
    body: JSON.stringify({ jsonrpc: "2.0", id: calls, method, params }),
  });
  if (!response.ok) throw new Error(`${method}: HTTP ${response.status} of the tool door`);
  const answer = await response.json();
  if (answer.error) throw new Error(answer.error.message);
  return answer.result;
}

export default async function (pi) {
  await ask("initialize", {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "pi with wildtool's bridge", version: "1" },
  });
  const { tools } = await ask("tools/list", {});
  for (const tool of tools)
    pi.registerTool({
      name: tool.name,
      label: tool.name,
      description: tool.description ?? "",
      parameters: tool.inputSchema,
      async execute(id, args) {
        const result = await ask("tools/call", { name: tool.name, arguments: args, _meta: { "wildtool/callId": id } });
        if (result.isError) throw new Error(result.content.map((part) => part.text).join("\n"));
        return { content: result.content, details: {} };
      },
    });
}
