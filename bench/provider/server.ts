// The provider that every client is measured against: one process, loopback, keep-alive, with cached answers. The first
// part of the path is the scenario: `/text-2000-b/v1/messages`; scenarios.ts explains its words.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { chat } from './chat.ts'
import { converse } from './converse.ts'
import { gemini } from './gemini.ts'
import { messages } from './messages.ts'
import { responses } from './responses.ts'
import type { TextWire, Wire, WireEvent } from './wire.ts'
import { textEvents, textPiece } from './wire.ts'

/** Milliseconds between two events of a paced stream. */
const PACE_MS = 2
const EVENTS = 'text/event-stream; charset=utf-8'
const HEAD = { 'cache-control': 'no-cache', 'request-id': 'req_1' }
const WIRES: Readonly<Record<string, Wire | TextWire>> = {
  'v1/messages': messages,
  'v1/responses': responses,
  'v1/chat/completions': chat,
  'v1beta/models/mock-model:streamGenerateContent': gemini,
  'model/mock-model/converse-stream': converse,
}

const answers = createAnswers()
const server = createServer({ keepAliveTimeout: 600_000, requestTimeout: 0, noDelay: true }, (request, response) => {
  const arrivedUs = nowUs()
  buildBody(request)
    .then((body) => answer({ url: request.url ?? '', body, arrivedUs }, response))
    .catch((cause: unknown) => response.destroy(cause as Error))
})
server.listen(0, '127.0.0.1', 4096, () => process.send?.({ port: (server.address() as AddressInfo).port }))
process.on('disconnect', () => process.exit(0))

interface Asked {
  readonly url: string
  readonly body: string
  readonly arrivedUs: bigint
}

async function answer({ url, body, arrivedUs }: Asked, response: ServerResponse): Promise<void> {
  const [, scenario = '', ...path] = (url.split('?')[0] ?? '').split('/')
  const wire = WIRES[decodeURIComponent(path.join('/'))]
  const [kind, ...sizes] = scenario.split('-')
  if (!wire || (kind !== 'text' && !('calls' in wire))) {
    response.writeHead(404).end(`no wire at ${url}\n`)
    return
  }
  const mode = sizes.pop()
  const events =
    'calls' in wire && kind !== 'text'
      ? answers.tools(wire, sizes.map(Number), body)
      : answers.text(wire, Number(sizes[0]))
  response.writeHead(200, { 'content-type': wire.contentType ?? EVENTS, ...HEAD })
  if (mode === 'b') response.end(events.whole)
  else if (mode === 'e') writeEach(response, events.pieces)
  else if (mode === 'p') await writePaced(response, events.pieces)
  else await writeTimed(response, wire, { count: Number(sizes[0]), arrivedUs })
}

interface Prepared {
  readonly whole: Buffer
  readonly pieces: readonly Buffer[]
}

function createAnswers() {
  const kept = new Map<string, Prepared>()
  const keep = (key: string, make: () => readonly WireEvent[]): Prepared => {
    const known = kept.get(key)
    if (known) return known
    const pieces = make().map((event) => Buffer.from(event as string)) // either overload accepts its own type
    const made = { whole: Buffer.concat(pieces), pieces }
    kept.set(key, made)
    return made
  }
  const text = (wire: TextWire, deltas: number): Prepared =>
    keep(`${wire.name} text ${deltas}`, () => textEvents(wire, deltas))
  return {
    text,
    /** The requested number of call rounds, then text. */
    tools: (wire: Wire, [rounds = 0, parallel = 1, deltas = 1]: readonly number[], body: string): Prepared => {
      const round = Math.floor(wire.resultsIn(JSON.parse(body)) / parallel)
      if (round >= rounds) return text(wire, deltas)
      return keep(`${wire.name} tools ${parallel} ${round}`, () => wire.calls(round, parallel))
    },
  }
}

/** One write to the socket for each event, as fast as possible. */
function writeEach(response: ServerResponse, pieces: readonly Buffer[]): void {
  response.flushHeaders()
  let next = 0
  const step = (): void => {
    if (response.destroyed) return
    const piece = pieces[next++]
    if (!piece) response.end()
    else if (response.write(piece)) setImmediate(step)
    else response.once('drain', step)
  }
  setImmediate(step)
}

async function writePaced(response: ServerResponse, pieces: readonly Buffer[]): Promise<void> {
  response.flushHeaders()
  for (const piece of pieces) {
    response.write(piece)
    await pause(PACE_MS)
  }
  response.end()
}

/** Every delta contains its write time, and the first one also contains the arrival time of its request. */
async function writeTimed(
  response: ServerResponse,
  wire: TextWire,
  { count, arrivedUs }: { readonly count: number; readonly arrivedUs: bigint },
): Promise<void> {
  response.flushHeaders()
  for (const event of wire.open()) response.write(event)
  await pause(3 * PACE_MS)
  for (let index = 0; index < count; index++) {
    response.write(wire.delta(`${index === 0 ? `A${arrivedUs};` : ''}T${nowUs()};`, index))
    await pause(PACE_MS)
  }
  for (const event of wire.close(textPiece(0), count)) response.write(event)
  response.end()
}

async function buildBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

function nowUs(): bigint {
  return process.hrtime.bigint() / 1000n
}

function pause(delayMs: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, delayMs))
}
