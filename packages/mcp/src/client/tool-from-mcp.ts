// Wraps an MCP server's tool as a Baton tool: its schema, the claims that Baton believes, and the call.
import type { EffectClass, JsonObject, JsonValue, Tool, ToolContext } from '@baton/core/internal'
import { isJsonObject, makeTool } from '@baton/core/internal'
import type { ArgumentValidator } from '@baton/runtime'
import type { CallToolResult, Tool as McpTool } from '@modelcontextprotocol/client'
import { readCallResult } from './content.ts'
import { describeLoss } from './failure.ts'
import type { McpToolOptions } from './server-config.ts'
import { cutText } from '../shared/platform.ts'

/** Maximum characters of a description shown to a model. */
const DESCRIPTION_CHARS = 4_000
const TIMEOUT_MS = 60_000

export interface McpAnswer {
  /** The tool's definition at the time of the call; the result must match its `outputSchema`. */
  readonly definition: McpTool
  readonly result: CallToolResult
}

export interface McpToolParts {
  readonly options: McpToolOptions
  readonly call: (input: JsonObject, context: ToolContext) => Promise<McpAnswer>
  readonly validator: ArgumentValidator
}

/** @throws BatonError `invalid_tool` or `invalid_schema` if the server's definition is not a valid tool */
export function toolFromMcp(definition: McpTool, { options, call, validator }: McpToolParts): Tool {
  const { name, description = '', inputSchema, annotations } = definition
  const { trust = 'untrusted', timeoutMs = TIMEOUT_MS, approval = false } = options
  const effect = readEffect(definition, options)
  const title = definition.title ?? annotations?.title
  return makeTool({
    name,
    description: cutText(description, DESCRIPTION_CHARS),
    input: freeDefaults(inputSchema as JsonObject), // parsed from JSON
    effect,
    trust,
    timeoutMs,
    approval: typeof approval === 'boolean' ? approval : approval.includes(name),
    ...(title !== undefined && { title: title.slice(0, 200) }),
    ...(annotations?.readOnlyHint === true && trust === 'trusted' && { kind: 'read' as const }),
    execute: async (given, context): Promise<unknown> => {
      // Validated by its schema.
      const { definition: called, result } = await call(given as JsonObject, context).catch((thrown: unknown) => {
        throw effect === 'once' ? describeLoss(thrown) : thrown
      })
      return readCallResult(name, result, (structured) => checkStructured(called, structured, validator))
    },
  })
}

/** Keywords that forbid more if a schema inside them allows more. */
const EXCLUSIVE = /"(?:oneOf|not|if)":/
/** Maximum nesting of schemas to look into. */
const DEPTH_MAX = 100
/** Keywords that contain values rather than schemas. */
const VALUES: readonly string[] = ['default', 'const', 'enum', 'examples', 'required']

/**
 * Many servers publish their validator's output schema, which requires properties that have a default. A caller may
 * omit those, at any depth.
 */
function freeDefaults(schema: JsonObject): JsonObject {
  return freeInner(schema, EXCLUSIVE.test(JSON.stringify(schema)) ? 0 : DEPTH_MAX)
}

function freeInner(schema: JsonObject, levels: number): JsonObject {
  const { required, properties } = schema
  const free = (value: JsonValue): JsonValue => {
    if (Array.isArray(value)) return (value as readonly JsonValue[]).map(free)
    return isJsonObject(value) ? freeInner(value, levels - 1) : value
  }
  const inner =
    levels > 0
      ? Object.fromEntries(
          Object.entries(schema).map(([name, value]) => [name, VALUES.includes(name) ? value : free(value)]),
        )
      : schema
  if (!Array.isArray(required) || !isJsonObject(properties)) return inner
  const hasDefault = (name: JsonValue): boolean => {
    const property = typeof name === 'string' && Object.hasOwn(properties, name) ? properties[name] : undefined
    return isJsonObject(property) && 'default' in property
  }
  const names = required as readonly JsonValue[]
  return names.some(hasDefault) ? { ...inner, required: names.filter((name) => !hasDefault(name)) } : inner
}

/** Checks a result against the server's output schema in bounded time, and describes any mismatch. */
async function checkStructured(
  { outputSchema }: McpTool,
  structured: JsonValue,
  validator: ArgumentValidator,
): Promise<string | undefined> {
  if (outputSchema === undefined) return undefined
  // Parsed from JSON.
  const shape = { input: outputSchema as JsonObject, subject: 'the result is' } as const
  const checked = await validator.validate(shape, JSON.stringify(structured))
  return checked.ok ? undefined : `it does not match the tool's output schema: ${checked.issues}`
}

/** An untrusted server's hints are ignored: they could make Baton repeat what must happen only once. */
function readEffect({ name, annotations }: McpTool, { effects, trust }: McpToolOptions): EffectClass {
  const said = effects && Object.hasOwn(effects, name) ? effects[name] : undefined
  if (said !== undefined) return said
  if (trust !== 'trusted') return 'once'
  if (annotations?.readOnlyHint === true) return 'pure'
  return annotations?.idempotentHint === true ? 'idempotent' : 'once'
}
