// Removes a session with the sessions and tasks of its calls: terminates their workflows, removes the records of all, and has Temporal
// delete the histories.
import type { Logger, Principal } from '@baton/core'
import { BatonError } from '@baton/core'
import { CHILD_PREFIX } from '@baton/core/internal'
import { applyRecord, initialState, outstanding } from '@baton/core/machine'
import { createForeignError, readOpening } from '@baton/runtime'
import { Client, Connection, WorkflowNotFoundError } from '@temporalio/client'
import type { TaskRun } from '../task-workflow.ts'
import { mayOutlive, nameTask } from '../task-workflow.ts'
import type { LiveBus } from '../live/live-bus.ts'
import { EVERY_SESSION } from '../live/live-bus.ts'
import { openBus } from '../live/open-bus.ts'
import { reachService } from '../reach-service.ts'
import { markRemoved } from '../removed-sessions.ts'
import type { SessionLog } from '../session-view.ts'

export interface RemovalOptions {
  readonly client: Client
  readonly store: SessionLog
  readonly bus: LiveBus
  readonly log: Logger
}

export interface TemporalRemovalOptions {
  /** Address of the service's frontend. Default: `localhost:7233`. */
  readonly address?: string
  /** Default: `default`. */
  readonly namespace?: string
  readonly logStore: SessionLog
  /**
   * `redis://…`. With it, processes that have the session open are notified at once; otherwise they notice with their
   * next input.
   */
  readonly redis?: string
  readonly log?: Logger
}

/**
 * Removes a session like a host's `remove`, for programs without a host or an agent.
 * @throws BatonError `store_failed`, `connection_failed` when the service cannot be reached, `invalid_option` when it
 * has no such namespace; Error when it does not terminate the workflow
 */
export async function removeTemporalSession(options: TemporalRemovalOptions, session: string): Promise<void> {
  const { address, namespace = 'default', logStore: store, redis } = options
  const log = options.log ?? { info: () => {}, warn: () => {} }
  const connection = await reachService({ address, namespace }, (to) => Connection.connect(to))
  const bus = await openBus(redis, log)
  try {
    await removeSession({ client: new Client({ connection, namespace }), store, bus, log }, session)
  } finally {
    await bus.close()
    await connection.close()
  }
}

/**
 * Returns the birth of the removed session, if its log could be read.
 * @throws BatonError `unauthorized`, `illegal_input` for the session of a delegated call, `store_failed`; Error when the service does not terminate the workflow
 */
export async function removeSession(
  init: RemovalOptions,
  session: string,
  by?: Principal,
): Promise<string | undefined> {
  const { client, store, bus, log } = init
  if (session.startsWith(CHILD_PREFIX))
    throw new BatonError({
      code: 'illegal_input',
      message: `session ${session} belongs to a call of another session, and is removed with the session that its tree began with`,
    })
  // A principal must not learn of another's session. A damaged session can be removed, but not on behalf of a
  // principal.
  const opening = await readOpening(store, session).catch((cause: unknown) => {
    if (by) throw cause
    return undefined
  })
  if (by && opening && opening.principal !== by.id) throw createForeignError(session, by)
  if (opening) await markRemoved(store.blobs, session, opening.birth)
  // A child that began meanwhile finds no root to be written under.
  const runs = await endWorkflow(client, session)
  const ended = [{ workflow: session, runs }, ...(await endTasks(init, session)), ...(await endChildren(init, session))]
  const about = opening && { principal: opening.principal, birth: opening.birth }
  const removed = { type: 'removed', session, ...about } as const
  bus.publish(session, removed)
  await store.remove(session)
  // Published again for processes that opened it meanwhile.
  bus.publish(session, removed)
  bus.publish(EVERY_SESSION, removed)
  try {
    for (const one of ended) await deleteHistories(client, one.workflow, one.runs)
  } catch (cause) {
    const kept = 'Temporal keeps the histories of a removed session until their retention period ends'
    log.warn(kept, { session, cause: String(cause) })
  }
  return opening?.birth
}

interface EndedWorkflow {
  readonly workflow: string
  readonly runs: readonly string[]
}

async function endChildren(init: RemovalOptions, root: string): Promise<readonly EndedWorkflow[]> {
  const { client, store, bus } = init
  const ended: EndedWorkflow[] = []
  for await (const { session } of store.children(root)) {
    ended.push({ workflow: session, runs: await endWorkflow(client, session) }, ...(await endTasks(init, session)))
    bus.publish(session, { type: 'removed', session })
  }
  return ended
}

/** A tool whose start is not in the log does not begin without it. */
async function endTasks({ client, store, log }: RemovalOptions, session: string): Promise<readonly EndedWorkflow[]> {
  const ended: EndedWorkflow[] = []
  const runs = await findTasks(store, session).catch((cause: unknown) => {
    log.warn('the tasks of a removed session cannot be read: their tools run on', { session, cause: String(cause) })
    return []
  })
  for (const run of runs) {
    const workflow = nameTask(session, run)
    ended.push({ workflow, runs: await endWorkflow(client, workflow) })
  }
  return ended
}

async function findTasks(store: SessionLog, session: string): Promise<readonly TaskRun[]> {
  let state = initialState(session)
  for await (const record of store.read(session, 0)) state = applyRecord(state, record)
  return outstanding(state).flatMap((effect) =>
    effect.type === 'run-tool' && mayOutlive(state, effect.callId) ? effect : [],
  )
}

/** Terminates the running workflow, and returns its run id, if there is one. */
async function endWorkflow(client: Client, session: string): Promise<readonly string[]> {
  const handle = client.workflow.getHandle(session)
  try {
    const { runId, status } = await handle.describe()
    if (status.name === 'RUNNING') await handle.terminate('the session was removed')
    return [runId]
  } catch (cause) {
    if (cause instanceof WorkflowNotFoundError) return []
    throw cause
  }
}

async function deleteHistories(client: Client, workflow: string, ended: readonly string[]): Promise<void> {
  const { namespace } = client.options
  const runIds = new Set(ended)
  const id = workflow.replaceAll('\\', '\\\\').replaceAll('"', '\\"')
  for await (const { runId, status } of client.workflow.list({ query: `WorkflowId = "${id}"` }))
    // A running one belongs to a new session of this name.
    if (status.name !== 'RUNNING') runIds.add(runId)
  for (const runId of runIds)
    await client.connection.workflowService.deleteWorkflowExecution({
      namespace,
      workflowExecution: { workflowId: workflow, runId },
    })
}
