// A worker: it runs the workflows of sessions and goals, and their activities. It keeps nothing: any worker of its task queue
// goes on where it stops.
import type { Agent, Clock, Logger, NeededServices } from '@baton/core'
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
import { TASK_QUEUE } from '../contract.ts'
import { createDataConverter } from '../data-converter.ts'
import type { LiveBus } from '../live/live-bus.ts'
import { openBus } from '../live/open-bus.ts'
import { NODE_WORLD } from '../node-world.ts'
import { reachService } from '../reach-service.ts'
import type { SessionLog } from '../session-view.ts'
import { Submitter } from '../submitter.ts'
import { createActivities } from './activities.ts'
import type { WorkAbout, WorkTimes } from './decide.ts'
import { findSearchAttributes } from './find-search-attributes.ts'
import type { WorkerCatalog } from './places.ts'
import { Places } from './places.ts'

export interface TemporalWorkerOptions extends WorkerCatalog {
  /** Address of the service's frontend; `localhost:7233` by default. */
  readonly address?: string
  /** An open connection in place of `address`; whoever opened it closes it. */
  readonly connection?: NativeConnection
  /** `default` by default. */
  readonly namespace?: string
  /** `baton` by default. */
  readonly taskQueue?: string
  /** The store of the sessions' records: the same for all workers and hosts. */
  readonly logStore: SessionLog
  /** `redis://…`, where live text and news of sessions go through; a bus of one process by default. */
  readonly redis?: string | LiveBus
  readonly log?: Logger
  /** Chooses the task queue and the time limits of a model call or a tool. Called when it begins; the answer is recorded. */
  readonly timesOf?: (about: WorkAbout) => WorkTimes | undefined
  /**
   * Search attributes to write (`BatonAgent`, `BatonPrincipal`, `BatonActivity`, `BatonTitle`), which must be
   * registered as keywords. By default those that are registered when the worker starts; `[]` for none.
   */
  readonly searchAttributes?: readonly SearchField[]
  /** Milliseconds that running work has to end at a shutdown; then it counts as lost. 10 s. */
  readonly drainMs?: number
  /** Activities of your own, beside those of Baton. */
  readonly activities?: Readonly<Record<string, (...args: never[]) => Promise<unknown>>>
  /** A module with workflows of your own; it must export those of `@baton/temporal/workflows` too. */
  readonly workflowsPath?: string
  /** The result of `bundleWorkflows`, so that a start needs no bundler; wins over `workflowsPath`. */
  readonly workflowBundle?: WorkflowBundleWithSourceMap
  /** For encryption: as Temporal's SDK takes it. Long payloads go to the blob store either way. */
  readonly dataConverter?: DataConverter
  /** Random ids: a new session's calls begin with the first eight letters and digits of one. UUIDs by default. */
  readonly newId?: () => string
  /** Wall clock for records, beside the session's time, which is the service's; the machine's by default. */
  readonly clock?: Clock
  /** Further options of Temporal's worker, such as `workerDeploymentOptions`; they win. */
  readonly temporal?: Partial<WorkerOptions>
}

export interface TemporalWorker {
  /** Resolves when the worker has been shut down. @throws Error when it fails for good */
  run(): Promise<void>
  /** Takes nothing new, lets what runs end for `drainMs`, and ends `run`. */
  shutdown(): void
  /** Undefined while it works; else why not, in words for whoever runs it. */
  problem(): Promise<string | undefined>
}

const SILENT: Logger = { info: () => {}, warn: () => {} }

/**
 * @throws BatonError `connection_failed` when the service cannot be reached, `invalid_option` for a namespace that it does not have and for search
 * attributes that are not registered; Error when the workflows cannot be bundled
 */
export async function createTemporalWorker<A extends Agent = Agent>(
  options: TemporalWorkerOptions & { readonly agent?: A } & NeededServices<A>,
): Promise<TemporalWorker> {
  const { address, namespace = 'default', taskQueue = TASK_QUEUE, logStore: store, log = SILENT } = options
  const connection =
    options.connection ?? (await reachService({ address, namespace }, (to) => NativeConnection.connect(to)))
  const bus = await openBus(options.redis, log)
  const dataConverter = createDataConverter(store.blobs, options.dataConverter)
  const client = new Client({ connection, namespace, dataConverter })
  const submitter = new Submitter({ client })
  const places = new Places({ catalog: options, store, bus, log, submitter })
  const { timesOf, newId = randomUUID, clock = NODE_WORLD.clock } = options
  const wanted = options.searchAttributes
  const searchFields = await findSearchAttributes({ connection, namespace, wanted, log })
  const activities = createActivities({ places, store, bus, log, searchFields, timesOf, newId, clock })
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
    await places.close()
    if (typeof options.redis !== 'object') await bus.close()
    if (!options.connection) await connection.close()
  }
  return {
    run: async () => {
      try {
        await worker.run()
      } finally {
        await close()
      }
    },
    shutdown: () => {
      if (worker.getState() === 'RUNNING') worker.shutdown()
    },
    problem: async () => {
      const state = worker.getState()
      if (state !== 'RUNNING') return `the worker is ${state}`
      const health = await store.health()
      return health.ok ? bus.problem() : health.message
    },
  }
}

/**
 * The code of workflows as a worker runs it: those of Baton, or of a module that has more of them. Takes a second or two.
 * @throws Error when the module cannot be bundled
 */
export function bundleWorkflows(workflowsPath = findWorkflows()): Promise<WorkflowBundleWithSourceMap> {
  const logger = new DefaultLogger('WARN')
  return bundleWorkflowCode({ workflowsPath, webpackConfigHook: resolveSources, logger })
}

/** Milliseconds. */
const DRAIN_MS = 10_000

/**
 * Sends what Temporal's SDK has to say to this log, from warnings on. Called once in a process, before anything else of it.
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

/** UTF-16 units of what the SDK says beside its message. */
const META_CHARS = 2000

/** Beside this file: as source where it is run from source. */
function findWorkflows(): string {
  const own = import.meta.url
  const extension = own.endsWith('.ts') ? 'ts' : 'js'
  return fileURLToPath(new URL(`../workflow/workflows.${extension}`, own))
}

type WebpackHook = NonNullable<NonNullable<WorkerOptions['bundlerOptions']>['webpackConfigHook']>

/** Packages of Baton that stand as source are bundled from it, as Node runs them. */
const resolveSources: WebpackHook = (config) => {
  if (!import.meta.url.endsWith('.ts')) return config
  return { ...config, resolve: { ...config.resolve, conditionNames: ['@baton/source', 'import', 'default'] } }
}
