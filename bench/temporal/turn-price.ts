// Measures how much a turn adds to its workflow's history: events, actions as counted by Temporal, and bytes.
import { openPostgresStore } from '@baton/host/postgres'
import { createTemporalHost } from '@baton/temporal'
import { Client, Connection } from '@temporalio/client'
import type { WorkflowHandle } from '@temporalio/client'
import { setTimeout as wait } from 'node:timers/promises'
import { createLoadAgent, WITH_TOOL } from './load-agent.ts'
import type { Place } from './load-process.ts'

export interface TurnPrice {
  readonly events: number
  readonly actions: number
  readonly bytes: number
}

const TURNS = 20
/** A history counts as complete after this many milliseconds without growth. */
const QUIET_MS = 1000

/** The mean of twenty turns of an awake session. */
export async function priceTurn(place: Place, kind: 'plain' | 'tool'): Promise<TurnPrice> {
  const store = await openPostgresStore(place.postgres)
  const { address, taskQueue, redis } = place
  const host = await createTemporalHost({ address, taskQueue, redis, logStore: store, agent: createLoadAgent() })
  const connection = await Connection.connect({ address })
  try {
    const session = await host.session(`price-${kind}`)
    await session.send('begin').answer
    const handle = new Client({ connection }).workflow.getHandle(session.id)
    const before = await readWhole(handle)
    for (let turn = 0; turn < TURNS; turn++)
      await session.send(kind === 'tool' ? `question ${turn} ${WITH_TOOL}` : `question ${turn}`).answer
    const after = await readWhole(handle)
    return {
      events: (after.events - before.events) / TURNS,
      actions: (after.actions - before.actions) / TURNS,
      bytes: (after.bytes - before.bytes) / TURNS,
    }
  } finally {
    await connection.close()
    await host.stop()
    await store.close()
  }
}

async function readWhole(handle: WorkflowHandle): Promise<TurnPrice> {
  for (let before: TurnPrice | undefined; ; await wait(QUIET_MS)) {
    const { events = [] } = await handle.fetchHistory()
    const { historySize = 0 } = await handle.describe()
    const now = { events: events?.length ?? 0, bytes: historySize, actions: countActions(events ?? []) }
    if (before?.events === now.events) return now
    before = now
  }
}

type HistoryEvents = NonNullable<Awaited<ReturnType<WorkflowHandle['fetchHistory']>>['events']>

/**
 * An Update, an activity and a timer count as one each; the local activities of one workflow task count as one
 * together.
 */
function countActions(events: HistoryEvents): number {
  const tasks = new Set<string>()
  let actions = 0
  for (const event of events) {
    const { markerRecordedEventAttributes: marker, upsertWorkflowSearchAttributesEventAttributes: upsert } = event
    if (marker) tasks.add(String(marker.workflowTaskCompletedEventId))
    else if (event.workflowExecutionUpdateAcceptedEventAttributes || event.timerStartedEventAttributes) actions += 1
    else if (event.activityTaskScheduledEventAttributes || upsert) actions += 1
  }
  return actions + tasks.size
}
