// Lists an agent's tools for MCP clients: each under a name that MCP allows, and the tool that asks the agent itself.
import type { JsonObject, Tool, ToolSource } from '@baton/core/internal'
import { toJsonSchema } from '@baton/core/internal'
import { SourceTools } from '@baton/runtime'
import type { Tool as McpTool, ToolAnnotations } from '@modelcontextprotocol/server'
import type { ServerParts } from './options.ts'
import { cutText } from '../shared/platform.ts'

export type Offered = {
  readonly listed: McpTool
  /** It may take long, so it runs as a task if the client supports tasks. */
  readonly isLong: boolean
} & ({ readonly type: 'tool'; readonly tool: Tool } | { readonly type: 'agent' })

/** Maximum characters of a name in MCP. Illegal characters become `_`. */
const NAME_CHARS = 128
const DESCRIPTION_CHARS = 16_384

/** The current tools, for all clients of one server. */
export class Exposed {
  readonly #parts: ServerParts
  readonly #listeners = new Set<() => void>()
  #sources: Promise<SourceTools> | undefined
  /** Describing tools is expensive, so it happens once per list. */
  #described: { readonly tools: readonly Tool[]; readonly offered: readonly Offered[] } | undefined
  #isClosed = false

  constructor(parts: ServerParts) {
    this.#parts = parts
  }

  /** The order is stable while the tools stay the same. */
  async list(): Promise<readonly Offered[]> {
    const tools = await this.#listTools()
    if (this.#described?.tools !== tools) this.#described = { tools, offered: this.#describe(tools) }
    return this.#described.offered
  }

  async find(name: string): Promise<Offered | undefined> {
    return (await this.list()).find(({ listed }) => listed.name === name)
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#listeners.clear()
    const sources = await this.#sources?.catch(() => undefined) // nothing to close
    await sources?.close()
  }

  #describe(tools: readonly Tool[]): readonly Offered[] {
    const { agent, expose, limits } = this.#parts
    const names = new Set<string>()
    const offered: Offered[] = []
    if (expose !== 'agent')
      for (const tool of tools) {
        if (!tool.execute && !tool.delegation) continue
        const isLong = tool.timeoutMs > limits.taskFromMs
        offered.push({ type: 'tool', tool, isLong, listed: describeTool(tool, chooseName(tool.name, names), isLong) })
      }
    if (expose !== 'tools') {
      const name = chooseName(`ask_${agent.name}`, names)
      offered.push({ type: 'agent', isLong: true, listed: describeAgent(agent, name) })
    }
    return offered
  }

  /** Returns the same list until the tools change. */
  async #listTools(): Promise<readonly Tool[]> {
    const { agent, expose } = this.#parts
    return agent.sources.length === 0 || expose === 'agent' ? agent.tools : (await this.#openSources()).tools()
  }

  #openSources(): Promise<SourceTools> {
    if (this.#sources) return this.#sources
    const { agent, timers, log } = this.#parts
    // Sessions close the sources that they opened. Here sources only provide their lists.
    const sources = agent.sources.map(withoutClose)
    const opening = SourceTools.open({ session: 'mcp', agent, sources, always: [], timers, log })
    this.#sources = opening
    opening.then(
      (opened) => opened.onChange(() => this.#tell()),
      () => (this.#sources = undefined), // tried again at the next list
    )
    return opening
  }

  #tell(): void {
    if (!this.#isClosed) for (const listener of this.#listeners) listener()
  }
}

function withoutClose(source: ToolSource): ToolSource {
  return {
    name: source.name,
    list: () => source.list(),
    onChange: (listener) => source.onChange?.(listener) ?? (() => {}),
  }
}

function chooseName(wanted: string, taken: Set<string>): string {
  const base = wanted.replace(/[^A-Za-z0-9_.-]/g, '_').slice(0, NAME_CHARS - 4)
  let name = base
  for (let n = 2; taken.has(name); n += 1) name = `${base}_${n}`
  taken.add(name)
  return name
}

function describeTool(tool: Tool, name: string, isLong: boolean): McpTool {
  const output = describeOutput(tool)
  const annotations = describeEffect(tool)
  return {
    name,
    ...(tool.title !== undefined && { title: tool.title }),
    description: cutText(tool.description, DESCRIPTION_CHARS),
    inputSchema: chooseSchema(tool) as McpTool['inputSchema'], // `tool()` has checked that its root is an object
    ...(output && { outputSchema: output }),
    ...(Object.keys(annotations).length > 0 && { annotations }),
    ...(isLong && { execution: { taskSupport: 'optional' as const } }),
  }
}

/** An author's own JSON Schema goes out unchanged if it says that it has the dialect of MCP; others are translated. */
function chooseSchema({ input, inputSchema }: Tool): JsonObject {
  const dialect = '$schema' in input ? input.$schema : undefined
  return dialect === DIALECT ? (input as JsonObject) : inputSchema // a library's schema names no dialect
}

const DIALECT = 'https://json-schema.org/draft/2020-12/schema'

function describeEffect({ title, effect, kind }: Tool): ToolAnnotations {
  return {
    ...(title !== undefined && { title }),
    ...(effect === 'pure' && { readOnlyHint: true }),
    ...(effect !== 'once' && { idempotentHint: true }),
    ...(kind !== undefined && effect !== 'pure' && { destructiveHint: kind === 'delete' }),
  }
}

/** Returns `undefined` for a schema whose root is not an object: a text result has no structured value. */
function describeOutput({ output }: Tool): McpTool['outputSchema'] | undefined {
  if (!output) return undefined
  try {
    const schema: JsonObject = toJsonSchema(output)
    return schema['type'] === 'object' ? (schema as McpTool['outputSchema']) : undefined // its root is an object
  } catch {
    return undefined // it cannot be converted to JSON Schema
  }
}

function describeAgent({ name, instructions }: ServerParts['agent'], toolName: string): McpTool {
  const about = instructions.trim() === '' ? '' : ` Its instructions: ${instructions.trim().slice(0, 500)}`
  return {
    name: toolName,
    title: `Ask ${name}`,
    description: `Asks the agent "${name}", which works on it with its own tools and answers.${about}`,
    inputSchema: {
      type: 'object',
      properties: {
        message: { type: 'string', description: 'The message to the agent.' },
        conversation: {
          type: 'string',
          description: 'From an earlier answer, to continue that conversation. If absent, a new one starts.',
        },
      },
      required: ['message'],
      additionalProperties: false,
    },
    outputSchema: {
      type: 'object',
      properties: { conversation: { type: 'string' }, text: { type: 'string' }, stop: { type: 'string' } },
      required: ['conversation', 'text', 'stop'],
    },
    execution: { taskSupport: 'optional' },
  }
}
