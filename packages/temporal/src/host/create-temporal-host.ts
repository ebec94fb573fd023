// The host over a Temporal service: a stateless gateway. Every front works on it, and any gateway can serve any
// session.
import { createDefaultLog } from '@baton/runtime'
import type { Agent, Host, Logger, SessionDirectory, SessionViews } from '@baton/core/internal'
import { BatonError } from '@baton/core/internal'
import { Client, Connection } from '@temporalio/client'
import type { DataConverter } from '@temporalio/common'
import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { Tuning } from '../contract.ts'
import { TASK_QUEUE } from '../contract.ts'
import { createDataConverter } from '../data-converter.ts'
import type { LiveBus } from '../live/live-bus.ts'
import { openBus } from '../live/open-bus.ts'
import { reachService } from '../reach-service.ts'
import type { SessionLog } from '../session-view.ts'
import type { GatewayOptions } from './create-gateway.ts'
import { createGateway } from './create-gateway.ts'
import { removeSession } from './remove-session.ts'
import { TemporalDirectory } from './temporal-directory.ts'

/** Options of `createTemporalHost`: `{ agent, address: 'localhost:7233' }`. */
export interface TemporalHostOptions<A extends Agent = Agent> extends GatewayOptions, Tuning {
  readonly agent?: A
  /** Address of the service's frontend. Default: `localhost:7233`. */
  readonly address?: string
  /** An open connection, instead of `address`; the caller that opened it closes it. */
  readonly connection?: Connection
  /** Default: `default`. */
  readonly namespace?: string
  /** Task queue of the workers. Default: `baton`. */
  readonly taskQueue?: string
  /** The store where the workers put the records of sessions. */
  readonly logStore: SessionLog
  /** `redis://…`, the same as for the workers. Default: a bus within one process. */
  readonly redis?: string | LiveBus
  readonly log?: Logger
  /**
   * Milliseconds until the clients of a dead gateway count as disconnected. A gateway renews its clients three times in
   * this period while a turn is running or a task needs a client, and with the first input after a rest. Default: 90,000.
   */
  readonly clientLeaseMs?: number
  /** The same as for the workers. */
  readonly dataConverter?: DataConverter
  readonly newId?: () => string
}

/** A host whose sessions are workflows, from `createTemporalHost`. */
export interface TemporalHost<A extends Agent = Agent> extends Host<A>, SessionDirectory, AsyncDisposable {
  /** Reads any session, for operators. */
  readonly views: SessionViews
  /** `undefined` while the host works; otherwise the reason why not, in words for its operator. */
  problem(): Promise<string | undefined>
}

/**
 * Maximum milliseconds that stopping waits for the connection to close; calls to a hanging service take longer to end.
 */
const CLOSE_MS = 5000

/**
 * Creates the host. Agents are those of the workers, by name: the workers make all decisions and do all work.
 * @throws BatonError `connection_failed` when the service cannot be reached, `invalid_option` when it has no such
 * namespace, or for `notify`, which is an option of workers
 */
export async function createTemporalHost<A extends Agent = Agent>(
  options: TemporalHostOptions<A>,
): Promise<TemporalHost<A>> {
  if (Reflect.get(options, 'notify') !== undefined)
    throw new BatonError({
      code: 'invalid_option',
      message: 'createTemporalHost has no option notify: workers store what happens, so they send the notices',
      hint: 'Give notify to createTemporalWorker, the same to each. Its worker.notices has the dead ones.',
    })
  const { address, namespace = 'default', taskQueue = TASK_QUEUE, logStore: store, log = createDefaultLog() } = options
  const { idleMs, updatesMax, newId = randomUUID } = options
  const connection = options.connection ?? (await reachService({ address, namespace }, (to) => Connection.connect(to)))
  const bus = await openBus(options.redis, log)
  const client = new Client({
    connection,
    namespace,
    dataConverter: createDataConverter(store.blobs, options.dataConverter),
  })
  const tuning = { ...(idleMs !== undefined && { idleMs }), ...(updatesMax !== undefined && { updatesMax }) }
  const place = { client, taskQueue, store, bus, log, tuning, leaseMs: options.clientLeaseMs, newId }
  const { host, engine, calls, views } = createGateway(options, place)
  const directory = new TemporalDirectory({ store, bus, log })
  const endHost = async (how: Parameters<Host['stop']>[0]): Promise<void> => {
    directory.close()
    try {
      await host.stop(how)
    } finally {
      if (typeof options.redis !== 'object') await bus.close()
      const closing = calls.end().then(() => (options.connection ? undefined : connection.close()))
      closing.catch((cause: unknown) =>
        log.warn('the connection to Temporal could not be closed', { cause: String(cause) }),
      )
      await Promise.race([closing, wait(CLOSE_MS, undefined, { ref: false })])
    }
  }
  let stopped: Promise<void> | undefined
  const stop: Host['stop'] = (how) => (stopped ??= endHost(how))
  return {
    session: host.session as Host<A>['session'], // the same session, typed for its agent
    sessions: directory.sessions,
    approvals: directory.approvals,
    watchApprovals: directory.watchApprovals,
    decide: directory.decideOver(host),
    has: directory.has,
    watch: directory.watch,
    views,
    remove: async (session, by) => {
      engine.drop(session, await calls.run(() => removeSession({ client, store, bus, log }, session, by)))
    },
    stop,
    [Symbol.asyncDispose]: () => stop(),
    problem: async () => {
      try {
        await calls.run(() => connection.workflowService.getSystemInfo({}))
      } catch (cause) {
        return `the Temporal service does not answer: ${cause instanceof Error ? cause.message : String(cause)}`
      }
      const health = await store.health()
      return health.ok ? bus.problem() : health.message
    },
  }
}
