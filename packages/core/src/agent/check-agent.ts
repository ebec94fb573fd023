// Checks an agent's definition: its tools and sources, and `firstTool`, `order` and `stopWhen`, where an unknown name would
// deny every call, or never end a turn. It calls none of the tools.
import { BatonError } from '../errors.ts'
import { ANSWER_APPROVAL } from '../machine/answer.ts'
import { SAY_OTHER_AGENT } from './names-elsewhere.ts'
import { RESERVED_NAME } from './reserved-name.ts'
import type { EventKind } from './agent-options.ts'
import type { Model } from './model.ts'
import type { Permissions } from './permissions.ts'
import { checkPermissions } from './permissions.ts'
import type { Schema } from './schema.ts'
import { toObjectSchema } from './schema.ts'
import type { Tool } from './tool.ts'
import type { OrderRule, StopRule } from '../machine/spec.ts'
import { findNameIssue } from '../shape/plain.ts'
import { describeValue } from '../shape/value-reader.ts'

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

interface Ordered {
  readonly name: string
  readonly firstTool?: string
  readonly order?: readonly OrderRule[]
  readonly sources?: readonly unknown[]
}

/**
 * @param tools names of the agent's own tools; sources may add others
 * @throws BatonError `invalid_agent`
 */
export function checkOrder(
  { name: agent, firstTool, order, sources = [] }: Ordered,
  tools: ReadonlySet<string>,
): Pick<Ordered, 'firstTool' | 'order'> {
  const refuse = (why: string, hint = FORM): BatonError =>
    new BatonError({ code: 'invalid_agent', message: `agent "${agent}": ${why}`, hint })
  const demand = (where: string, named: unknown): void => {
    if (typeof named !== 'string') throw refuse(`${where} must be the name of a tool, not ${describeValue(named)}`)
    if (tools.has(named) || sources.length > 0) return
    throw refuse(`${where} names "${named}", which is not one of its tools`, `Its tools are ${[...tools].join(', ')}.`)
  }
  if (firstTool !== undefined) demand('firstTool', firstTool)
  for (const [index, rule] of (order ?? []).entries()) {
    const where = `order[${index}]`
    const { tool, answer, after, ...rest } = Object(rule) as Readonly<Record<string, unknown>> // any value has fields
    const [unknown] = Object.keys(rest)
    if (unknown !== undefined) throw refuse(`${where} has no field "${unknown}"`)
    if ((tool === undefined) === (answer === undefined) || (answer !== undefined && answer !== true))
      throw refuse(`${where} must have either tool, the name of a tool, or answer: true`)
    if (tool !== undefined) demand(`${where}.tool`, tool)
    if (!Array.isArray(after) || after.length === 0)
      throw refuse(`${where}.after must be a list of names of tools, not ${describeValue(after)}`)
    for (const [at, named] of (after as readonly unknown[]).entries()) {
      demand(`${where}.after[${at}]`, named)
      if (named === tool) throw refuse(`${where}: "${String(named)}" cannot come after itself`)
    }
  }
  return { ...(firstTool !== undefined && { firstTool }), ...(order && { order }) }
}

/**
 * Accepts one condition or a list. `tools` are the names of the agent's own tools; with sources, others may come.
 * @throws BatonError `invalid_agent`
 */
export function checkStopWhen(
  { name: agent, stopWhen, sources = [] }: Pick<Ordered, 'name' | 'sources'> & { readonly stopWhen?: unknown },
  tools: ReadonlySet<string>,
): readonly StopRule[] {
  const conditions: readonly unknown[] = Array.isArray(stopWhen) ? stopWhen : [stopWhen]
  return conditions.map((condition, index) => {
    const where = Array.isArray(stopWhen) ? `stopWhen[${index}]` : 'stopWhen'
    const refuse = (why: string, hint = STOP_FORM): BatonError =>
      new BatonError({ code: 'invalid_agent', message: `agent "${agent}": ${where}${why}`, hint })
    if (typeof condition !== 'object' || condition === null)
      throw refuse(` must be a condition, not ${describeValue(condition)}`)
    const { tool, rounds, ...rest } = condition as Readonly<Record<string, unknown>> // any object has fields
    const [unknown] = Object.keys(rest)
    if (unknown !== undefined) throw refuse(` has no field "${unknown}"`)
    if (typeof tool === 'string' && rounds === undefined) {
      if (tools.has(tool) || sources.length > 0) return { tool }
      throw refuse(` names "${tool}", which is none of its tools`, `Its tools are ${[...tools].join(', ')}.`)
    }
    if (tool === undefined && Number.isSafeInteger(rounds) && Number(rounds) > 0) return { rounds: Number(rounds) }
    throw refuse(' must have either tool, the name of a tool, or rounds, a whole number of 1 or more')
  })
}

const STOP_FORM = "A condition is { tool: 'submit' } or { rounds: 5 }."

const FORM = "A rule is { tool: 'refund', after: ['look_up'] } or { answer: true, after: ['look_up'] }."

type BackgroundRules = Readonly<Record<string, boolean | 'model'>>

/** @throws BatonError `invalid_agent` */
export function readBackgroundRules(name: string, given: Readonly<Record<string, unknown>>): BackgroundRules {
  const rules = Object.entries(given)
  if (rules.length > 100) throw wrong(name, `background may have 100 patterns at most, not ${rules.length}`)
  for (const [pattern, value] of rules)
    if (pattern === '' || (typeof value !== 'boolean' && value !== 'model'))
      throw wrong(name, `background["${pattern}"] must be true, false or "model", not ${describeValue(value)}`)
  return Object.fromEntries(rules) as BackgroundRules // each value was checked
}

export function readPermissions(name: string, given: Permissions | readonly Permissions[]): readonly Permissions[] {
  const all = Array.isArray(given) ? (given as readonly Permissions[]) : [given as Permissions]
  return all.map((one) => checkPermissions(`agent "${name}": permissions`, one))
}

export function createNamedProfile(name: string, profile: string): BatonError {
  return new BatonError({
    code: 'invalid_agent',
    message: `agent "${name}": profile must be an object, not ${describeValue(profile)}`,
    hint: "The profile for spoken answers is an export: import { voice } from '@baton/host', and write profile: voice.",
  })
}

/** Kinds of events that an agent may accept. */
const EVENT_KINDS_MAX = 100

/** @throws BatonError `invalid_agent`, `invalid_schema` */
export function readEventKinds(name: string, given: Readonly<Record<string, unknown>>): Record<string, EventKind> {
  const kinds = Object.entries(given)
  if (kinds.length > EVENT_KINDS_MAX)
    throw wrong(name, `events may have ${EVENT_KINDS_MAX} kinds at most, not ${kinds.length}`)
  for (const [kind, value] of kinds) {
    const where = `events["${kind.slice(0, 100)}"]`
    const issue = findNameIssue(kind)
    if (issue !== undefined) throw wrong(name, `${where}: the name of an event must ${issue}`)
    if (typeof value !== 'object' || value === null)
      throw wrong(name, `${where} must be an object, not ${describeValue(value)}`, EVENT_FORM)
    const { data, trust, ...rest } = value as Readonly<Record<string, unknown>> // any object has fields
    const [unknown] = Object.keys(rest)
    if (unknown !== undefined) throw wrong(name, `${where} has no field "${unknown}"`, EVENT_FORM)
    if (trust !== undefined && trust !== 'trusted' && trust !== 'untrusted')
      throw wrong(name, `${where}.trust must be "trusted" or "untrusted", not ${describeValue(trust)}`)
    if (data !== undefined) toObjectSchema(`${where}.data of agent "${name}"`, data as Schema)
  }
  return given as Record<string, EventKind> // each was checked
}

const EVENT_FORM = "Write events: { 'order.paid': { data: z.object({ order: z.string() }) } }."

/**
 * Asserts that a value is a model or the id of one. `where` begins the message.
 * @throws BatonError `invalid_agent` for anything else, such as a model of another library
 */
export function checkModel(where: string, model: unknown): asserts model is string | Model {
  if (typeof model === 'string' && model !== '') return
  const { id, run, capabilities, doStream } = (typeof model === 'object' && model !== null ? model : {}) as Partial<
    Model & { readonly doStream: unknown }
  > // each field is checked
  const isModel = typeof id === 'string' && id !== '' && typeof run === 'function' && typeof capabilities === 'object'
  if (isModel) return
  throw new BatonError({
    code: 'invalid_agent',
    message: `${where} must be the id of a model, or a model of Baton, not ${describeValue(model)}`,
    ...(doStream !== undefined && {
      hint: 'Convert an AI SDK model with fromAiSdkModel from @baton/models/ai-sdk.',
    }),
  })
}
