// The timeline while it is folded: rows by id, the running turn, what the model has read from strangers, and the clients.
import type { Fact, FactOf, SessionRecord } from '@baton/core/machine'
import type { Usage } from '@baton/core'
import type {
  CallDetails,
  ClientView,
  Mark,
  RowState,
  Segment,
  TaintSource,
  Timeline,
  TimelineRow,
} from './timeline-row.ts'
import { OPEN_STATES } from './timeline-row.ts'

/** The record of a fact. */
export interface Place {
  readonly pos: number
  readonly nowMs: number
}

type Writable = { -readonly [Field in keyof TimelineRow]: TimelineRow[Field] } & {
  segments: Segment[]
  marks: Mark[]
  records: number[]
}
type New = Omit<TimelineRow, 'fromMs' | 'toMs' | 'segments' | 'marks' | 'records' | 'taint'>
type Change = Partial<Omit<TimelineRow, 'id' | 'kind' | 'segments' | 'marks' | 'records'>>

export class TimelineDraft {
  readonly clients = new Map<string, ClientView>()
  /** Untrusted results that the model has read so far. */
  readonly taint: TaintSource[] = []
  readonly #rows = new Map<string, Writable>()
  /** Ids of the rows below a row, in order; those of the session under ''. */
  readonly #below = new Map<string, string[]>()
  #turn: string | undefined
  #head = { session: '', agent: '', principal: '', lastMs: 0, wallOffsetMs: 0, newest: -1 }

  begin({ pos, nowMs, wallMs }: SessionRecord): void {
    this.#head = { ...this.#head, newest: pos, lastMs: nowMs, wallOffsetMs: (wallMs ?? nowMs) - nowMs }
  }

  open({ session, agent, principal }: FactOf<'session-opened'>): void {
    this.#head = { ...this.#head, session, agent, principal }
  }

  find(id: string): TimelineRow | undefined {
    return this.#rows.get(id)
  }

  /** The running turn. */
  get turn(): TimelineRow | undefined {
    return this.#turn === undefined ? undefined : this.#rows.get(this.#turn)
  }

  enterTurn(id: string): void {
    this.#turn = id
  }

  /** Ends everything that is open in the turn, except calls: those settle, or continue as tasks. */
  leaveTurn(place: Place, state: RowState): void {
    const turn = this.#turn
    this.#turn = undefined
    if (turn === undefined) return
    for (const id of this.#listBelow(turn)) {
      const row = this.#rows.get(id)
      if (row && row.toMs === undefined && row.kind !== 'call') this.end(id, place, state)
    }
  }

  /** The place of a row directly in the running turn. */
  inTurn(): Pick<TimelineRow, 'parent' | 'turn'> {
    return this.#turn === undefined ? {} : { parent: this.#turn, turn: this.#turn }
  }

  add({ pos, nowMs }: Place, row: New): void {
    const isMoment = row.state === 'info'
    this.#rows.set(row.id, {
      ...row,
      fromMs: nowMs,
      ...(isMoment && { toMs: nowMs }),
      segments: [],
      marks: [],
      records: [pos],
      taint: row.kind === 'call' || row.kind === 'step' ? [...this.taint] : [],
    })
    const above = row.parent ?? ''
    const siblings = this.#below.get(above)
    if (siblings) siblings.push(row.id)
    else this.#below.set(above, [row.id])
  }

  /** A row for one moment. Within a turn it stands below it. */
  note(place: Place, title: string, fact: Fact): void {
    const id = `at-${place.pos}-${fact.type}${'connection' in fact ? `-${String(fact.connection)}` : ''}`
    const at = { depth: this.#turn === undefined ? 0 : 1, ...this.inTurn() }
    this.add(place, { id, kind: 'note', ...at, title, outcome: '', state: 'info', fact })
  }

  change(id: string, { pos }: Place, change: Change): void {
    const row = this.#rows.get(id)
    if (!row) return
    Object.assign(row, change)
    this.#tell(row, pos)
  }

  changeCall(id: string, place: Place, change: Partial<CallDetails>): void {
    const row = this.#rows.get(id)
    if (row?.call) this.change(id, place, { call: { ...row.call, ...change } })
  }

  mark(id: string, { pos, nowMs }: Place, mark: Pick<Mark, 'kind' | 'text'>): void {
    const row = this.#rows.get(id)
    if (!row) return
    row.marks.push({ ...mark, atMs: nowMs, pos })
    this.#tell(row, pos)
  }

  /** A new stretch of its bar begins. */
  go(id: string, place: Place, { state, note }: { readonly state: RowState; readonly note: string }): void {
    const row = this.#rows.get(id)
    if (!row) return
    this.#closeSegment(row, place.nowMs)
    row.segments.push({ state, fromMs: place.nowMs, note })
    row.state = state
    delete row.toMs
    this.#tell(row, place.pos)
  }

  end(id: string, place: Place, state: RowState): void {
    const row = this.#rows.get(id)
    if (!row) return
    this.#closeSegment(row, place.nowMs)
    const last = row.segments.at(-1)
    // The last stretch has the colour of the end, if it worked until then.
    if (last && (last.state === 'running' || last.state === 'queued'))
      row.segments[row.segments.length - 1] = { ...last, state }
    row.state = state
    row.toMs = place.nowMs
    this.#tell(row, place.pos)
  }

  setClient({
    connection,
    principal,
    untilMs,
    isAttached,
  }: Pick<ClientView, 'connection' | 'principal' | 'isAttached'> & { readonly untilMs?: number | undefined }): void {
    this.clients.set(connection, { connection, principal, isAttached, ...(untilMs !== undefined && { untilMs }) })
  }

  /** Adds to the usage of the turn. */
  spend(usage: Usage): void {
    const row = this.#turn === undefined ? undefined : this.#rows.get(this.#turn)
    if (!row) return
    const sum: Record<string, number> = { ...row.usage }
    for (const [name, count] of Object.entries(usage))
      if (typeof count === 'number') sum[name] = (sum[name] ?? 0) + count
    row.usage = sum
  }

  propose({ step, parts, calls }: FactOf<'step-finished'>, place: Place): void {
    for (const proposal of calls) {
      const part = parts.find((each) => each.type === 'call' && each.callId === proposal.callId)
      const call: CallDetails = {
        callId: proposal.callId,
        name: proposal.name,
        arguments: part?.type === 'call' ? part.arguments : '{}',
        proposal,
        proposedMs: place.nowMs,
        approvals: [],
        attempts: [],
        offeredTo: [],
        questions: [],
        ignored: [],
      }
      const at = { parent: `step-${step}`, depth: 2, ...(this.#turn !== undefined && { turn: this.#turn }) }
      this.add(place, {
        id: proposal.callId,
        kind: 'call',
        ...at,
        title: proposal.name,
        outcome: 'not started',
        state: 'queued',
        call,
      })
      this.go(proposal.callId, place, { state: 'queued', note: 'not started' })
    }
  }

  finish(): Timeline {
    const rows = this.#listBelow('').flatMap((id) => this.#rows.get(id) ?? [])
    return { ...this.#head, rows, byId: this.#rows, clients: this.clients }
  }

  #listBelow(id: string): readonly string[] {
    const found: string[] = []
    for (const one of this.#below.get(id) ?? []) {
      found.push(one)
      for (const inner of this.#listBelow(one)) found.push(inner)
    }
    return found
  }

  #closeSegment(row: Writable, nowMs: number): void {
    const last = row.segments.at(-1)
    if (!last || last.toMs !== undefined) return
    // A state that lasted no time says nothing.
    if (last.fromMs === nowMs && OPEN_STATES.has(last.state) && last.state !== 'running') row.segments.pop()
    else row.segments[row.segments.length - 1] = { ...last, toMs: nowMs }
  }

  #tell(row: Writable, pos: number): void {
    if (row.records.at(-1) !== pos) row.records.push(pos)
  }
}
