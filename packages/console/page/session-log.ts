// The log of one session in the page: read in pages up to its newest record, and again when something happens in it.
import { useEffect, useRef, useState } from 'preact/hooks'
import type { SessionRecord } from '@baton/core/machine'
import type { Api, ApiError } from './api.ts'
import { asApiError, keepWatching, useStore } from './store.ts'
import { readTimeline } from './timeline.ts'
import type { Timeline } from './timeline-row.ts'

/** Children whose logs a page reads; the others are opened one by one. */
export const CHILDREN_MAX = 32
/** Changes within this time are read at once. */
const JOIN_MS = 200
/** Without a word from the server the log is read again after this time. */
const LOOK_MS = 15_000

export interface SessionLog {
  readonly records: readonly SessionRecord[]
  readonly timeline: Timeline
  readonly children: ReadonlyMap<string, Timeline>
  /** Records of the session (under '') and of its children, by the calls that lead to them, joined by `/`. */
  readonly recordsBelow: ReadonlyMap<string, readonly SessionRecord[]>
  /** There are more children than the page reads. */
  readonly isCut: boolean
  readonly failure: ApiError | undefined
  readonly isLoaded: boolean
  /** Reads on now. */
  readonly readOn: () => void
}

const NOTHING = readTimeline([])

export function useSessionLog(id: string): SessionLog {
  const { api, connection } = useStore()
  const [log, setLog] = useState<Omit<SessionLog, 'readOn'>>({
    records: [],
    timeline: NOTHING,
    children: new Map(),
    recordsBelow: new Map(),
    isCut: false,
    failure: undefined,
    isLoaded: false,
  })
  const wake = useRef<() => void>(() => {})
  useEffect(() => {
    const end = new AbortController()
    const reader = createLogReader(api, id)
    let timer: ReturnType<typeof setTimeout> | undefined
    let runs: Promise<void> | undefined
    const read = async (): Promise<void> => {
      try {
        const state = await reader.readOn()
        if (!end.signal.aborted)
          setLog((before) => (isSame(before, state) ? before : { ...state, failure: undefined, isLoaded: true }))
      } catch (cause) {
        if (!end.signal.aborted) setLog((before) => ({ ...before, failure: asApiError(cause), isLoaded: true }))
      } finally {
        runs = undefined
        if (!end.signal.aborted) plan(LOOK_MS)
      }
    }
    const plan = (ms: number): void => {
      clearTimeout(timer)
      timer = setTimeout(() => {
        if (runs) plan(JOIN_MS)
        else runs = read()
      }, ms)
    }
    wake.current = () => plan(0)
    plan(0)
    void keepWatching((watching) => api.watchSession(id, watching), {
      signal: end.signal,
      take: () => plan(JOIN_MS),
      opened: () => {
        connection.value = 'live'
        plan(JOIN_MS)
      },
      failed: () => (connection.value = 'lost'),
    })
    return () => {
      end.abort()
      clearTimeout(timer)
    }
  }, [id])
  return { ...log, readOn: () => wake.current() }
}

/** Nothing is drawn again for a look that found nothing new. */
function isSame(before: Omit<SessionLog, 'readOn'>, state: LogState): boolean {
  if (!before.isLoaded || before.failure || before.timeline !== state.timeline) return false
  return (
    before.children.size === state.children.size &&
    [...state.children].every(([key, child]) => before.children.get(key) === child)
  )
}

type LogState = Pick<SessionLog, 'records' | 'timeline' | 'children' | 'recordsBelow' | 'isCut'>

/** Reads what is new of a session and of the children that work for its calls. */
export function createLogReader(api: Pick<Api, 'log'>, id: string): { readonly readOn: () => Promise<LogState> } {
  const logs = new Map<string, { records: readonly SessionRecord[]; timeline: Timeline }>()
  /** Children that were read after they had ended. */
  const ended = new Set<string>()
  let isCut = false
  const readOne = async (path: readonly string[]): Promise<Timeline> => {
    const key = path.join('/')
    const known = logs.get(key) ?? { records: [], timeline: NOTHING }
    const records = await readRest(api, id, path, known.records)
    const timeline = records === known.records ? known.timeline : readTimeline(records)
    logs.set(key, { records, timeline })
    return timeline
  }
  const readBelow = async (timeline: Timeline, path: readonly string[]): Promise<void> => {
    for (const { call } of timeline.rows) {
      if (!call?.child) continue
      const below = [...path, call.callId]
      const key = below.join('/')
      const known = logs.get(key)
      if (!known && logs.size > CHILDREN_MAX) {
        isCut = true
        continue
      }
      try {
        const child = known && ended.has(key) ? known.timeline : await readOne(below)
        if (call.child.stop !== undefined) ended.add(key)
        await readBelow(child, below)
      } catch {
        // The child has no log yet, or it was removed; its call shows that.
      }
    }
  }
  return {
    readOn: async () => {
      const timeline = await readOne([])
      await readBelow(timeline, [])
      const children = [...logs].filter(([key]) => key !== '').map(([key, log]) => [key, log.timeline] as const)
      const recordsBelow = new Map([...logs].map(([key, log]) => [key, log.records] as const))
      return { records: logs.get('')?.records ?? [], timeline, children: new Map(children), recordsBelow, isCut }
    },
  }
}

/** Returns the known records and all newer ones. */
export async function readRest(
  api: Pick<Api, 'log'>,
  id: string,
  path: readonly string[],
  known: readonly SessionRecord[],
): Promise<readonly SessionRecord[]> {
  let records = known
  for (;;) {
    const page = await api.log(id, { from: (records.at(-1)?.pos ?? -1) + 1 }, path)
    const fresh = page.records.filter(({ pos }) => pos > (records.at(-1)?.pos ?? -1))
    if (fresh.length === 0) return records
    records = [...records, ...fresh]
    if (!page.more) return records
  }
}
