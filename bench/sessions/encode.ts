// Measures the cost of encoding a step's request in an adapter: 10, 100 and 1,000 messages, two of which are new. The
// time runs until the transport receives the text; the transport fails at once, so nothing is sent. Sizes alternate.
import type { Message, ModelRequest } from '@baton/core'
import { BatonError } from '@baton/core'
import { createNodeEnvironment } from '@baton/host'
import { createUndiciTransport } from '@baton/models/transport/undici'
import { modelOfWire } from '../clients/model-of-wire.ts'
import { ECHO_SCHEMA } from '../clients/client.ts'
import type { Measured } from '../measure.ts'
import { compared } from '../measure.ts'
import type { WireName } from '../scenarios.ts'
import { WIRES } from '../scenarios.ts'

/** Number of messages in a request; the first is the floor of its wire. */
const SIZES = [10, 100, 1000] as const
/** Total number of messages in a batch: short requests are encoded more often. */
const BATCH_MESSAGES = 20_000
const WARM_BATCHES = 5

export async function measureEncode(_origin: string, rounds: number): Promise<readonly Measured[]> {
  const measured: Measured[] = []
  for (const wire of WIRES) measured.push(...(await measureWire(wire, rounds)))
  return measured
}

async function measureWire(wire: WireName, rounds: number): Promise<readonly Measured[]> {
  const values = new Map<string, number[]>(SIZES.map((size) => [readName(wire, size), []]))
  const step = toStep(wire)
  for (let round = -WARM_BATCHES; round < rounds; round++)
    for (const size of SIZES) {
      const us = await timed(step, size)
      if (round >= 0) values.get(readName(wire, size))?.push(us)
    }
  return compared(values, readName(wire, SIZES[0]))
}

/** Milliseconds until the text reached the transport. */
type Step = (messages: readonly Message[]) => Promise<number>

function toStep(wire: WireName): Step {
  const failed = new BatonError({ code: 'model_network_failed', message: 'only the request is measured' })
  const taken = { chars: 0, atMs: 0 }
  const { clock } = createNodeEnvironment(createUndiciTransport({ variables: {} }))
  const transport = {
    post: ({ body }: { readonly body: string }) => {
      taken.atMs = performance.now()
      taken.chars = body.length
      return Promise.reject(failed)
    },
    close: () => Promise.resolve(),
  }
  const model = modelOfWire(wire, { base: 'http://127.0.0.1:9', transport, clock })
  const { signal } = new AbortController()
  return async (messages) => {
    taken.chars = 0
    const startMs = performance.now()
    const thrown: unknown = await model.run({ ...REQUEST, messages }, () => {}, signal).catch((cause: unknown) => cause)
    if (thrown !== failed || taken.chars < messages.length * 20) throw new Error(`${wire}: ${String(thrown)}`)
    return taken.atMs - startMs
  }
}

const REQUEST: Omit<ModelRequest, 'messages'> = {
  instructions: 'be brief',
  tools: [{ name: 'echo', description: 'echo', inputSchema: ECHO_SCHEMA }],
  toolChoice: { type: 'auto' },
  settings: { maxOutputTokens: 4096 },
  session: 's',
}

function readName(wire: WireName, size: number): string {
  return `${wire}, ${size.toLocaleString('en')} messages`
}

/** Microseconds for a request that begins with all of the previous request. */
async function timed(step: Step, size: number): Promise<number> {
  const requests = BATCH_MESSAGES / size
  const old = oldMessages(size - 2)
  let spentMs = 0
  for (let request = 0; request < requests; request++) {
    await step(old)
    spentMs += await step([...old, ...toolRound(size + request)])
  }
  return (spentMs * 1000) / requests
}

/**
 * A long turn: the user's question, rounds of one call each, and another user message. Every request uses the same
 * objects.
 */
function oldMessages(count: number): readonly Message[] {
  const rounds = Array.from({ length: (count - 2) / 2 }, (_, round) => toolRound(round))
  return [userMessage('A question'), ...rounds.flat(), userMessage('One thing more')]
}

function userMessage(said: string): Message {
  return { role: 'user', parts: [{ type: 'text', text: `${said}, with a few words about it.` }] }
}

function toolRound(round: number): readonly Message[] {
  const call = { callId: `call_${round}_0`, name: 'echo' }
  const content = [{ type: 'text', text: `Result number ${round}, with a few words about it.` }] as const
  return [
    { role: 'assistant', parts: [{ type: 'call', ...call, arguments: '{"text":"hello","n":1}' }] },
    { role: 'tool', parts: [{ type: 'result', ...call, isError: false, content }] },
  ]
}
