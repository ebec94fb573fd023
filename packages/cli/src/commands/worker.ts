// `baton worker`: decides, calls models and runs tools for sessions and goals of a Temporal service, until a signal
// ends it.
import type { Logger, Permissions } from '@baton/core'
import { openPostgresStore } from '@baton/host/postgres'
import { secretsIn } from '@baton/models/internal'
import { createPriceOf } from '@baton/models/prices'
import { createServer } from 'node:http'
import type { Server } from 'node:http'
import type { Command } from '../command.ts'
import type { Console } from '../console.ts'
import { escapeControls } from '../terminal/escape-controls.ts'
import { wholeNumber } from './limit-options.ts'
import { MCP_HELP, MCP_OPTION } from '../words/mcp-option.ts'
import { MODEL_HELP } from '../words/model-options.ts'
import { PERMISSION_HELP, PERMISSION_WORDS, permissionLine, readPermissions } from '../words/permission-options.ts'
import type { PreparedAgent } from '../places/prepared-agent.ts'
import { prepareAgent } from '../places/prepared-agent.ts'
import { createServerLog } from './server-log.ts'
import { readLogOptions } from './server-options.ts'
import type { LogOptions } from './server-options.ts'
import { storeLocation } from '../places/store-location.ts'
import type { TemporalPlace } from './temporal-options.ts'
import { importTemporal, readTemporalPlace, TEMPORAL_HELP, TEMPORAL_WORDS } from './temporal-options.ts'
import { UsageError } from '../words/usage-error.ts'
import { readWords } from '../words/words.ts'

interface WorkerOptions {
  readonly place: TemporalPlace
  readonly agent: string | undefined
  readonly model: string | undefined
  readonly baseUrl: string | undefined
  readonly mcp: readonly string[]
  readonly permissions: Permissions | undefined
  readonly json: boolean
  readonly drainMs: number
  readonly healthPort: number | undefined
  readonly logging: LogOptions
}

const DRAIN_MS = 10_000
const DRAIN_MAX_MS = 3_600_000
const PORT_MAX = 65_535

export const workerCommand: Command = {
  help: `baton worker: run a worker for sessions and goals of a Temporal service; start as many as you need

Options:
${MODEL_HELP}
${MCP_HELP}
${PERMISSION_HELP}
${TEMPORAL_HELP}
  --health-port NUMBER
                 answer GET /healthz and /readyz on this port of this machine (default: no port)
  --drain-ms NUMBER
                 milliseconds for running work to end after a signal (default: 10000)
  --json         print one line of JSON when the worker is ready: {"event":"working","taskQueue":"baton"}
  --log-format NAME  json or pretty (default: pretty on a terminal, otherwise json)
  --log-level NAME   info, warn or silent (default: info)

Examples:
  baton worker --temporal localhost:7233 --store postgres://localhost/baton --redis redis://localhost:6379
  baton serve --temporal localhost:7233 --store postgres://localhost/baton --redis redis://localhost:6379
`,
  run: (words, terminal) => work(readOptions(words, terminal), terminal),
}

/** @throws UsageError */
function readOptions(words: readonly string[], { variables, folder }: Console): WorkerOptions {
  const { values } = readWords(words, {
    command: 'worker',
    options: {
      agent: { type: 'string' },
      model: { type: 'string' },
      'base-url': { type: 'string' },
      mcp: MCP_OPTION,
      ...PERMISSION_WORDS,
      store: { type: 'string' },
      'health-port': { type: 'string' },
      'drain-ms': { type: 'string' },
      'log-format': { type: 'string' },
      'log-level': { type: 'string', default: 'info' },
      json: { type: 'boolean', default: false },
      ...TEMPORAL_WORDS,
    },
  })
  const place = readTemporalPlace(values, storeLocation(values.store, variables, folder), variables)
  if (!place) throw new UsageError('a worker needs --temporal HOST:PORT; "baton serve" needs no worker')
  const { agent, model, 'base-url': baseUrl, 'health-port': port, 'drain-ms': drain, json } = values
  return {
    place,
    agent,
    model,
    baseUrl,
    mcp: values.mcp ?? [],
    permissions: readPermissions(values),
    json,
    drainMs: drain === undefined ? DRAIN_MS : wholeNumber(drain, '--drain-ms', [0, DRAIN_MAX_MS]),
    healthPort: port === undefined ? undefined : wholeNumber(port, '--health-port', [0, PORT_MAX]),
    logging: readLogOptions(values),
  }
}

async function work(options: WorkerOptions, terminal: Console): Promise<number> {
  const { place, agent: named, model, baseUrl, mcp, permissions, drainMs } = options
  const { variables } = terminal
  const secrets = secretsIn({ ...variables, BATON_STORE: place.postgres })
  const log = await createServerLog(options.logging, terminal, secrets)
  const temporal = await importTemporal()
  temporal.sendTemporalLogs(log)
  const words = { agent: named, model, baseUrl, mcp, permissions, exchanges: undefined }
  const prepared = await prepareAgent({ ...words, terminal, log })
  const store = await openPostgresStore(place.postgres)
  const worker = await temporal.createTemporalWorker({
    address: place.address,
    namespace: place.namespace,
    taskQueue: place.taskQueue,
    logStore: store,
    ...(place.redis !== undefined && { redis: place.redis }),
    agent: prepared.agent,
    modelOf: prepared.modelOf,
    defaultModel: prepared.choice.id,
    priceOf: createPriceOf(),
    secrets,
    log,
    drainMs,
  })
  const running = worker.run()
  const health =
    options.healthPort === undefined ? undefined : await answerHealth(options.healthPort, worker.problem, log)
  terminal.onStop(() => {
    log.info('the worker is stopping; running work may end', { withinMs: drainMs })
    worker.shutdown()
  })
  terminal.write(describeStart(options, prepared))
  await running
  health?.close()
  await store.close()
  await prepared.close()
  return 0
}

function describeStart(
  { json, place }: WorkerOptions,
  { agent, choice, permissions }: Pick<PreparedAgent, 'agent' | 'choice' | 'permissions'>,
): string {
  const { taskQueue, address } = place
  if (json) return `${JSON.stringify({ event: 'working', taskQueue })}\n`
  return escapeControls(`Baton works for ${address}, task queue ${taskQueue}
  agent  ${agent.name}
  model  ${choice.id}${permissionLine({ permissions })}
  end    Ctrl+C
`)
}

/** `/readyz` only says that something is wrong; the log says what. */
async function answerHealth(
  port: number,
  findProblem: () => Promise<string | undefined>,
  log: Logger,
): Promise<Server> {
  const server = createServer((request, response) => {
    if (request.url === '/healthz') {
      response.end('ok\n')
      return
    }
    if (request.url !== '/readyz') {
      response.writeHead(404).end()
      return
    }
    void findProblem().then((problem) => {
      if (problem !== undefined) log.warn('the worker is not ready', { cause: problem })
      response.writeHead(problem === undefined ? 200 : 503).end(problem === undefined ? 'ready\n' : 'not ready\n')
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, resolve)
  })
  server.unref()
  return server
}
