// A small world of one tree: processes that die, or sleep while another one takes the root and wake with what they knew; a
// person, a client, an interrupt, timers at any moment. Each commit and each act outside is a separate step. Its link is the
// protocol between two logs, in the fewest words; a fault can be planted in it.
import type { AwaitedEffect, Input } from '@baton/core/machine'
import { itemsFor, losesByRestart, outstanding, report } from '@baton/core/machine'
import type { LeafTool, Log } from './handshake-log.ts'
import { Logs, nameHelp } from './handshake-log.ts'

/** Faults of a link or of the host around it; each must be noticed. */
export type Fault =
  /** An empty log counts as "never began" although its row was not acquired. */
  | 'never without acquiring'
  /** A child is acquired without a look at the root's epoch. */
  | 'no look at the root'
  /** The child's approval expires by its own timer. */
  | 'own timer'
  /** The parent's log is read from its end, and not from the cursor. */
  | 'told from now'
  /** The cursor is committed before what it caused. */
  | 'told apart'
  | 'reported apart'
  /** The delegating call says that its child cannot act. */
  | 'says it cannot act'
  /** Totals are increments. */
  | 'increments'
  /** The id of a child has a random part: whoever opens it opens another one. */
  | 'random id'

export interface WorldOptions {
  readonly levels: number
  readonly leaf: LeafTool
  readonly deaths: number
  readonly takeovers: number
  /**
   * Models answer in the step that asks them, a session restarts in the step that acquires it, and the timers of
   * turns and tools do not fire: these are as in sessions without children.
   */
  readonly isQuick?: boolean
  /** No process sleeps: another process starts after a death. */
  readonly isAwake?: boolean
  readonly fault?: Fault
}

/** `valid`: it may append. `stale`: another process has it, and this one does not know. */
type Hold = 'valid' | 'stale' | undefined

export interface Process {
  readonly holds: readonly Hold[]
  /** Logs that it knows although another process has them. */
  readonly views: readonly (Log | undefined)[]
  /** Sessions that it has opened and not told that their host restarted. */
  readonly isFresh: readonly boolean[]
  /** Its run of the leaf's tool. */
  readonly job: 'none' | 'begun' | 'acted'
  /** By a fault: what it has still to commit after the cursor. */
  readonly owes?: { readonly level: number; readonly input: Input }
}

export interface World {
  readonly logs: readonly (Log | undefined)[]
  readonly processes: readonly Process[]
  readonly deaths: number
  readonly takeovers: number
  readonly interrupts: number
  /** State of the client, with the call that it has claimed. */
  readonly client: 'waits' | 'acted'
  readonly acts: number
  /** A rule that an act has broken. */
  readonly fault: string | undefined
}

export interface Successor {
  readonly name: string
  /** `outside`: nothing has to cause it. `timer`: time causes it. */
  readonly by: 'inside' | 'timer' | 'outside'
  readonly world: World
}

export class Handshake {
  readonly options: WorldOptions
  readonly logs: Logs

  constructor(options: WorldOptions) {
    this.options = options
    this.logs = new Logs(options.levels, options.leaf, options.fault !== 'says it cannot act')
  }

  get leaf(): number {
    return this.options.levels - 1
  }

  begin(): World {
    const { levels, deaths, takeovers } = this.options
    const logs = Array.from({ length: levels }, (_, level) => (level === 0 ? this.logs.begin() : undefined))
    const first: Process = { ...this.#createProcess(), isFresh: Array.from({ length: levels }, () => false) }
    return { logs, processes: [first], deaths, takeovers, interrupts: 1, client: 'waits', acts: 0, fault: undefined }
  }

  #createProcess(): Process {
    const { levels } = this.options
    return {
      holds: Array.from({ length: levels }, (_, level) => (level === 0 ? 'valid' : undefined)),
      views: Array.from({ length: levels }, () => undefined),
      isFresh: Array.from({ length: levels }, () => true),
      job: 'none',
    }
  }

  successors(world: World): readonly Successor[] {
    const found: Successor[] = []
    // Afterwards a process may still wake, and a tool may still act.
    const isOver = world.logs[0]?.state.children.length === 0
    world.processes.forEach((process, at) => {
      const add = (name: string, next: World, by: Successor['by'] = 'inside'): void => {
        if (next !== world) found.push({ name: `p${at} ${name}`, by, world: next })
      }
      for (let level = 0; level <= this.leaf; level++) this.#stepSession(world, at, level, add)
      this.#stepTool(world, at, add)
      if (process.owes) {
        const { level, input } = process.owes
        const { owes: _, ...rest } = process
        add('commits what it owes', this.#append(replace(world, at, rest), at, level, input))
      }
      if (process.holds[0] === 'valid' && !isOver) this.#stepOthers(world, at, add)
      if (world.deaths > 0 && !isOver)
        add('dies', { ...world, deaths: world.deaths - 1, processes: world.processes.toSpliced(at, 1) }, 'outside')
    })
    if (world.client === 'waits' && isClaimed(world))
      found.push({ name: 'client acts', by: 'outside', world: this.#act({ ...world, client: 'acted' }) })
    const mayCome = !this.options.isAwake || world.processes.length === 0
    if (world.takeovers > 0 && mayCome && !isOver)
      found.push({ name: 'another process takes the root', by: 'outside', world: this.#takeRoot(world) })
    return found
  }

  /** The log as a process knows it. */
  #view(world: World, at: number, level: number): Log | undefined {
    const process = world.processes[at]
    return process?.holds[level] === 'valid' ? world.logs[level] : process?.views[level]
  }

  #stepSession(world: World, at: number, level: number, add: Add): void {
    const process = world.processes[at]
    if (process?.holds[level] === undefined) return
    const log = this.#view(world, at, level)
    if (!log) return
    const submit = (name: string, input: Input, by: Successor['by'] = 'inside'): void => {
      add(`${level}: ${name}`, this.#append(world, at, level, input), by)
    }
    if (process.isFresh[level] && losesByRestart(log.state)) {
      submit('restarts', { type: 'host-restarted', downMs: 0 })
      return
    }
    const { state } = log
    const isRootDone = level === 0 && state.children.length === 0
    if (state.attempt && state.phase === 'modelling' && !isRootDone && !this.options.isQuick)
      submit('model answers', this.logs.answer(log))
    if (state.attempt && state.phase === 'interrupting')
      submit('model stops', { type: 'model-stopped', attempt: state.attempt.attempt, text: '' })
    if (!isRootDone)
      for (const effect of outstanding(state))
        if (effect.type === 'set-timer' && this.#mayFire(effect.timer))
          submit(`timer ${effect.timer}`, fire(effect), 'timer')
    if (this.options.fault === 'own timer' && level === this.leaf) this.#fireOwnTimer(log, submit)
    if (level < this.leaf && state.children.length > 0) this.#stepLink(world, at, level, add)
  }

  #mayFire(timer: string): boolean {
    return (
      !this.options.isQuick || (timer !== 'turn' && timer !== 'interrupt' && timer !== `call:${nameHelp(this.leaf)}`)
    )
  }

  #fireOwnTimer({ state }: Log, submit: (name: string, input: Input) => void): void {
    const approval = state.step?.calls[0]?.approval
    if (!approval || state.step?.calls[0]?.state !== 'awaiting-approval') return
    const { generation } = approval.deadline
    submit('its own timer', { type: 'timer-fired', timer: `approval:${nameHelp(this.leaf)}`, generation })
  }

  /** The link of a session to its child. */
  #stepLink(world: World, at: number, level: number, add: Add): void {
    const { fault } = this.options
    const process = world.processes[at]
    const log = this.#view(world, at, level)
    const [entry] = log?.state.children ?? []
    if (!process || !log || !entry) return
    const below = level + 1
    const child = this.#view(world, at, below)
    const never = createNever(entry.callId)
    if (process.holds[below] === undefined) {
      if (fault === 'never without acquiring' && entry.phase === 'ending' && !world.logs[below])
        add(`${below} never began`, this.#append(world, at, level, never))
      add(`acquires ${below}`, this.#acquire(world, at, below))
    } else if (!child) {
      if (entry.phase === 'ending') add(`${below} never began`, this.#append(world, at, level, never))
      else add(`opens ${below}`, this.#appendFirst(world, at, below))
    } else if (!process.owes) {
      this.#tell(world, { at, level, log, child }, add)
      this.#report(world, { at, level, log, child }, add)
    }
  }

  #tell(world: World, { at, level, log, child }: Pair, add: Add): void {
    const { fault } = this.options
    const callId = nameHelp(level)
    const from = child.state.parent?.pos ?? -1
    const began = log.state.children[0]?.began ?? 0
    const start = fault === 'told from now' && from >= 0 ? log.pos - 1 : Math.max(from, began - 1)
    const items = itemsFor(this.logs.after(log, start), callId)
    if (items.length === 0 || log.pos <= from) return
    const told = { type: 'parent-told', birth: log.state.birth, from, to: log.pos } as const
    if (fault !== 'told apart') {
      add(
        `tells ${level + 1} ${items.map(({ type }) => type).join(' ')}`,
        this.#append(world, at, level + 1, { ...told, items }),
      )
      return
    }
    const next = this.#append(world, at, level + 1, { ...told, items: [] })
    const owes = { level: level + 1, input: { ...told, from: log.pos, items } }
    add(`tells ${level + 1} the cursor`, oweAfter(world, next, { at, owes }))
  }

  #report(world: World, { at, level, log, child }: Pair, add: Add): void {
    const { fault } = this.options
    const [entry] = log.state.children
    const from = entry?.pos ?? -1
    const { state } = child
    const said = report(this.logs.after(child, from), {
      state,
      history: this.logs.history(child),
      spec: this.logs.spec(level + 1),
    })
    if (!said || !entry) return
    const { requests, closed, ended, end } = said.report
    // A report of totals alone is held back.
    if (requests.length + closed.length + ended.length === 0 && !end) return
    const spent = { ...said.report.spent, tokens: said.report.spent.tokens - entry.spent.tokens }
    const told = fault === 'increments' ? { ...said.report, spent } : said.report
    const input = {
      type: 'child-reported',
      callId: entry.callId,
      birth: state.birth,
      from,
      to: said.to,
      report: told,
    } as const
    const name = [...requests.map(({ id }) => id), ...(end ? [end.stop] : [])].join(' ')
    if (fault !== 'reported apart') {
      add(`reports ${level + 1} ${name}`, this.#append(world, at, level, input))
      return
    }
    const { end: _, ...without } = told
    const next = this.#append(world, at, level, { ...input, report: { ...without, requests: [] } })
    const owes = { level, input: { ...input, from: said.to } }
    add(`reports ${level + 1} the cursor`, oweAfter(world, next, { at, owes }))
  }

  #stepTool(world: World, at: number, add: Add): void {
    const process = world.processes[at]
    if (!process) return
    if (process.job === 'begun') add('acts', this.#act(replace(world, at, { ...process, job: 'acted' })))
    if (process.job !== 'acted') return
    const outcome = { type: 'ok', content: [{ type: 'text', text: 'paid' }] } as const
    const done = replace(world, at, { ...process, job: 'none' })
    const result = { type: 'tool-finished', callId: nameHelp(this.leaf), attempt: 1, outcome } as const
    add('has the result', this.#append(done, at, this.leaf, result))
  }

  /** The person, the client, and the interrupt, at the root. */
  #stepOthers(world: World, at: number, add: Add): void {
    const root = world.logs[0]
    if (!root) return
    const submit = (name: string, input: Input): void => add(name, this.#append(world, at, 0, input), 'outside')
    const { principal } = root.state
    for (const { id, type, deadline } of root.state.relayed)
      if (type === 'approval' && deadline)
        for (const decision of ['approve', 'deny'] as const)
          submit(`person: ${decision}`, { type: 'approval', approvalId: id, principal, decision })
    this.#stepClient(world, root, submit)
    if (world.interrupts > 0 && root.state.turn) {
      const spent = { ...world, interrupts: world.interrupts - 1 }
      const input = { type: 'interrupt', reason: 'person', heard: { type: 'all' } } as const
      add('interrupt', this.#append(spent, at, 0, input), 'outside')
    }
  }

  #stepClient(world: World, root: Log, submit: (name: string, input: Input) => void): void {
    if (this.options.leaf !== 'client') return
    const phone = { connection: 'phone', principal: root.state.principal }
    if (root.state.clients.length === 0 && root.state.children.length > 0) {
      const can = { sequential: false, claims: true, reportsPlayback: false, asks: true }
      submit('client comes', { type: 'client-attached', ...phone, ...can })
    }
    for (const { call } of root.state.relayed) {
      if (call?.state === 'offered' && call.offer) {
        const { callId, offer } = call
        submit('client claims', { type: 'call-claimed', callId, connection: 'phone', offer: offer.number })
      }
      const outcome = { type: 'ok', content: [{ type: 'text', text: 'paid' }] } as const
      const isHere = root.state.clients.length > 0
      if (world.client === 'acted' && isHere && call?.state === 'claimed')
        submit('client has the result', { type: 'tool-result', callId: call.callId, connection: 'phone', outcome })
    }
  }

  #act(world: World): World {
    const acts = world.acts + 1
    const root = world.logs[0]
    const { claim, counts } = root ?? {}
    const isUnapproved = this.options.leaf === 'approved' && !counts?.has('approved')
    const told = claim === 'undone' || claim === 'denied' ? `it acted after the model was told ${claim}` : undefined
    const fault = acts > 1 ? 'it acted twice' : isUnapproved ? 'it acted without approval' : told
    return { ...world, acts, fault: world.fault ?? fault }
  }

  #takeRoot(world: World): World {
    const stale = world.processes.map((process) => makeStale(process, 0, world.logs[0]))
    const taken = { ...world, takeovers: world.takeovers - 1, processes: [...stale, this.#createProcess()] }
    return this.options.isQuick ? this.#restart(taken, stale.length, 0) : taken
  }

  /** The store's act: it refuses a process whose root has another owner, and takes the child from whoever held it. */
  #acquire(world: World, at: number, level: number): World {
    const isOwner = world.processes[at]?.holds[0] === 'valid'
    if (!isOwner && this.options.fault !== 'no look at the root') return fence(world, at)
    const isOther = this.options.fault === 'random id'
    const processes = world.processes.map((process, index) => {
      if (index !== at) return makeStale(process, level, world.logs[level])
      const job = level === this.leaf ? ('none' as const) : process.job
      return {
        ...process,
        job,
        holds: process.holds.with(level, 'valid'),
        isFresh: process.isFresh.with(level, true),
      }
    })
    const acquired = { ...world, processes, ...(isOther && { logs: world.logs.with(level, undefined) }) }
    return this.options.isQuick ? this.#restart(acquired, at, level) : acquired
  }

  #restart(world: World, at: number, level: number): World {
    const state = world.logs[level]?.state
    return state && losesByRestart(state)
      ? this.#append(world, at, level, { type: 'host-restarted', downMs: 0 })
      : world
  }

  #appendFirst(world: World, at: number, level: number): World {
    const parent = this.#view(world, at, level - 1)
    const process = world.processes[at]
    if (!parent || !process) return world
    if (process.holds[level] !== 'valid' || world.logs[level]) return lose(world, at, level, this.leaf)
    const opened = replace(world, at, { ...process, isFresh: process.isFresh.with(level, false) })
    return { ...opened, logs: world.logs.with(level, this.logs.open(parent)) }
  }

  /** The same world if the machine commits nothing. */
  #append(world: World, at: number, level: number, input: Input): World {
    const process = world.processes[at]
    const log = this.#view(world, at, level)
    if (!process || !log) return world
    const step = this.logs.step(log, input)
    if (!step) return world
    if (process.holds[level] !== 'valid') return lose(world, at, level, this.leaf)
    const isClosing = log.state.children.length > 0 && step.log.state.children.length === 0
    let next: Process = { ...process, isFresh: process.isFresh.with(level, false) }
    for (const effect of step.effects) {
      if (effect.type === 'run-tool') next = { ...next, job: 'begun' }
      if (effect.type === 'abort-tool') next = { ...next, job: 'none' }
    }
    if (isClosing) next = leaveBelow(next, level)
    const appended = { ...replace(world, at, next), logs: world.logs.with(level, step.log) }
    const { state } = step.log
    const isAsked = this.options.isQuick && state.attempt && state.phase === 'modelling' && !(level === 0 && isClosing)
    return isAsked ? this.#append(appended, at, level, this.logs.answer(step.log)) : appended
  }
}

type Add = (name: string, next: World, by?: Successor['by']) => void

interface Pair {
  readonly at: number
  readonly level: number
  readonly log: Log
  readonly child: Log
}

function fire({ timer, generation }: Extract<AwaitedEffect, { readonly type: 'set-timer' }>): Input {
  return { type: 'timer-fired', timer, generation }
}

function createNever(callId: string): Input {
  const nothing = { spent: { tokens: 0, costMicros: 0, rounds: 0, calls: 0 }, acted: false, waits: false }
  const said = { untrusted: [], did: { calls: [] }, requests: [], closed: [], ended: [] }
  const end = { stop: 'never', text: '' } as const
  return { type: 'child-reported', callId, birth: '', from: -1, to: -1, report: { ...nothing, ...said, end } }
}

function replace(world: World, at: number, process: Process): World {
  return { ...world, processes: world.processes.with(at, process) }
}

/** The next world, if the cursor was committed, with what the process has still to commit. */
function oweAfter(
  world: World,
  next: World,
  { at, owes }: { readonly at: number; readonly owes: NonNullable<Process['owes']> },
): World {
  const process = next.processes[at]
  const isCommitted = next.logs.some((log, level) => log !== world.logs[level])
  return process && isCommitted ? replace(next, at, { ...process, owes }) : next
}

function makeStale(process: Process, level: number, log: Log | undefined): Process {
  if (process.holds[level] !== 'valid') return process
  return { ...process, holds: process.holds.with(level, 'stale'), views: process.views.with(level, log) }
}

/** An append was refused: another process has the session. Without the root, the process leaves the tree. */
function lose(world: World, at: number, level: number, leaf: number): World {
  const process = world.processes[at]
  if (level === 0 || !process) return fence(world, at)
  const holds = process.holds.with(level, undefined)
  const views = process.views.with(level, undefined)
  const { owes: _, ...rest } = process
  return replace(world, at, { ...rest, holds, views, job: level === leaf ? 'none' : process.job })
}

function fence(world: World, at: number): World {
  return { ...world, processes: world.processes.toSpliced(at, 1) }
}

function leaveBelow(process: Process, level: number): Process {
  const above = <T>(list: readonly T[], none: T): readonly T[] => list.map((one, at) => (at > level ? none : one))
  return {
    ...process,
    holds: above<Hold>(process.holds, undefined),
    views: above<Log | undefined>(process.views, undefined),
    job: 'none',
  }
}

/** Whether the client knows that it may act. */
function isClaimed({ logs }: World): boolean {
  return logs[0]?.state.relayed.some(({ call }) => call?.state === 'claimed') ?? false
}

/** Equal for equal worlds. */
export function nameWorld(world: World): string {
  const { logs, processes, deaths, takeovers, interrupts, client, acts } = world
  const list = logs.map((log) => log?.id ?? 0).join(',')
  const all = processes.map(nameProcess).join(';')
  return `${list}|${all}|${deaths}${takeovers}${interrupts}${client[0]}${acts}`
}

function nameProcess({ holds, views, isFresh, job, owes }: Process): string {
  const held = holds.map((hold, level) =>
    hold === 'stale' ? `s${views[level]?.id ?? 0}` : hold === 'valid' ? 'v' : '-',
  )
  const fresh = isFresh.map((is, level) => (is && holds[level] ? '1' : '0')).join('')
  return `${held.join(',')}.${fresh}${job[0]}${owes ? JSON.stringify(owes) : ''}`
}
