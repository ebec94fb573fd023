// Test kit: reads an answer as prompted tools do (whole, split at every character, character by character) and reports
// the result.
import type { FinishReason, Model, ModelAnswer, ModelEvent, ModelRequest, ToolDeclaration } from '@baton/core/internal'
import type { PromptedFormatName } from './formats.ts'
import { withPromptedTools } from './with-prompted-tools.ts'

/** An answer: the calls that may run, and the visible text. */
export interface Meaning {
  readonly calls: readonly (readonly [name: string, input: unknown])[]
  readonly said: string
  /** Calls that the model is told to write again. */
  readonly unreadable: number
  /** Calls that end early. */
  readonly cut: number
  readonly repairs: readonly string[]
}

const text = { type: 'string' }

/** The tools that the texts call. */
export const TOOLS: readonly ToolDeclaration[] = [
  {
    name: 'look',
    description: 'Looks.',
    inputSchema: {
      type: 'object',
      properties: {
        at: text,
        times: { type: 'integer' },
        deep: { type: 'boolean' },
        tags: { type: 'array', items: text },
        where: { type: 'object' },
      },
    },
  },
  { name: 'write', description: 'Writes.', inputSchema: { type: 'object', properties: { path: text, text } } },
  {
    name: 'remove',
    description: 'Removes.',
    inputSchema: { type: 'object', properties: { path: text } },
    effect: 'once',
  },
  { name: 'agent.spawn', description: 'Spawns.', inputSchema: { type: 'object' } },
]

const REQUEST: ModelRequest = {
  instructions: '',
  messages: [{ role: 'user', parts: [{ type: 'text', text: 'go' }] }],
  tools: TOOLS,
  toolChoice: { type: 'auto' },
  settings: {},
  session: 's',
}

export interface Heard {
  readonly meaning: Meaning
  /** Streamed text. */
  readonly streamed: string
  readonly answer: ModelAnswer
}

/** @param pieces the streamed pieces of the answer's text */
export async function readHostile(
  format: PromptedFormatName,
  pieces: readonly string[],
  finish: FinishReason = 'end',
): Promise<Heard> {
  const model: Model = {
    id: 'test/model',
    provider: 'test',
    capabilities: { tools: 'none', images: false },
    run: (_, sink) => {
      for (const piece of pieces) sink({ type: 'text-delta', text: piece })
      return Promise.resolve({ parts: [{ type: 'text', text: pieces.join('') }], finish, usage: {}, model: 'm' })
    },
  }
  let streamed = ''
  const sink = (event: ModelEvent): void => void (streamed += event.type === 'text-delta' ? event.text : '')
  const answer = await withPromptedTools(model, { format }).run(REQUEST, sink, new AbortController().signal)
  return { meaning: readMeaning(answer), streamed, answer }
}

function readMeaning({ parts }: ModelAnswer): Meaning {
  const written = parts.filter((part) => part.type === 'call')
  const may = written.filter(({ unreadable, arguments: given }) => unreadable === undefined && given !== '{')
  return {
    calls: may.map(({ name, arguments: given }) => [name, JSON.parse(given)] as const),
    said: parts.map((part) => (part.type === 'text' ? part.text : '')).join(''),
    unreadable: written.filter(({ unreadable }) => unreadable !== undefined).length,
    cut: written.filter(({ arguments: given }) => given === '{').length,
    repairs: [...new Set(written.flatMap(({ repairs = [] }) => repairs))].toSorted(),
  }
}

/**
 * The meaning of a text, which must not depend on how it is split: whole, in two pieces at every character, or one by
 * one.
 */
export async function readAllCuts(
  format: PromptedFormatName,
  text: string,
  finish?: FinishReason,
): Promise<Meaning & { readonly ways: number }> {
  const { meaning, streamed } = await readHostile(format, [text], finish)
  const said = JSON.stringify([meaning, streamed])
  const cuts = Array.from({ length: Math.max(0, text.length - 1) }, (_, at) => [
    text.slice(0, at + 1),
    text.slice(at + 1),
  ])
  for (const pieces of [...cuts, text.split('')]) {
    const cut = await readHostile(format, pieces, finish)
    const now = JSON.stringify([cut.meaning, cut.streamed])
    if (now !== said) throw new Error(`${JSON.stringify(pieces)} means ${now}, and the whole text ${said}`)
  }
  if (streamed !== meaning.said)
    throw new Error(`${JSON.stringify(streamed)} was streamed of ${JSON.stringify(meaning.said)}`)
  return { ...meaning, ways: cuts.length + 2 }
}
