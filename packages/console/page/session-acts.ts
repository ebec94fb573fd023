// Lists the acts on a session that the operator has the power for; none when the page is read-only.
import type { Asked, Store } from './store.ts'
import type { TimelineRow } from './timeline-row.ts'

export interface ActPlace {
  readonly session: string
  readonly rows: readonly TimelineRow[]
  readonly store: Store
  /** Shows what the act changed. */
  readonly readOn: () => void
}

export function listActs({ session, rows, store, readOn }: ActPlace): readonly Asked[] {
  const { api } = store
  const act = (part: string, said: string, body?: object) => async (): Promise<string> => {
    await api.act(session, part, body)
    readOn()
    return said
  }
  const runs = rows.some(({ kind, toMs }) => kind === 'turn' && toMs === undefined)
  const isPaused = isPausedNow(rows)
  const acts: readonly Asked[] = [
    ...(runs
      ? [
          {
            title: 'Interrupt the turn?',
            words: 'The running turn ends. What its tools have done stays done.',
            does: 'Interrupt',
            run: act('interrupt', 'The turn was interrupted.'),
          },
        ]
      : []),
    ...(isPaused
      ? [
          {
            title: 'Continue the session?',
            words: 'Everything that the pause stopped continues.',
            does: 'Continue',
            run: act('continue', 'The session continues.'),
          },
        ]
      : []),
    ...(!runs && rows.some(({ kind }) => kind === 'turn')
      ? [
          {
            title: 'Ask the last question again?',
            words:
              'The last answer leaves the conversation, and the model is asked again. Its tools may run again. The log keeps everything.',
            does: 'Retry',
            run: act('retry', 'The question was asked again.'),
          },
        ]
      : []),
    {
      title: 'Fork the session?',
      words: 'A new session gets a copy of the conversation up to where it last rested.',
      does: 'Fork',
      run: () => fork(store, session),
    },
  ]
  return [...(store.may('act') ? acts : []), ...listOthers(session, store)]
}

function listOthers(session: string, store: Store): readonly Asked[] {
  const { api } = store
  const exported: Asked = {
    title: 'Export the session?',
    words: 'The file has the whole conversation and every decision.',
    does: 'Export',
    run: async () => {
      save(
        new Blob([JSON.stringify(await api.exported(session), null, 2)], { type: 'application/json' }),
        `${session.replaceAll(/[^\w.-]+/g, '-')}.json`,
      )
      return 'The session was exported.'
    },
  }
  const removed: Asked = {
    title: 'Remove the session for good?',
    words: `Session ${session}: its log, images and files are deleted. Nothing brings them back.`,
    does: 'Remove',
    isDangerous: true,
    run: async () => {
      await api.remove(session)
      store.go({ view: 'sessions' })
      return 'The session was removed.'
    },
  }
  return [...(store.may('export') ? [exported] : []), ...(store.may('remove') ? [removed] : [])]
}

async function fork(store: Store, session: string): Promise<string> {
  const { id } = await store.api.act(session, 'fork')
  if (id !== undefined) store.go({ view: 'session', session: id, tab: 'timeline' })
  return 'The session was forked.'
}

function isPausedNow(rows: readonly TimelineRow[]): boolean {
  const last = rows.findLast(({ fact }) => fact?.type === 'session-paused' || fact?.type === 'session-continued')
  return last?.fact?.type === 'session-paused'
}

/** Acts on one row: a task is cancelled, the conversation goes back to a message. */
export function listRowActs(row: TimelineRow, { session, store, readOn }: Omit<ActPlace, 'rows'>): readonly Asked[] {
  if (!store.may('act') || row.path !== undefined) return []
  const { api } = store
  const acts: Asked[] = []
  const { call, fact } = row
  if (call && row.toMs === undefined && (call.task === 'running' || call.child))
    acts.push({
      title: `Cancel ${call.name}?`,
      words: 'It is told to stop; what it may have done stays done. The model learns of it with the next input.',
      does: 'Cancel the task',
      isDangerous: true,
      run: async () => {
        await api.act(session, `tasks/${encodeURIComponent(call.callId)}/cancel`)
        readOn()
        return 'The task was cancelled.'
      },
    })
  if (row.kind === 'input' && fact?.type === 'input-accepted' && fact.body.type === 'user')
    acts.push({
      title: 'Rewind to this message?',
      words: 'This message and all later ones leave the conversation. The log keeps everything.',
      does: 'Rewind to here',
      isDangerous: true,
      run: async () => {
        await api.act(session, 'rewind', { message: fact.inputId })
        readOn()
        return 'The conversation went back.'
      },
    })
  return acts
}

/** Gives a file to the person. */
export function save(blob: Blob, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(blob)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}
