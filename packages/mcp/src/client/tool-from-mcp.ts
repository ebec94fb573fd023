// A tool of an MCP server as a tool of Baton: its schema, what may be believed of what it says of itself, and the call.
import type { EffectClass, JsonObject, Tool, ToolContext } from '@baton/core'
import { tool } from '@baton/core'
import type { CallToolResult, Tool as McpTool } from '@modelcontextprotocol/client'
import { readCallResult } from './content.ts'
import type { McpToolOptions } from './server-config.ts'

/** Characters of a description that a model is shown. */
const DESCRIPTION_CHARS = 4_000
const TIMEOUT_MS = 60_000

export type CallMcpTool = (tool: McpTool, input: JsonObject, context: ToolContext) => Promise<CallToolResult>

export interface McpToolInit {
  readonly server: string
  readonly options: McpToolOptions
  readonly call: CallMcpTool
  /** A person must approve it whatever the options say, and this is why. */
  readonly changed?: string
}

/** @throws BatonError `invalid_tool`, `invalid_schema`: the server says something that is no tool */
export function toolFromMcp(definition: McpTool, { server, options, call, changed }: McpToolInit): Tool {
  const { name, description = '', inputSchema, outputSchema, annotations } = definition
  const { trust = 'untrusted', timeoutMs = TIMEOUT_MS, approval = false } = options
  const title = definition.title ?? annotations?.title
  const isAsked = changed !== undefined || (typeof approval === 'boolean' ? approval : approval.includes(name))
  const made = tool({
    name,
    description: description.slice(0, DESCRIPTION_CHARS),
    input: inputSchema as JsonObject, // it came as JSON
    effect: readEffect(definition, options),
    trust,
    timeoutMs,
    approval: isAsked,
    ...(title !== undefined && { title: title.slice(0, 200) }),
    ...(changed !== undefined && { describe: () => ({ title: `${server}: ${name}. ${changed}`.slice(0, 200) }) }),
    ...(annotations?.readOnlyHint === true && trust === 'trusted' && { kind: 'read' as const }),
    execute: async (given: JsonObject, context: ToolContext): Promise<unknown> =>
      readCallResult(name, await call(definition, given, context)),
  })
  return isObjectSchema(outputSchema) ? { ...made, output: outputSchema } : made
}

/** The host checks results by it; a schema of another root describes no value that a result can have. */
function isObjectSchema(schema: unknown): schema is JsonObject {
  return typeof schema === 'object' && schema !== null && 'type' in schema && schema.type === 'object'
}

/** A hint of a server that nobody trusts could make Baton repeat what must happen once. */
function readEffect({ name, annotations }: McpTool, { effects, trust }: McpToolOptions): EffectClass {
  const said = effects && Object.hasOwn(effects, name) ? effects[name] : undefined
  if (said !== undefined) return said
  if (trust !== 'trusted') return 'once'
  if (annotations?.readOnlyHint === true) return 'pure'
  return annotations?.idempotentHint === true ? 'idempotent' : 'once'
}
