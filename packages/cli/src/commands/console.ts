// `baton console`: a page for operators over a store, on this machine alone. A server may be running over the same store. It changes
// something only with `--act`.
import type { Logger } from '@baton/core'
import { createConsole } from '@baton/console'
import { createStoreReader } from '@baton/host/reader'
import { secretsIn } from '@baton/models/internal'
import { createNodeListener } from '@baton/server/http'
import { OPERATOR_POWERS } from '@baton/server/internal'
import { randomBytes } from 'node:crypto'
import type { Server } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Command } from '../command.ts'
import type { Console } from '../console.ts'
import type { StoreLocation } from '../places/store-location.ts'
import { nameOfStore, openStoreToRead, storeLocation } from '../places/store-location.ts'
import { MODEL_HELP } from '../words/model-options.ts'
import { readWords } from '../words/words.ts'
import { UsageError } from '../words/usage-error.ts'
import { namePortOption } from './port-in-use.ts'
import { describeOperators } from './serve-console.ts'
import { createServerLog } from './server-log.ts'
import { readPort } from './serve-options.ts'
import { readLogOptions } from './server-options.ts'

const HELP = `baton console: a page that shows sessions, what waits, where each call is, and what it costs

Opens a store, and serves the page on this machine to whoever has the address that it prints. It only reads, so a server
may be using the same store. "baton serve --console" serves the page beside a server, with a token for each operator.

Options:
  --store URL    sqlite:FILE or postgres://HOST/DATABASE (default: BATON_STORE, then the file of this folder)
  --act          also decide, interrupt, rewind, copy, export and remove. Sessions continue in this process, with the
                 agent of --agent; one that another process holds is asked for, and refused while it works
${MODEL_HELP}
                 Without --act, the agent only shows the instructions and tools of requests
  --port NUMBER  port to listen on; 0 chooses a free one (default: 0)
  --json         print one line of JSON when the page is ready: {"event":"listening","url":"http://..."}
  --log-level NAME, --log-format NAME
                 as for "baton serve" (default: warn)

Examples:
  baton console
  baton console --store postgres://localhost/baton
  baton console --act --agent agent.ts
`

export const consoleCommand: Command = { help: HELP, run: serveConsole }

interface ConsoleWords {
  readonly location: StoreLocation
  readonly agent: string | undefined
  readonly model: string | undefined
  readonly baseUrl: string | undefined
  readonly act: boolean
  readonly port: number
  readonly json: boolean
}

interface OpenedConsole {
  readonly host: Parameters<typeof createConsole>[0]
  stop(): Promise<void>
}

const LOOPBACK = '127.0.0.1'
const DRAIN_MS = 10_000

async function serveConsole(words: readonly string[], terminal: Console): Promise<number> {
  const { variables, folder } = terminal
  const { values } = readWords(words, {
    command: 'console',
    options: {
      store: { type: 'string' },
      act: { type: 'boolean', default: false },
      agent: { type: 'string' },
      model: { type: 'string' },
      'base-url': { type: 'string' },
      port: { type: 'string', default: '0' },
      json: { type: 'boolean', default: false },
      'log-level': { type: 'string', default: 'warn' },
      'log-format': { type: 'string' },
    },
  })
  const { store, act, agent, model, json } = values
  const location = storeLocation(store, variables, folder)
  const options = { location, agent, model, baseUrl: values['base-url'], act, json, port: readPort(values.port, {}) }
  const token = randomBytes(32).toString('base64url')
  const log = await createServerLog(readLogOptions(values), terminal, [...secretsIn(variables), token])
  const opened = act ? await openToAct(options, terminal, log) : await openToRead(options, terminal, log)
  const powers = act ? OPERATOR_POWERS : (['see'] as const)
  const page = createConsole(opened.host, {
    ...describeOperators([{ name: OPERATOR, token, powers }]),
    hosts: ['localhost', LOOPBACK],
    log,
  })
  const server = createServer(createNodeListener(page))
  try {
    const address = await listen(server, options.port)
    const url = `${address}/console/#token=${token}`
    terminal.write(json ? `${JSON.stringify({ event: 'listening', url })}\n` : greet(url, options))
    await new Promise<void>((resolve) => void terminal.onStop(resolve))
  } finally {
    server.closeAllConnections()
    server.close()
    await opened.stop()
  }
  return 0
}

/** The name of this machine's user in the log. */
const OPERATOR = 'console'

async function openToRead(
  { location, agent, model, baseUrl }: ConsoleWords,
  terminal: Console,
  log: Logger,
): Promise<OpenedConsole> {
  const store = await openStoreToRead(location)
  const secrets = secretsIn(terminal.variables)
  if (agent === undefined) {
    const host = createStoreReader(store, { log, secrets })
    return { host, stop: () => host.stop().then(() => store.close()) }
  }
  const { prepareAgent } = await import('../places/prepared-agent.ts')
  const prepared = await prepareAgent({ agent, model, baseUrl, exchanges: undefined, terminal, log })
  const host = createStoreReader(store, { log, secrets, agent: prepared.agent, modelOf: prepared.modelOf })
  return { host, stop: () => host.stop().then(() => Promise.all([store.close(), prepared.close()]).then(() => {})) }
}

/** @throws BatonError as openEmbeddedHost does */
async function openToAct(
  { location, agent, model, baseUrl }: ConsoleWords,
  terminal: Console,
  log: Logger,
): Promise<OpenedConsole> {
  if (location.type === 'memory') throw new UsageError('memory: keeps nothing; name a file with --store sqlite:FILE')
  const { openEmbeddedHost } = await import('../places/embedded-host.ts')
  const about = { agent, model, baseUrl, exchanges: undefined, store: location, terminal, log }
  const { host, stop } = await openEmbeddedHost(about)
  return { host, stop: () => stop(DRAIN_MS) }
}

function listen(server: Server, port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause) => reject(namePortOption(cause, { host: LOOPBACK, port }) as Error)) // one of the two
    server.listen(port, LOOPBACK, () => {
      const { port: taken } = server.address() as AddressInfo // it listens on a port
      resolve(`http://${LOOPBACK}:${taken}`)
    })
  })
}

function greet(url: string, { location, act }: ConsoleWords): string {
  return `The console is at ${url}
  store  ${nameOfStore(location)}
  may    ${act ? 'see and change everything' : 'only read; --act lets it decide and change'}
  end    Ctrl+C
`
}
