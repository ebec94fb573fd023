// Decides what the offline model does next: call tools, answer from results, or say that it cannot help. Pure.
import type { JsonObject, Message, ModelRequest, ResultPart, ToolDeclaration } from '@baton/core/internal'
import { readText } from '@baton/core/internal'
import { summariseResult } from './answer.ts'
import type { Filled, Token } from './fill-arguments.ts'
import { fillArguments, isFile, listProperties, readRequest, listStems } from './fill-arguments.ts'

interface PlannedCall {
  readonly name: string
  readonly arguments: JsonObject
}

export type Plan =
  { readonly type: 'call'; readonly calls: readonly PlannedCall[] } | { readonly type: 'say'; readonly text: string }

const CALLS_MAX = 4
/** UTF-16 units of a request that are read; requests state what they want early on. */
const TEXT_CHARACTERS_MAX = 2000
const TOOLS_LISTED_MAX = 12
const [NAME_WEIGHT, DESCRIPTION_WEIGHT, SCHEMA_WEIGHT] = [3, 1, 0.7]
/** Score of a value that fits a property, relative to a matched word. */
const VALUE_SCORE = 0.6
/** Minimum share of a request's words and values that a tool must match. */
const SHARE_MIN = 0.4
/**
 * How much better a tool that must not be called has to match to be mentioned instead of calling the best allowed one.
 */
const CLEARLY_BETTER = 1.2
/** At the start of a request, these ask for a change and require a tool with the same verb. */
const ACTS: ReadonlySet<string> = new Set(
  listStems(
    'delete remove write create edit change update send deploy rename move install run fix add cancel post book buy make build set start stop draw translate explain summarize summarise',
  ),
)
const WHAT_IT_IS = 'I am the offline planner, not a language model: I match your words with the tools that I may call.'

export function plan(request: ModelRequest): Plan {
  const { text, results } = lastExchange(request.messages)
  if (results.length > 0) return say(answerFrom(results, request.messages))
  const { toolChoice } = request
  const tools = request.tools.filter(
    ({ name }) => toolChoice.type !== 'none' && (toolChoice.type !== 'tool' || name === toolChoice.name),
  )
  const isForced = toolChoice.type === 'any' || toolChoice.type === 'tool'
  const tokens = readRequest(text)
  const saysNothing = tokens.every(({ kind, stems }) => kind === 'word' && stems.length === 0)
  if (saysNothing && !isForced && /\p{L}/u.test(text)) return say(`Hello! ${WHAT_IT_IS}\n${whatCanBeAsked(tools)}`)
  const choices = rankTools(tokens, tools, isForced)
  const best = choices.find(({ tool }) => isCallable(tool))
  const [other] = choices.filter(({ tool }) => !isCallable(tool)).toSorted((left, right) => right.score - left.score)
  if (!isForced && other && other.score > (best?.score ?? 0) * CLEARLY_BETTER)
    return say(
      `${other.tool.name} fits, but it may change something, and I call only tools that are declared pure. ${WHAT_IT_IS} Configure a model for this.`,
    )
  if (!best) return say(`I cannot help with that. ${WHAT_IT_IS}\n${whatCanBeAsked(tools)}`)
  const { missing } = best.filled
  if (missing.length > 0)
    return say(
      `${best.tool.name} fits, but your words do not mention its ${missing.join(' and ')}. Please name it, in quotes if it is unusual.`,
    )
  return { type: 'call', calls: callsFor(best, tokens) }
}

interface Choice {
  readonly tool: ToolDeclaration
  readonly filled: Filled
  readonly score: number
}

/**
 * Returns matching tools, best first; tools with all their arguments rank higher. If a call is forced, returns all
 * tools.
 */
function rankTools(tokens: readonly Token[], tools: readonly ToolDeclaration[], isForced: boolean): readonly Choice[] {
  const documents = tools.map(buildDocument)
  const isIn = (word: string): number => documents.filter((document) => document.has(word)).length
  const implied = impliedStems(tokens)
  const values = tokens.filter(({ kind }) => kind !== 'word')
  const [head = ''] = tokens.flatMap(({ stems }) => stems)
  const choices = tools.map((tool, index) => {
    const document = documents[index] ?? new Map<string, number>()
    const filled = fillArguments(tool, tokens)
    // A word used as an argument need not match the tool.
    const asked = new Set([...tokens.flatMap((token) => (filled.used.has(token) ? [] : token.stems)), ...implied])
    for (const word of tokens.flatMap(({ stems }) => stems)) if (document.has(word)) asked.add(word)
    const matched = [...asked].filter((word) => document.has(word))
    const valuesUsed = values.filter((token) => filled.used.has(token)).length
    const share = (matched.length + valuesUsed) / (asked.size + values.length)
    // A word that every tool has does not discriminate.
    const scores = matched.map(
      (word) => (document.get(word) ?? 0) * Math.log(1 + (tools.length + 1) / (isIn(word) + 1)),
    )
    const score = scores.reduce((sum, one) => sum + one, VALUE_SCORE * valuesUsed)
    const fits = isForced || (matched.length > 0 && share >= SHARE_MIN && (!ACTS.has(head) || document.has(head)))
    return { tool, filled, score, fits }
  })
  const lacks = ({ filled }: Choice): number => Number(filled.missing.length > 0)
  return choices
    .filter(({ fits }) => fits)
    .sort((left, right) => lacks(left) - lacks(right) || right.score - left.score)
}

/** Weighted stems of a tool's name, description and schema. */
function buildDocument({ name, description, inputSchema }: ToolDeclaration): ReadonlyMap<string, number> {
  const schema = listProperties(inputSchema).flatMap(({ stems }) => stems)
  return new Map([
    ...schema.map((stem) => [stem, SCHEMA_WEIGHT] as const),
    ...listStems(description).map((stem) => [stem, DESCRIPTION_WEIGHT] as const),
    ...listStems(name).map((stem) => [stem, NAME_WEIGHT] as const),
  ])
}

/** Intentions that a request implies: naming a file asks for its content, and "what is in x" for a list. */
function impliedStems(tokens: readonly Token[]): readonly string[] {
  const said = tokens.flatMap(({ stems }) => stems)
  const values = tokens.filter(({ kind }) => kind !== 'word')
  if (values.some(isFile)) return listStems(said.length === 0 ? 'file content' : 'file')
  if (said.length === 1 && values.length === 0 && tokens.some(({ text }) => text === 'in'))
    return listStems('list folder')
  return values.flatMap(({ kind }) => (kind === 'path' ? listStems('folder') : kind === 'url' ? [kind] : []))
}

/** Returns one call, or one per path if the request names several and the tool takes one. */
function callsFor({ tool, filled }: Choice, tokens: readonly Token[]): readonly PlannedCall[] {
  const paths = tokens.filter(({ kind }) => kind === 'path')
  const others = paths.filter((path) => !filled.used.has(path))
  const alone = others.map((path) => tokens.filter((token) => token === path || !paths.includes(token)))
  const fillings = paths.length > others.length ? alone.map((part) => fillArguments(tool, part)) : []
  return [filled, ...fillings].slice(0, CALLS_MAX).map((filling) => ({ name: tool.name, arguments: filling.arguments }))
}

interface Exchange {
  /** The user's question: all its messages joined. */
  readonly text: string
  readonly results: readonly ResultPart[]
}

/** The user's last request and its results. A user message directly after results belongs to them. */
function lastExchange(messages: readonly Message[]): Exchange {
  const isBehind = messages.at(-1)?.role === 'user' && messages.at(-2)?.role === 'tool'
  const asked = isBehind ? messages.slice(0, -1) : messages
  const last = asked.findLastIndex(({ role }) => role === 'user') + 1
  const first = asked.slice(0, last).findLastIndex(({ role }) => role !== 'user') + 1
  const texts = asked.slice(first, last).map(({ parts }) => readText(parts))
  const results = asked.slice(last).flatMap((message) => (message.role === 'tool' ? message.parts : []))
  return { text: texts.join('\n').slice(0, TEXT_CHARACTERS_MAX), results }
}

/** The first answer mentions that no language model was involved. */
function answerFrom(results: readonly ResultPart[], messages: readonly Message[]): string {
  const told = results.map(({ name, isError, content }) => {
    const text = readText(content)
    return isError ? `${name} failed: ${text.replace(/^Error: /, '')}` : summariseResult(text)
  })
  const isFirst = !messages.some(({ role, parts }) => role === 'assistant' && readText(parts) !== '')
  return [...told, ...(isFirst ? ['(This answer was put together without a language model.)'] : [])].join('\n\n')
}

function isCallable({ effect }: ToolDeclaration): boolean {
  return effect === 'pure'
}

function whatCanBeAsked(tools: readonly ToolDeclaration[]): string {
  const callable = tools.filter(isCallable)
  if (callable.length === 0) return 'I have no tools that I may call right now. Configure a model for real answers.'
  const lines = callable.map(({ name, description }) => `- ${name}: ${description.split(/(?<=[.!?])\s/)[0] ?? ''}`)
  const rest = lines.length > TOOLS_LISTED_MAX ? [`- and ${lines.length - TOOLS_LISTED_MAX} more`] : []
  return ['I can use:', ...lines.slice(0, TOOLS_LISTED_MAX), ...rest].join('\n')
}

function say(text: string): Plan {
  return { type: 'say', text }
}
