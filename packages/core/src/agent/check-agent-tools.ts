// Checks what an agent takes as its tools and its sources, and says where another value belongs. It calls none of them.
import { BatonError } from '../errors.ts'
import { ANSWER_APPROVAL } from '../machine/answer.ts'
import { SAY_OTHER_AGENT } from './names-elsewhere.ts'
import { RESERVED_NAME } from './reserved-name.ts'
import type { Tool } from './tool.ts'

/** @throws BatonError `invalid_agent` if a value is not a tool or two tools share a name */
export function nameTools(agent: string, tools: unknown): ReadonlySet<string> {
  if (!Array.isArray(tools)) {
    const message = 'tools must be an array of tools made by tool(), such as [weather, hours]'
    throw wrong(agent, message, hasSources(tools) ? SERVERS_BESIDE : undefined)
  }
  const names = new Set<string>()
  for (const [index, one] of (tools as readonly unknown[]).entries()) {
    const { name, inputSchema, effect } = { ...(one as Partial<Tool>) } // of any shape
    if (typeof name !== 'string' || inputSchema === undefined || effect === undefined)
      throw createNoTool(agent, `tools[${index}]`, one)
    if (name === RESERVED_NAME || name === ANSWER_APPROVAL)
      throw wrong(agent, `"${name}" is a name that Baton reserves`)
    if (names.has(name)) throw wrong(agent, `two tools are named "${name}"`)
    names.add(name)
  }
  return names
}

/** Leaves values of other kinds to the check of kinds. @throws BatonError `invalid_agent` for servers instead of their sources */
export function checkSources(agent: string, sources: unknown): void {
  const given: readonly unknown[] = Array.isArray(sources) ? sources : [sources]
  if (given.some(hasSources))
    throw wrong(agent, 'sources must be an array of sources', 'Write sources: servers.sources.')
}

const SERVERS_BESIDE = 'Tools of MCP servers are sources. Write sources: servers.sources beside tools.'
const SOURCES_BESIDE = 'A source lists tools that may change. Write sources: [ … ] beside tools.'
const MAKE_TOOL =
  'Write tool({ name, description, input, execute }). Convert AI SDK tools with fromAiSdk from @baton/tools/ai-sdk, and Effects with fromEffect from @baton/tools/effect.'

function createNoTool(agent: string, place: string, one: unknown): BatonError {
  const { name, models, tools, list } = { ...(one as Readonly<Record<string, unknown>> | undefined) }
  if (typeof name === 'string' && Array.isArray(models) && Array.isArray(tools))
    return wrong(agent, `${place} is the agent "${name}", not a tool`, capitalize(SAY_OTHER_AGENT))
  if (hasSources(one)) return wrong(agent, `${place} has sources, and is not a tool`, SERVERS_BESIDE)
  if (typeof list === 'function') return wrong(agent, `${place} is a source, not a tool`, SOURCES_BESIDE)
  return wrong(agent, `${place} was not made by Baton’s tool()`, MAKE_TOOL)
}

/** The servers of `createMcpServers` have their sources in a field. */
function hasSources(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'sources' in value && !('list' in value)
}

function capitalize(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
}

function wrong(agent: string, why: string, hint?: string): BatonError {
  return new BatonError({
    code: 'invalid_agent',
    message: `agent "${agent}": ${why}`,
    ...(hint !== undefined && { hint }),
  })
}
