// The provider that every client is measured against: one process, loopback, keep-alive, answers made once and kept. The
// scenario is the first part of the path: `/text-2000-b/v1/messages`; scenarios.ts says what its words mean.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { messages } from './messages.ts'
import { responses } from './responses.ts'
import type { Wire } from './wire.ts'
import { textEvents, textPiece } from './wire.ts'

/** Milliseconds between two events of a paced stream. */
const PACE_MS = 2
const HEAD = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache', 'request-id': 'req_1' }
const WIRES: Readonly<Record<string, Wire>> = { 'v1/messages': messages, 'v1/responses': responses }

const answers = createAnswers()
const server = createServer({ keepAliveTimeout: 600_000, requestTimeout: 0, noDelay: true }, (request, response) => {
  const arrivedUs = nowUs()
  bodyOf(request)
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
  const wire = WIRES[path.join('/')]
  if (!wire) {
    response.writeHead(404).end(`no wire at ${url}\n`)
    return
  }
  const [kind, ...sizes] = scenario.split('-')
  const mode = sizes.pop()
  const events = kind === 'text' ? answers.text(wire, Number(sizes[0])) : answers.tools(wire, sizes.map(Number), body)
  response.writeHead(200, HEAD)
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
  const keep = (key: string, make: () => readonly string[]): Prepared => {
    const known = kept.get(key)
    if (known) return known
    const events = make()
    const made = { whole: Buffer.from(events.join('')), pieces: events.map((event) => Buffer.from(event)) }
    kept.set(key, made)
    return made
  }
  const text = (wire: Wire, deltas: number): Prepared =>
    keep(`${wire.name} text ${deltas}`, () => textEvents(wire, deltas))
  return {
    text,
    /** As many rounds of calls as asked for, then text. */
    tools: (wire: Wire, [rounds = 0, parallel = 1, deltas = 1]: readonly number[], body: string): Prepared => {
      const round = Math.floor(wire.resultsIn(JSON.parse(body)) / parallel)
      if (round >= rounds) return text(wire, deltas)
      return keep(`${wire.name} tools ${parallel} ${round}`, () => wire.calls(round, parallel))
    },
  }
}

/** One write to the socket for each event, as fast as they go. */
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

/** Every delta says when it was written, the first one also when its request came. */
async function writeTimed(
  response: ServerResponse,
  wire: Wire,
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

async function bodyOf(request: IncomingMessage): Promise<string> {
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
