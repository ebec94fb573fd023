// Hides many tools behind a search tool: the schemas of hundreds of tools cost more than the conversation, and models
// choose worse among them. A tool that was found or called stays in later requests while the window shows it.
import type { Agent, JsonObject, Message, Tool } from '@baton/core'
import { tool } from '@baton/core'

/** The tool that finds tools. It is offered if others are deferred. */
const SEARCH_TOOLS = 'tools.search'

/** More tools than this are deferred. */
const TOOLS_MAX = 30
/** Tools are deferred if their schemas take more than this share of the model's window. */
const WINDOW_SHARE = 0.2
const CHARS_PER_TOKEN = 4
/** Maximum found tools in one request; the newest stay. */
const FOUND_MAX = 64
const RESULTS = { usual: 8, most: 20 } as const
/** Characters of a description in a result; the request has the full description. */
const DESCRIPTION_CHARS = 300

export interface ToolSearch {
  readonly tool: Tool
  /** The agent's window, including the cost of a request's tools: the permanent ones, and some found ones. */
  measure(agent: Pick<Agent, 'window' | 'instructions'>): Agent['window']
  /** The tools to declare: the permanent ones, then those found or called in these messages, in that order. */
  choose(messages: readonly Message[]): readonly Tool[]
}

/**
 * Returns undefined if every request has all tools: at most 30, whose schemas take at most a fifth of the window.
 * @param contextTokens size of the model's window; undefined if unknown
 */
export function createToolSearch(tools: readonly Tool[], contextTokens: number | undefined): ToolSearch | undefined {
  const usual = tools.filter(({ defer }) => defer === undefined)
  const chars = usual.reduce((sum, one) => sum + countChars(one), 0)
  const isLarge = contextTokens !== undefined && chars > contextTokens * CHARS_PER_TOKEN * WINDOW_SHARE
  const isMuch = usual.length > TOOLS_MAX || isLarge
  const deferred = tools.filter(({ defer }) => defer ?? isMuch)
  if (deferred.length === 0) return undefined
  const byName = new Map(deferred.map((one) => [one.name, one]))
  const shown = tools.filter(({ name }) => !byName.has(name))
  const search = createSearchTool(deferred)
  const foundChars = (deferred.reduce((sum, one) => sum + countChars(one), 0) / deferred.length) * RESULTS.usual
  const shownChars = [...shown, search].reduce((sum, one) => sum + countChars(one), foundChars)
  return {
    tool: search,
    measure: ({ window, instructions }) => ({
      ...window,
      overheadTokens: window.overheadTokens || Math.ceil((instructions.length + shownChars) / CHARS_PER_TOKEN),
    }),
    choose: (messages) => [...shown, search, ...listSeen(messages, byName)],
  }
}

function countChars({ name, description, inputSchema }: Pick<Tool, 'name' | 'description' | 'inputSchema'>): number {
  return name.length + description.length + JSON.stringify(inputSchema).length
}

/** In order of first appearance, so that a provider's prompt cache recognises the start of the list. */
function listSeen(messages: readonly Message[], deferred: ReadonlyMap<string, Tool>): readonly Tool[] {
  const names = new Set<string>()
  for (const { role, parts } of messages) {
    if (role === 'user') continue
    for (const part of parts) {
      if (part.type === 'call') names.add(part.name)
      if (part.type !== 'result' || part.name !== SEARCH_TOOLS || part.isError) continue
      for (const piece of part.content)
        if (piece.type === 'text') for (const name of readNames(piece.text)) names.add(name)
    }
  }
  const seen = [...names].flatMap((name) => deferred.get(name) ?? [])
  return seen.slice(-FOUND_MAX)
}

/** Also reads a result whose end moved behind a handle. */
function readNames(text: string): readonly string[] {
  return [...text.matchAll(/"name":("(?:[^"\\]|\\.){1,1000}")/g)].flatMap(([, name = '']) => {
    try {
      return [String(JSON.parse(name))]
    } catch {
      return []
    }
  })
}

function createSearchTool(deferred: readonly Tool[]): Tool {
  const index = deferred.map((one) => ({ one, words: countWords(one) }))
  const rarity = createRarity(index.map(({ words }) => words))
  return tool({
    name: SEARCH_TOOLS,
    description: describeSearch(deferred),
    input: {
      type: 'object',
      properties: {
        query: { type: 'string', minLength: 1, maxLength: 500, description: 'What you want to do, in a few words' },
        limit: { type: 'integer', minimum: 1, maximum: RESULTS.most, description: `${RESULTS.usual} by default` },
      },
      required: ['query'],
      additionalProperties: false,
    },
    effect: 'pure',
    kind: 'search',
    execute: ({ query, limit = RESULTS.usual }) => {
      const asked = [...new Set(splitWords(query))]
      const found = index
        .map(({ one, words }) => ({ one, score: score(asked, words, rarity) + (one.name === query ? 100 : 0) }))
        .filter((candidate) => candidate.score > 0)
        .toSorted((left, right) => right.score - left.score)
      const tools = found.slice(0, limit).map(({ one: { name, description } }) => ({
        name,
        description: description.slice(0, DESCRIPTION_CHARS),
      }))
      if (tools.length === 0) return { tools, hint: 'Nothing fits. Try other words, or continue without it.' }
      return { tools, more: found.length - tools.length, hint: 'You can call these tools now.' }
    },
  })
}

/** Lists the tools' sources, which tell a model whether a search makes sense. */
function describeSearch(deferred: readonly Tool[]): string {
  const sources = new Map<string, number>()
  for (const { source } of deferred) if (source !== undefined) sources.set(source, (sources.get(source) ?? 0) + 1)
  const named = [...sources].slice(0, 20).map(([source, count]) => `${source} (${count})`)
  const from = named.length === 0 ? '' : ` They come from ${named.join(', ')}.`
  return `Finds tools by what they do. ${deferred.length} tools are not shown to you.${from} Search here before you say that you cannot do something. You can call a tool once it is found.`
}

type WordCounts = ReadonlyMap<string, number>

/** Words of the name count most, then those of the description, then argument names. */
function countWords({ name, title = '', description, inputSchema }: Tool): WordCounts {
  const counts = new Map<string, number>()
  const add = (text: string, weight: number): void => {
    for (const word of splitWords(text)) counts.set(word, Math.max(counts.get(word) ?? 0, weight))
  }
  add(`${name} ${title}`, 3)
  add(description, 2)
  const { properties } = inputSchema as { readonly properties?: JsonObject }
  add(Object.keys(properties ?? {}).join(' '), 1)
  return counts
}

/** `listPullRequests` and `list_pull_requests` give the same words; plurals count as singulars. */
function splitWords(text: string): readonly string[] {
  const apart = text.replaceAll(/(\p{Ll}|\d)(\p{Lu})/gu, '$1 $2')
  return (apart.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).map((word) =>
    word.length > 3 ? word.replace(/s$/, '') : word,
  )
}

/** A word that occurs in few tools weighs more. */
function createRarity(all: readonly WordCounts[]): (word: string) => number {
  const tools = new Map<string, number>()
  for (const words of all) for (const word of words.keys()) tools.set(word, (tools.get(word) ?? 0) + 1)
  return (word) => Math.log(1 + all.length / (tools.get(word) ?? all.length))
}

function score(asked: readonly string[], words: WordCounts, rarity: (word: string) => number): number {
  let sum = 0
  for (const word of asked) {
    const weight = words.get(word)
    if (weight !== undefined) sum += weight * rarity(word)
    // Half the weight if one word is a prefix of the other.
    else if (
      word.length > 3 &&
      [...words.keys()].some((other) => other.startsWith(word) || (other.length > 3 && word.startsWith(other)))
    )
      sum += rarity(word) / 2
  }
  return sum
}
