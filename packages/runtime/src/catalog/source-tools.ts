// The tools of one session: the agent's own, then those of its sources as they change, with one policy for name
// collisions.
import type { Agent, Logger, Timers, Tool, ToolSource } from '@baton/core/internal'
import { BatonError, isLegalName } from '@baton/core/internal'
import { within } from '../deadline.ts'
import { describeThrown } from '../describe-thrown.ts'
import { hasTasks, isTaskTool } from '../work/background.ts'

export interface SourceToolsOptions {
  readonly session: string
  readonly agent: Agent
  /** The agent's sources, then those of this session. */
  readonly sources: readonly ToolSource[]
  /** Tools that every agent has. */
  readonly always: readonly Tool[]
  readonly timers: Timers
  readonly log: Logger
}

/** Milliseconds to wait for a source to list its tools or to close. */
const SOURCE_MS = 10_000
/** Tools of one session; more are skipped and logged. */
const TOOLS_MAX = 512

export class SourceTools {
  readonly #init: SourceToolsOptions
  readonly #listed = new Map<ToolSource, readonly Tool[]>()
  /** The newest listing of each source. An older listing that arrives late is ignored. */
  readonly #latest = new Map<ToolSource, Promise<ListedTools>>()
  readonly #stops: (() => void)[] = []
  #tools: readonly Tool[] = []
  #onChange: () => void = () => {}
  /** Sources being listed again, and whether they changed meanwhile. */
  readonly #relisting = new Map<ToolSource, boolean>()
  #isOpen = false
  #closed = false

  private constructor(init: SourceToolsOptions) {
    this.#init = init
  }

  /** @throws BatonError `invalid_agent` if two tools share a name and the agent refuses collisions */
  static async open(init: SourceToolsOptions): Promise<SourceTools> {
    const tools = new SourceTools(init)
    await Promise.all(init.sources.map((source) => tools.#begin(source)))
    tools.#sort()
    try {
      tools.#tools = tools.#merge('opening')
    } catch (cause) {
      await tools.close()
      throw cause
    }
    tools.#isOpen = true
    return tools
  }

  tools(): readonly Tool[] {
    return this.#tools
  }

  /** Called after every change of the tools. */
  onChange(listener: () => void): void {
    this.#onChange = listener
  }

  async close(): Promise<void> {
    this.#closed = true
    for (const stop of this.#stops)
      try {
        stop()
      } catch (cause) {
        this.#init.log.warn('unsubscribing from a tool source failed', { cause: describeThrown(cause) })
      }
    await Promise.all(
      this.#init.sources.map((source) => this.#guard(source, 'could not be closed', () => source.close?.())),
    )
  }

  async #follow(source: ToolSource): Promise<void> {
    const stop = await this.#guard(source, 'cannot be followed', () =>
      source.onChange?.(() => this.#relistSoon(source)),
    )
    if (typeof stop === 'function') this.#stops.push(stop)
  }

  /** Follows a source before its first listing, so that no change falls between the two. Never rejects. */
  async #begin(source: ToolSource): Promise<void> {
    this.#relisting.set(source, false)
    await this.#follow(source)
    await this.#list(source)
    this.#endListing(source)
  }

  /** Sorts listings by the order of the sources, whichever was the fastest. Sources that are late come last. */
  #sort(): void {
    for (const source of this.#init.sources) {
      const listed = this.#listed.get(source)
      this.#listed.delete(source)
      if (listed) this.#listed.set(source, listed)
    }
  }

  /** One listing at a time: a source that changes meanwhile, however often, is listed once more. */
  #relistSoon(source: ToolSource): void {
    if (this.#relisting.has(source)) {
      this.#relisting.set(source, true)
      return
    }
    this.#relisting.set(source, false)
    void this.#list(source).then(() => {
      this.#mergeChange()
      this.#endListing(source)
    })
  }

  #endListing(source: ToolSource): void {
    const isChanged = this.#relisting.get(source) === true
    this.#relisting.delete(source)
    if (isChanged && !this.#closed) this.#relistSoon(source)
  }

  /** Never rejects. */
  async #list(source: ToolSource): Promise<void> {
    const listing = (async () => copyTools(await source.list()))()
    this.#latest.set(source, listing)
    const listed = await this.#guard(source, 'lists no tools', () => listing)
    if (listed || this.#isOpen) this.#keep(source, listed)
    // A source may just be slow, for example a server that is downloaded first. Its tools join when they arrive.
    if (!listed)
      listing.then(
        (late) => {
          if (this.#latest.get(source) !== listing) return
          this.#keep(source, late)
          this.#mergeChange()
        },
        () => {}, // a failure is logged above
      )
  }

  #keep(source: ToolSource, { tools, leftOut }: ListedTools = { tools: [], leftOut: 0 }): void {
    const { log, session } = this.#init
    if (leftOut > 0)
      log.warn('a tool source listed something that is not a tool', {
        session,
        source: source.name,
        leftOut,
        hint: 'Make tools with tool().',
      })
    this.#listed.set(source, tools)
  }

  /** The opening merges what was listed before it. */
  #mergeChange(): void {
    if (this.#closed || !this.#isOpen) return
    this.#tools = this.#merge('change')
    this.#onChange()
  }

  /** Calls a source, which is foreign code: it may throw, hang or return garbage. */
  async #guard<Value>(
    source: ToolSource,
    what: string,
    act: () => Value | Promise<Value>,
  ): Promise<Awaited<Value> | undefined> {
    const { timers, log, session } = this.#init
    const message = `the source "${source.name}" did not answer in ${SOURCE_MS} ms`
    const limit = { timeoutMs: SOURCE_MS, error: () => new BatonError({ code: 'internal', message }) }
    try {
      return await within(timers, limit, Promise.resolve(act()))
    } catch (cause) {
      log.warn(`a tool source ${what}`, { session, source: source.name, cause: describeThrown(cause) })
      return undefined
    }
  }

  #merge(when: 'opening' | 'change'): readonly Tool[] {
    const { agent, always, log, session } = this.#init
    const byName = new Map<string, Tool>([...agent.tools, ...always].map((tool) => [tool.name, tool]))
    const needsTasks = hasTasks(agent, [...byName.values(), ...[...this.#listed.values()].flat()])
    const taken: TakenNames = {
      has: (name) => byName.has(name) || (needsTasks && isTaskTool(name)),
      ownerOf: (name) => (byName.has(name) ? (byName.get(name)?.source ?? 'the agent itself') : 'Baton itself'),
    }
    for (const [source, listed] of this.#listed)
      for (const tool of listed) {
        const named = this.#resolve(taken, source, tool, when)
        if (!named) log.warn('a tool is skipped: its name is taken', { session, source: source.name, tool: tool.name })
        else if (byName.size < TOOLS_MAX) byName.set(named.name, named)
        else log.warn('a tool is skipped: there are too many', { session, source: source.name, limit: TOOLS_MAX })
      }
    return [...byName.values()]
  }

  /** The tool under its name in this session; undefined if it is skipped. */
  #resolve(taken: TakenNames, source: ToolSource, tool: Tool, when: 'opening' | 'change'): Tool | undefined {
    const { collisions, name: agent } = this.#init.agent
    const own = { ...tool, source: source.name, ...networkOf(tool, source) }
    if (!taken.has(tool.name)) return own
    if (collisions === 'prefix') {
      const name = `${source.name}.${tool.name}`
      return taken.has(name) ? undefined : { ...own, name }
    }
    if (collisions === 'first' || when === 'change') return undefined
    const other = taken.ownerOf(tool.name)
    throw new BatonError({
      code: 'invalid_agent',
      message: `agent "${agent}": the source "${source.name}" and ${other} both have a tool named "${tool.name}"`,
      hint: 'Set the agent’s collisions to "first" or "prefix", or rename one of the tools.',
    })
  }
}

interface TakenNames {
  has(name: string): boolean
  /** A source's name, or words for another owner. */
  ownerOf(name: string): string
}

/** Applies the source's network setting to tools that have none. */
function networkOf(tool: Tool, source: ToolSource): { readonly network?: boolean } {
  const network = tool.network ?? source.network
  return network === undefined ? {} : { network }
}

const EFFECTS: ReadonlySet<unknown> = new Set<Tool['effect']>(['pure', 'idempotent', 'once'])

interface ListedTools {
  readonly tools: readonly Tool[]
  /** Number of entries that are not tools. */
  readonly leftOut: number
}

/**
 * Copies the tools, since a source may change its own. Values that `tool()` would not have made are skipped and
 * counted.
 */
function copyTools(listed: unknown): ListedTools {
  if (!Array.isArray(listed)) throw new TypeError('list() must return an array of tools')
  const tools = listed.flatMap((given: unknown): readonly Tool[] => {
    try {
      const copy = { ...(given as Tool) } // checked below
      return isTool(copy) ? [{ ...copy, inputSchema: structuredClone(copy.inputSchema) }] : []
    } catch {
      return []
    }
  })
  return { tools, leftOut: listed.length - tools.length }
}

function isTool({ name, description, input, inputSchema, effect, timeoutMs, execute }: Tool): boolean {
  return (
    isLegalName(name) &&
    typeof description === 'string' &&
    (typeof input === 'object' || typeof input === 'function') &&
    JSON.stringify(inputSchema).startsWith('{') &&
    EFFECTS.has(effect) &&
    timeoutMs > 0 &&
    (execute === undefined || typeof execute === 'function')
  )
}
