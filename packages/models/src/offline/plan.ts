// Decides what the offline model does next: call tools, answer from results, or say that it cannot help. Pure.
import type { JsonObject, Message, ModelRequest, ResultPart, ToolDeclaration } from '@baton/core'
import { isJsonObject, parseJson, textOf } from '@baton/core'
import { fillArguments } from './fill-arguments.ts'
import { findValues, looksLikeFile } from './find-values.ts'
import type { Choice } from './pick-tool.ts'
import { isCallable, rankTools } from './pick-tool.ts'
import { isListing, summariseResult } from './summarise-result.ts'
import { splitWords } from './words.ts'

export interface PlannedCall {
  readonly name: string
  readonly arguments: JsonObject
}

export type Plan =
  { readonly type: 'call'; readonly calls: readonly PlannedCall[] } | { readonly type: 'say'; readonly text: string }

/** Rounds of calls for one request: the first, and one more where it failed or was cut. */
const ROUNDS_MAX = 2
const CALLS_MAX = 4
/** What is read of a request: patterns over text cost the square of its length, and a request says early what it wants. */
const TEXT_CHARACTERS_MAX = 2000
const TOOLS_LISTED_MAX = 12

const WHAT_IT_IS = 'I am the offline planner, not a language model: I match your words with the tools that I may call.'

export function plan(request: ModelRequest): Plan {
  const exchange = lastExchange(request.messages)
  const tools = offered(request)
  const isForced = request.toolChoice.type === 'any' || request.toolChoice.type === 'tool'
  if (exchange.rounds.length > 0) {
    const next = tools.length > 0 && exchange.rounds.length < ROUNDS_MAX ? followUp(exchange, tools) : undefined
    return next ?? say(answerFrom(exchange, isFirstAnswer(request.messages)))
  }
  if (isGreeting(exchange.text) && !isForced) return say(`Hello! ${WHAT_IT_IS}\n${whatCanBeAsked(tools)}`)
  const [best] = rankTools(exchange.text, tools, isForced)
  const better = isForced ? undefined : betterButNotPure(request, exchange.text, best)
  if (better)
    return say(
      `${better.tool.name} fits, but it may change something, and I call only tools that are declared pure. ${WHAT_IT_IS} Configure a model for this.`,
    )
  if (!best) return say(`I cannot help with that. ${WHAT_IT_IS}\n${whatCanBeAsked(tools)}`)
  if (best.filled.missing.length > 0)
    return say(
      `${best.tool.name} fits, but your words do not say its ${best.filled.missing.join(' and ')}. Please name it, in quotes if it is unusual.`,
    )
  return { type: 'call', calls: callsFor(best, exchange.text) }
}

/** How much better a tool that may not be called must fit, to be named instead of calling the best that may. */
const CLEARLY_BETTER = 1.2

function betterButNotPure(
  { tools, toolChoice }: ModelRequest,
  text: string,
  best: Choice | undefined,
): Choice | undefined {
  if (toolChoice.type === 'none') return undefined
  const [first] = rankTools(text, tools, false)
    .filter(({ tool }) => !isCallable(tool))
    .toSorted((left, right) => right.score - left.score)
  return first && (!best || first.score > best.score * CLEARLY_BETTER) ? first : undefined
}

interface Round {
  readonly calls: readonly PlannedCall[]
  readonly results: readonly ResultPart[]
}

interface Exchange {
  /** What the user asked, all messages of it. */
  readonly text: string
  readonly rounds: readonly Round[]
}

/** The last request of the user and what was called for it. A user's message right behind results belongs to them. */
function lastExchange(messages: readonly Message[]): Exchange {
  const end =
    messages.at(-1)?.role === 'user' && messages.at(-2)?.role === 'tool' ? messages.length - 1 : messages.length
  const lastUser = messages.slice(0, end).findLastIndex(({ role }) => role === 'user')
  let firstUser = lastUser
  while (firstUser > 0 && messages[firstUser - 1]?.role === 'user') firstUser--
  const asked = messages.slice(Math.max(0, firstUser), lastUser + 1)
  const rounds: Round[] = []
  let calls: readonly PlannedCall[] = []
  for (const message of messages.slice(lastUser + 1, end)) {
    if (message.role === 'assistant')
      calls = message.parts.flatMap((part) => (part.type === 'call' ? [callOf(part.name, part.arguments)] : []))
    if (message.role === 'tool') rounds.push({ calls, results: message.parts })
  }
  const text = asked.map(({ parts }) => textOf(parts)).join('\n')
  return { text: text.slice(0, TEXT_CHARACTERS_MAX), rounds }
}

function callOf(name: string, text: string): PlannedCall {
  const parsed = parseJson(text)
  return { name, arguments: parsed.ok && isJsonObject(parsed.value) ? parsed.value : {} }
}

function offered({ tools, toolChoice }: ModelRequest): readonly ToolDeclaration[] {
  if (toolChoice.type === 'none') return []
  return tools.filter((tool) => isCallable(tool) && (toolChoice.type !== 'tool' || tool.name === toolChoice.name))
}

/** One call; or one for each file, where a sentence names several and the tool takes one. */
function callsFor({ tool, filled }: Choice, text: string): readonly PlannedCall[] {
  const found = findValues(text)
  const files = found.filter(({ kind, value }) => kind === 'path' && looksLikeFile(value))
  const others = files.filter(
    (file) => !filled.used.includes(file) && !filled.used.some(({ value }) => value === file.value),
  )
  const first = { name: tool.name, arguments: filled.arguments }
  if (files.length < 2 || others.length !== files.length - 1) return [first]
  const rest = others.map((file) =>
    fillArguments(
      tool,
      text,
      found.filter((entry) => entry === file || !files.includes(entry)),
    ),
  )
  return [first, ...rest.map((one) => ({ name: tool.name, arguments: one.arguments }))].slice(0, CALLS_MAX)
}

/** After a failure the next best tool; after a list that was cut, the rest of it. */
function followUp(exchange: Exchange, tools: readonly ToolDeclaration[]): Plan | undefined {
  const round = exchange.rounds.at(-1)
  const [call] = round?.calls ?? []
  const [result] = round?.results ?? []
  if (!round || !call || !result || round.results.length !== 1) return undefined
  if (result.isError) {
    const other = rankTools(exchange.text, tools, false).find(
      (choice) => choice.tool.name !== call.name && takesTheSame(choice, call),
    )
    return other && { type: 'call', calls: [{ name: other.tool.name, arguments: other.filled.arguments }] }
  }
  const parsed = parseJson(textOf(result.content))
  if (!parsed.ok || !isJsonObject(parsed.value) || !isListing(parsed.value)) return undefined
  const { truncated, next } = parsed.value
  const isOffered = tools.some(({ name }) => name === call.name)
  if (truncated !== true || !isJsonObject(next) || !isOffered) return undefined
  return { type: 'call', calls: [{ name: call.name, arguments: { ...call.arguments, ...next } }] }
}

/** Whether another tool takes what the failed one got: then it may know what to do with it. */
function takesTheSame({ filled }: Choice, failed: PlannedCall): boolean {
  const given = Object.entries(filled.arguments)
  return filled.missing.length === 0 && given.some(([name, value]) => failed.arguments[name] === value)
}

function answerFrom(exchange: Exchange, isFirst: boolean): string {
  const results = exchange.rounds.flatMap((round) => round.results)
  const told = results.map((result) => {
    const text = textOf(result.content)
    return result.isError ? `${result.name} failed: ${text.replace(/^Error: /, '')}` : summariseResult(text)
  })
  if (isFirst) told.push('(This answer was put together without a language model.)')
  return told.join('\n\n')
}

/** Whether the assistant has said nothing before: then it says once what it is. */
function isFirstAnswer(messages: readonly Message[]): boolean {
  return !messages.some(({ role, parts }) => role === 'assistant' && textOf(parts) !== '')
}

function isGreeting(text: string): boolean {
  const words = splitWords(text)
  const polite = new Set(
    'hi hello hey hallo howdy greetings good morning afternoon evening day there thanks thank you bye goodbye how are who what help can do ok okay yo'.split(
      ' ',
    ),
  )
  return words.length > 0 && words.length <= 6 && words.every((word) => polite.has(word))
}

function whatCanBeAsked(tools: readonly ToolDeclaration[]): string {
  if (tools.length === 0) return 'There is no tool that I may call now. Configure a model for real answers.'
  const lines = tools
    .slice(0, TOOLS_LISTED_MAX)
    .map(({ name, description }) => `- ${name}: ${description.split(/(?<=[.!?])\s/)[0] ?? ''}`)
  if (tools.length > TOOLS_LISTED_MAX) lines.push(`- and ${tools.length - TOOLS_LISTED_MAX} more`)
  return `I can use:\n${lines.join('\n')}`
}

function say(text: string): Plan {
  return { type: 'say', text }
}
