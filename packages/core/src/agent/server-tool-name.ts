// Names of provider-run tools. Each provider writes them in its own form.
import type { JsonObject } from '../json.ts'
import { isJsonObject } from '../json.ts'

/** `web_search`, `googleSearch`, `nova_grounding`, the label of an MCP server: the name that a tool choice uses. */
export function nameServerTool(tool: JsonObject): string | undefined {
  const { name, systemTool, toolSpec, function: declared, type, server_label: label } = tool
  if (typeof name === 'string') return name
  const nested = [systemTool, toolSpec, declared].find(isJsonObject)
  if (nested) return nameServerTool({ name: nested['name'] ?? '' })
  if (type === 'mcp') return typeof label === 'string' ? label : undefined
  return typeof type === 'string' ? type : Object.keys(tool)[0]
}
