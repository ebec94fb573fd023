// A worker: runs the workflows of sessions and goals, and their activities. It keeps no state: any worker of its task
// queue can continue where it stops.
import { checkDestinations, createDefaultLog, SYSTEM_TIME } from '@baton/runtime'
import type { Agent, Clock, DeadNotices, Logger, NeededServices, NoticeDestination } from '@baton/core/internal'
import { Client } from '@temporalio/client'
import type { DataConverter } from '@temporalio/common'
import type { WorkerOptions, WorkflowBundleWithSourceMap } from '@temporalio/worker'
import {
  bundleWorkflowCode,
  DefaultLogger,
  makeTelemetryFilterString,
  NativeConnection,
  Runtime,
  Worker,
} from '@temporalio/worker'
import { randomUUID } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import type { SearchField } from '../contract.ts'
import { TASK_QUEUE, SEARCH_ATTRIBUTES } from '../contract.ts'
import { createDataConverter } from '../data-converter.ts'
import { createGateway } from '../host/create-gateway.ts'
import type { LiveBus } from '../live/live-bus.ts'
import { openBus } from '../live/open-bus.ts'
import { reachService } from '../reach-service.ts'
import type { SessionLog } from '../session-view.ts'
import { Submitter } from '../submitter.ts'
import { createActivities } from './activities.ts'
import { createWorkerNotices } from './worker-notices.ts'
import type { WorkAbout, WorkTimes } from './decide.ts'
import type { WorkerCatalog } from './places.ts'
import { Places } from './places.ts'
import { BatonError } from '@baton/core'

/** Options of `createTemporalWorker`: `{ agent, address: 'localhost:7233' }`. */
export interface TemporalWorkerOptions extends WorkerCatalog {
  /** Address of the service's frontend. Default: `localhost:7233`. */
  readonly address?: string
  /** An open connection, instead of `address`; the caller that opened it closes it. */
  readonly connection?: NativeConnection
  /** Default: `default`. */
  readonly namespace?: string
  /** Default: `baton`. */
  readonly taskQueue?: string
  /** The store of the sessions' records, the same for all workers and hosts. */
  readonly logStore: SessionLog
  /** `redis://…`, for live text and news of sessions. Default: a bus within one process. */
  readonly redis?: string | LiveBus
  readonly log?: Logger
  /**
   * Chooses the task queue and time limits of a model call or a tool. Called when it begins; the result is recorded.
   */
  readonly timesOf?: (about: WorkAbout) => WorkTimes | undefined
  /**
   * Search attributes to write (`BatonAgent`, `BatonPrincipal`, `BatonActivity`, `BatonTitle`), which must be
   * registered as keywords. Default: those registered when the worker starts. Use `[]` for none.
   */
  readonly searchAttributes?: readonly SearchField[]
  /**
   * Places that hear what happens in sessions, the same for all workers: a request waits for a person, a turn ended. `webhook`
   * of @baton/notices makes one. None by default.
   */
  readonly notify?: readonly NoticeDestination[]
  /** Milliseconds for running work to end at shutdown before it counts as lost. Default: 10,000. */
  readonly drainMs?: number
  /** Your own activities, in addition to Baton's. */
  readonly activities?: Readonly<Record<string, (...args: never[]) => Promise<unknown>>>
  /** A module with your own workflows; it must also export those of `@baton/temporal/workflows`. */
  readonly workflowsPath?: string
  /** The result of `bundleWorkflows`, so that startup needs no bundler. Overrides `workflowsPath`. */
  readonly workflowBundle?: WorkflowBundleWithSourceMap
  /** A data converter of Temporal's SDK, for encryption. Long payloads go to the blob store either way. */
  readonly dataConverter?: DataConverter
  /** Creates random ids: a new session's calls begin with the first eight letters and digits of one. Default: UUIDs. */
  readonly newId?: () => string
  /** Wall clock for records; the session's time is the service's. Default: the machine's. */
  readonly clock?: Clock
  /** Further options of Temporal's worker, such as `workerDeploymentOptions`; they take precedence. */
  readonly temporal?: Partial<WorkerOptions>
}

/** A worker that runs sessions and goals, from `createTemporalWorker`: `await worker.run()`. */
export interface TemporalWorker {
  /** Resolves when the worker has shut down. @throws Error when it fails permanently */
  run(): Promise<void>
  /** Accepts no new work, lets running work end within `drainMs`, and ends `run`. */
  shutdown(): void
  /** The notices that no destination took, of all workers over the store. */
  readonly notices: DeadNotices
  /** `undefined` while the worker works; otherwise the reason why not, in words for its operator. */
  problem(): Promise<string | undefined>
}

/**
 * @throws BatonError `connection_failed` when the service cannot be reached, `invalid_option` when it lacks the
 * namespace, search attributes are not registered, or `notify` is wrong; Error when the workflows cannot be bundled
 */
export async function createTemporalWorker<A extends Agent = Agent>(
  options: TemporalWorkerOptions & { readonly agent?: A } & NeededServices<A>,
): Promise<TemporalWorker> {
  const { address, namespace = 'default', taskQueue = TASK_QUEUE, logStore: store, log = createDefaultLog() } = options
  const { notify = [] } = options
  checkDestinations(notify)
  const connection =
    options.connection ?? (await reachService({ address, namespace }, (to) => NativeConnection.connect(to)))
  const bus = await openBus(options.redis, log)
  const dataConverter = createDataConverter(store.blobs, options.dataConverter)
  const client = new Client({ connection, namespace, dataConverter })
  const submitter = new Submitter({ client })
  const { timesOf, newId = randomUUID, clock = SYSTEM_TIME.clock } = options
  // Tools open sessions as a program at a gateway does.
  const gateway = createGateway(options, { client, taskQueue, store, bus, log, newId })
  const { session: openSession } = gateway.host
  const places = new Places({ catalog: options, store, bus, log, submitter, openSession })
  const wanted = options.searchAttributes
  const searchFields = await findSearchAttributes({ connection, namespace, wanted, log })
  const notices = createWorkerNotices({ ...SYSTEM_TIME, store, bus, log }, notify)
  const activities = createActivities({ places, store, bus, log, searchFields, timesOf, newId, clock, notices })
  const worker = await Worker.create({
    connection,
    namespace,
    taskQueue,
    dataConverter,
    workflowBundle: options.workflowBundle ?? (await bundleWorkflows(options.workflowsPath)),
    activities: { ...options.activities, ...activities },
    shutdownGraceTime: options.drainMs ?? DRAIN_MS,
    ...options.temporal,
  })
  const close = async (): Promise<void> => {
    await notices.stop()
    await gateway.host.stop()
    await places.close()
    await gateway.calls.end()
    if (typeof options.redis !== 'object') await bus.close()
    if (!options.connection) await connection.close()
  }
  return {
    run: async () => {
      try {
        notices.start({ isShared: true })
        await worker.run()
      } finally {
        await close()
      }
    },
    shutdown: () => {
      if (worker.getState() === 'RUNNING') worker.shutdown()
    },
    notices: notices.methods,
    problem: async () => {
      const state = worker.getState()
      if (state !== 'RUNNING') return `the worker is ${state}`
      const health = await store.health()
      return health.ok ? bus.problem() : health.message
    },
  }
}

/**
 * Bundles the code of workflows for a worker: Baton's, or those of a module that adds more. Takes a second or two.
 * @throws Error when the module cannot be bundled
 */
export function bundleWorkflows(workflowsPath = findWorkflows()): Promise<WorkflowBundleWithSourceMap> {
  const logger = new DefaultLogger('WARN')
  return bundleWorkflowCode({ workflowsPath, webpackConfigHook: resolveSources, logger })
}

/** Milliseconds. */
const DRAIN_MS = 10_000

/**
 * Sends messages of Temporal's SDK to this log, from warnings up. Call it once per process, before anything else in
 * this package.
 * @throws Error when the SDK was used before
 */
export function sendTemporalLogs(log: Logger): void {
  const logger = new DefaultLogger('WARN', ({ level, message, meta }) => {
    const data = { severity: level, ...(meta && { meta: JSON.stringify(meta).slice(0, META_CHARS) }) }
    log.warn(`Temporal: ${message}`, data)
  })
  Runtime.install({
    logger,
    telemetryOptions: { logging: { filter: makeTelemetryFilterString({ core: 'WARN' }), forward: {} } },
  })
}

/** UTF-16 units of the SDK's data beyond its message. */
const META_CHARS = 2000

/** The workflows next to this file, as source if it runs from source. */
function findWorkflows(): string {
  const own = import.meta.url
  const extension = own.endsWith('.ts') ? 'ts' : 'js'
  return fileURLToPath(new URL(`../workflow/workflows.${extension}`, own))
}

type WebpackHook = NonNullable<NonNullable<WorkerOptions['bundlerOptions']>['webpackConfigHook']>

/** Bundles Baton's packages from their source if present, as Node runs them. */
const resolveSources: WebpackHook = (config) => {
  if (!import.meta.url.endsWith('.ts')) return config
  return { ...config, resolve: { ...config.resolve, conditionNames: ['@baton/source', 'import', 'default'] } }
}

const FIELDS = Object.keys(SEARCH_ATTRIBUTES) as readonly SearchField[] // its own keys
/** Value of the service's `IndexedValueType`. */
const KEYWORD = 2

interface SearchAttributesOptions {
  readonly connection: Pick<NativeConnection, 'operatorService'>
  readonly namespace: string
  /** Names that must exist; any if absent. */
  readonly wanted: readonly SearchField[] | undefined
  readonly log: Logger
}

/**
 * Finds the search attributes that a worker may write: those registered with the service. A workflow that wrote any
 * other could not complete.
 * @throws BatonError `invalid_option` when a wanted one is not registered as a keyword
 */
export async function findSearchAttributes(init: SearchAttributesOptions): Promise<readonly SearchField[]> {
  const { namespace, wanted, log } = init
  if (wanted?.length === 0) return []
  const known = await listKnown(init)
  // If the service does not allow the query, named attributes are trusted.
  if (!known) return wanted ?? []
  const isKnown = (field: SearchField): boolean => known[SEARCH_ATTRIBUTES[field]] === KEYWORD
  const missing = (wanted ?? FIELDS).filter((field) => !isKnown(field))
  const names = missing.map((field) => SEARCH_ATTRIBUTES[field])
  const create = `temporal operator search-attribute create --namespace ${namespace} ${names.map((name) => `--name ${name} --type Keyword`).join(' ')}`
  if (wanted && missing.length > 0)
    throw new BatonError({
      code: 'invalid_option',
      message: `the namespace ${namespace} has no search attributes of type Keyword named ${names.join(', ')}`,
      hint: `Register them: ${create}`,
    })
  if (missing.length > 0) log.info('search attributes are skipped because they are not registered', { names, create })
  return (wanted ?? FIELDS).filter(isKnown)
}

async function listKnown({
  connection,
  namespace,
  log,
}: SearchAttributesOptions): Promise<Readonly<Record<string, number>> | undefined> {
  try {
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace })
    return customAttributes ?? {}
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    log.info('the search attributes of the service cannot be listed', { cause: why })
    return undefined
  }
}
