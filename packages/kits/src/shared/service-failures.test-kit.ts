// All ways in which a service fails, played against each tool of a kit on a real host. The text for the model must have
// the failure's code, be declared by the tool, and never show a key.
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ErrorCode, JsonObject, Tool } from '@baton/core'
import { createHost, defineAgent } from '@baton/host'
import { createScriptedModel } from '@baton/host/testing'
import { describe, expect, test } from 'vitest'

/** Pass it to the kit as its key. The service's responses contain it, and it must never be shown. */
export const FAILURE_KEY = 'sk-live-of-a-test-0123456789'
/** Options that a kit must be opened with. */
export interface FailureLimits {
  readonly timeoutMs: number
  readonly maxBytes: number
}

/** Short only if the service is slow: otherwise a busy machine would look like a slow service. */
const SLOW_MS = 300
const USUAL_MS = 20_000
const MAX_BYTES = 64 * 1024

export interface FailingKit {
  readonly name: string
  /** Returns the tools, whose service is at `origin`, and one valid call of each. */
  readonly open: (
    origin: string,
    limits: FailureLimits,
  ) => { readonly tools: readonly Tool[]; readonly calls: readonly FailingCall[] }
  /** Answers requests that must succeed first, such as one for an access token. Returns true if it has answered. */
  readonly before?: (request: IncomingMessage, response: ServerResponse) => boolean
  /** Codes that differ for this kit, each with a reason next to it. */
  readonly differs?: Readonly<Partial<Record<SituationName, ErrorCode>>>
  /** Situations that are a success for this kit, such as a web page for a tool that reads pages. */
  readonly fine?: readonly SituationName[]
}

export interface FailingCall {
  readonly name: string
  readonly input: JsonObject
  /** Codes that differ for this tool only. */
  readonly differs?: Readonly<Partial<Record<SituationName, ErrorCode>>>
}

interface Situation {
  readonly code: ErrorCode
  readonly answer: (response: ServerResponse, elsewhere: string) => void
}

const refuse =
  (status: number, headers: Readonly<Record<string, string>> = {}) =>
  (response: ServerResponse): void => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(JSON.stringify({ message: `status ${status}, you sent ${FAILURE_KEY}` }))
  }
const say =
  (type: string, text: string) =>
  (response: ServerResponse): void => {
    response.writeHead(200, { 'content-type': type })
    response.end(text)
  }

export const SITUATIONS = {
  '401': { code: 'api_unauthorized', answer: refuse(401) },
  '403': { code: 'api_refused', answer: refuse(403) },
  '404': { code: 'api_refused', answer: refuse(404) },
  '409': { code: 'api_refused', answer: refuse(409) },
  '422': { code: 'api_refused', answer: refuse(422) },
  '429': { code: 'api_rate_limited', answer: refuse(429, { 'retry-after': '7' }) },
  '500': { code: 'api_failed', answer: refuse(500) },
  '503': { code: 'api_unavailable', answer: refuse(503) },
  /** Never answers. */
  slow: { code: 'api_unavailable', answer: () => undefined },
  /** Sends the headers, but the body never ends. */
  'slow body': {
    code: 'api_unavailable',
    answer: (response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.write('{"id":')
    },
  },
  cut: {
    code: 'api_unavailable',
    answer: (response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' })
      response.write('{"id":', () => response.destroy())
    },
  },
  huge: { code: 'api_malformed', answer: (response) => flood(response) },
  'not JSON': { code: 'api_malformed', answer: say('application/json', `<p>You sent ${FAILURE_KEY}</p>`) },
  'a web page': { code: 'api_malformed', answer: say('text/html', `<p>You sent ${FAILURE_KEY}</p>`) },
  'JSON of another shape': { code: 'api_malformed', answer: say('application/json', '[[{"x":[]}],17,null]') },
  null: { code: 'api_malformed', answer: say('application/json', 'null') },
  'a redirect to another place': {
    code: 'url_refused',
    answer: (response, elsewhere) => {
      response.writeHead(307, { location: `${elsewhere}/stolen` })
      response.end()
    },
  },
} as const satisfies Readonly<Record<string, Situation>>

export type SituationName = keyof typeof SITUATIONS
const NAMES = Object.keys(SITUATIONS) as readonly SituationName[] // the keys of the table above

/** Registers a test for each situation and tool. */
export function testServiceFailures(kit: FailingKit): void {
  describe(`${kit.name}: failures of the service`, () => {
    for (const name of NAMES)
      test.skipIf(kit.fine?.includes(name))(name, async () => {
        const failing = await startFailing(name, kit.before)
        try {
          const { tools, calls } = kit.open(failing.origin, {
            timeoutMs: name.startsWith('slow') ? SLOW_MS : USUAL_MS,
            maxBytes: MAX_BYTES,
          })
          expect(calls.map((call) => call.name).sort()).toEqual(tools.map((tool) => tool.name).sort())
          const played = await playAll(tools, calls)
          const expected = calls.map((call) => [
            call.name,
            call.differs?.[name] ?? kit.differs?.[name] ?? SITUATIONS[name].code,
          ])
          expect(played.map((one) => [one.name, one.code])).toEqual(expected)
          for (const { name: called, code, message } of played) {
            expect(message).not.toContain(FAILURE_KEY)
            const declared = tools.find((tool) => tool.name === called)?.errors ?? []
            expect(declared, `${called} must declare ${code}`).toContain(code)
          }
          expect(failing.keysElsewhere()).toBe(0)
        } finally {
          await failing.close()
        }
      })
  })
}

interface PlayedFailure {
  readonly name: string
  readonly code: string
  readonly message: string
}

async function playAll(tools: readonly Tool[], calls: readonly FailingCall[]): Promise<readonly PlayedFailure[]> {
  const all = calls.map(({ name, input }) => ({ name, arguments: input }))
  const model = createScriptedModel({ steps: [{ calls: all }, { text: 'Done.' }] })
  const agent = defineAgent({ name: 'tester', model, tools: [...tools] })
  const host = createHost({ agent })
  const played = new Map<string, PlayedFailure>()
  try {
    const session = await host.session('one')
    for await (const event of session.send('Go.')) {
      if (event.type === 'approval-requested')
        await session.decide({ approvalId: event.approvalId, decision: 'approve' })
      if (event.type !== 'call' || !event.call.result) continue
      const { name, result } = event.call
      const said = JSON.stringify(result)
      played.set(name, { name, code: 'code' in result ? result.code : result.type, message: said })
    }
    return calls.flatMap(({ name }) => played.get(name) ?? [])
  } finally {
    await host.stop()
  }
}

/** Writes more than any limit of a test. Stops if it is not read. */
function flood(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' })
  const piece = `"${'x'.repeat(8_190)}",`
  const write = (): void => {
    while (!response.destroyed && response.write(piece));
  }
  response.on('drain', write)
  response.write('[')
  write()
}

interface FailingServer {
  readonly origin: string
  readonly keysElsewhere: () => number
  close(): Promise<void>
}

async function startFailing(name: SituationName, before: FailingKit['before']): Promise<FailingServer> {
  let keysElsewhere = 0
  const elsewhere = await listen((request, response) => {
    if (JSON.stringify(request.headers).includes(FAILURE_KEY)) keysElsewhere += 1
    response.end('{}')
  })
  const main = await listen((request, response) => {
    request.resume()
    if (before?.(request, response) === true) return
    SITUATIONS[name].answer(response, elsewhere.origin)
  })
  const close = async (): Promise<void> => {
    await Promise.all([main.close(), elsewhere.close()])
  }
  return { origin: main.origin, keysElsewhere: () => keysElsewhere, close }
}

async function listen(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const server = createServer(answer)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // it listens on a port
  const close = async (): Promise<void> => {
    server.closeAllConnections()
    await new Promise((done) => server.close(done))
  }
  return { origin: `http://127.0.0.1:${port}`, close }
}
