// A tool of an MCP server as a tool of Baton: its schema, what may be believed of what it says of itself, and the call.
import type { EffectClass, JsonObject, JsonValue, Tool, ToolContext } from '@baton/core'
import { BatonError, tool } from '@baton/core'
import type { ArgumentValidator } from '@baton/runtime'
import type { CallToolResult, Tool as McpTool } from '@modelcontextprotocol/client'
import { readCallResult } from './content.ts'
import type { McpToolOptions } from './server-config.ts'
import { cutText } from '../shared/platform.ts'

/** Characters of a description that a model is shown. */
const DESCRIPTION_CHARS = 4_000
const TIMEOUT_MS = 60_000

export interface McpAnswer {
  /** What the tool was when it was called; its `outputSchema` is what the result must fit. */
  readonly definition: McpTool
  readonly result: CallToolResult
}

export interface McpToolInit {
  readonly options: McpToolOptions
  readonly call: (input: JsonObject, context: ToolContext) => Promise<McpAnswer>
  readonly validator: ArgumentValidator
}

/** @throws BatonError `invalid_tool`, `invalid_schema`: the server says something that is no tool */
export function toolFromMcp(definition: McpTool, { options, call, validator }: McpToolInit): Tool {
  const { name, description = '', inputSchema, annotations } = definition
  const { trust = 'untrusted', timeoutMs = TIMEOUT_MS, approval = false } = options
  const title = definition.title ?? annotations?.title
  return tool({
    name,
    description: cutText(description, DESCRIPTION_CHARS),
    input: freeDefaults(inputSchema as JsonObject), // it came as JSON
    effect: readEffect(definition, options),
    trust,
    timeoutMs,
    approval: typeof approval === 'boolean' ? approval : approval.includes(name),
    ...(title !== undefined && { title: title.slice(0, 200) }),
    ...(annotations?.readOnlyHint === true && trust === 'trusted' && { kind: 'read' as const }),
    execute: async (given: JsonObject, context: ToolContext): Promise<unknown> => {
      const { definition: called, result } = await call(given, context)
      return readCallResult(name, result, (structured) => checkStructured(called, structured, validator))
    },
  })
}

/** Many servers publish the schema of what their validator gives: a property with a default is required there, though a caller may leave it out. */
function freeDefaults(schema: JsonObject): JsonObject {
  const { required, properties } = schema
  if (!Array.isArray(required) || typeof properties !== 'object' || properties === null) return schema
  const hasDefault = (name: JsonValue): boolean => {
    const property: unknown = typeof name === 'string' ? Reflect.get(properties, name) : undefined
    return typeof property === 'object' && property !== null && 'default' in property
  }
  return required.some(hasDefault) ? { ...schema, required: required.filter((name) => !hasDefault(name)) } : schema
}

/**
 * What the server promises of its results, checked in bounded time.
 * @throws BatonError `result_invalid`
 */
async function checkStructured(
  { name, outputSchema }: McpTool,
  structured: JsonValue,
  validator: ArgumentValidator,
): Promise<void> {
  if (outputSchema === undefined) return
  // It came as JSON.
  const shape = { input: outputSchema as JsonObject, subject: 'the result is' } as const
  const checked = await validator.validate(shape, JSON.stringify(structured))
  if (!checked.ok)
    throw new BatonError({ code: 'result_invalid', message: `the result of "${name}" is wrong: ${checked.issues}` })
}

/** A hint of a server that nobody trusts could make Baton repeat what must happen once. */
function readEffect({ name, annotations }: McpTool, { effects, trust }: McpToolOptions): EffectClass {
  const said = effects && Object.hasOwn(effects, name) ? effects[name] : undefined
  if (said !== undefined) return said
  if (trust !== 'trusted') return 'once'
  if (annotations?.readOnlyHint === true) return 'pure'
  return annotations?.idempotentHint === true ? 'idempotent' : 'once'
}
