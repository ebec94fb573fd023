// A turn with all features: a thought, texts, a server tool, two page tools at once, an approval. It stops at the
// points where a test breaks something. The model's answers depend only on its input, so a second process continues the
// same turn.
import type { Agent, Message, Model, ModelEvent, ModelPart } from '@baton/core/internal'
import { defineAgent, tool } from '@baton/core/internal'
import chatAgent from './agent.ts'

/** In the order of the turn. */
export const POINTS = [
  'before the first token',
  'in a thought',
  'in a text',
  'in a tool’s input',
  'while a tool of the server runs',
  'before the page hears of its calls',
  'while the approved tool runs',
  'in the last text',
  'after the last token',
] as const
export type Point = (typeof POINTS)[number]

export interface JourneyOptions {
  /** Resolves when the turn of a session may continue from the point. */
  readonly pass: (point: Point, session: string) => Promise<void>
  /** Notes the effect of a server tool. */
  readonly note: (tool: string, session: string) => void
  /** Called for each request to the model. */
  readonly ask?: (session: string) => void
  /** Milliseconds that the page has for a call; the agent's value by default. */
  readonly pageMs?: number
}

/** A tool waits until all pages have reached the strike; then its worker is missed, and another worker runs it. */
const TOOL_MS = 240_000

export const LAST_TEXT = 'All is done.'

export function createJourney(init: JourneyOptions): Agent {
  const look = tool({
    name: 'look',
    description: 'looks',
    input: { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] },
    effect: 'pure',
    timeoutMs: TOOL_MS,
    execute: async (_, { session }) => {
      await init.pass('while a tool of the server runs', session)
      init.note('look', session)
      return 'rain'
    },
  })
  const save = tool({
    name: 'note.save',
    description: 'saves',
    input: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
    effect: 'once',
    timeoutMs: TOOL_MS,
    approval: true,
    title: 'Save a note',
    execute: async (_, { session }) => {
      init.note('note.save', session)
      await init.pass('while the approved tool runs', session)
      return 'saved'
    },
  })
  const ofPage = chatAgent.tools
    .filter(({ name }) => name.startsWith('page.'))
    .map((one) => (init.pageMs === undefined ? one : { ...one, timeoutMs: init.pageMs }))
  return defineAgent({ name: 'journey', model: createModel(init), tools: [look, save, ...ofPage] })
}

type Sink = (event: ModelEvent) => void
type Step = (sink: Sink, pass: (point: Point) => Promise<void>) => Promise<readonly ModelPart[]>

function createModel(init: JourneyOptions): Model {
  const steps: readonly Step[] = [
    async (sink, pass) => {
      await pass('before the first token')
      sink({ type: 'reasoning-delta', text: 'It may ' })
      await pass('in a thought')
      sink({ type: 'reasoning-delta', text: 'rain.' })
      sink({ type: 'text-delta', text: 'Let me ' })
      await pass('in a text')
      sink({ type: 'text-delta', text: 'look.' })
      sink({ type: 'call-start', index: 0, name: 'look' })
      sink({ type: 'call-delta', index: 0, text: '{"place":' })
      await pass('in a tool’s input')
      sink({ type: 'call-delta', index: 0, text: '"Rome"}' })
      sink({ type: 'call-end', index: 0 })
      return [
        { type: 'reasoning', text: 'It may rain.' },
        { type: 'text', text: 'Let me look.' },
        { type: 'call', name: 'look', arguments: '{"place":"Rome"}' },
      ]
    },
    async (sink, pass) => {
      sink({ type: 'text-delta', text: 'It rains.' })
      await pass('before the page hears of its calls')
      return [
        { type: 'text', text: 'It rains.' },
        { type: 'call', name: 'page.theme', arguments: '{"theme":"dark"}' },
        { type: 'call', name: 'page.notice', arguments: '{"text":"Rain in Rome"}' },
      ]
    },
    () => Promise.resolve([{ type: 'call', name: 'note.save', arguments: '{"text":"Rain in Rome"}' }]),
    async (sink, pass) => {
      sink({ type: 'text-delta', text: 'All is ' })
      await pass('in the last text')
      sink({ type: 'text-delta', text: 'done.' })
      await pass('after the last token')
      return [{ type: 'text', text: LAST_TEXT }]
    },
  ]
  return {
    id: 'scripted/journey',
    provider: 'scripted',
    capabilities: { tools: 'native', images: false },
    run: async ({ messages, session }, sink) => {
      init.ask?.(session)
      const step = steps[countSteps(messages)]
      if (!step) throw new Error('the journey is over')
      const parts = await step(sink, (point) => init.pass(point, session))
      const finish = parts.some(({ type }) => type === 'call') ? 'tool-calls' : 'end'
      return { parts, finish, usage: {}, model: 'journey' }
    },
  }
}

/** Counts the steps since the newest user message. */
function countSteps(messages: readonly Message[]): number {
  return messages
    .slice(messages.findLastIndex(({ role }) => role === 'user'))
    .filter(({ role }) => role === 'assistant').length
}

/** Stops the turn at one point until the gate is opened. */
export function createGate(point: Point | undefined) {
  const reached = Promise.withResolvers<void>()
  const opened = Promise.withResolvers<void>()
  const pass = async (at: Point): Promise<void> => {
    if (at !== point) return
    reached.resolve()
    await opened.promise
  }
  return { pass, reached: reached.promise, open: opened.resolve }
}

/** Text that the page shows at each point. */
export const SHOWN_BY: Readonly<Partial<Record<Point, string>>> = {
  'in a thought': 'It may',
  'in a text': 'Let me',
  'in a tool’s input': 'Let me look.',
  'while a tool of the server runs': 'Let me look.',
  'before the page hears of its calls': 'It rains.',
  'in the last text': 'All is',
  'after the last token': LAST_TEXT,
}
