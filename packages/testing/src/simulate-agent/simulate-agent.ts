// `simulate(agent, …)`: a conversation with the user's own agent in worlds where processes die, the store fails and the
// client loses its connection, one world per seed. Whatever happens, the session must come to rest intact.
import type {
  Agent,
  Client,
  ClientHandlers,
  JsonValue,
  Model,
  PendingApproval,
  PendingQuestion,
  Session,
} from '@baton/core/internal'
import { createSpec, frontOf } from '@baton/core/internal'
import type { Fact, SessionRecord, State } from '@baton/core/machine'
import { applyRecord, createHistory, initialState } from '@baton/core/machine'
import type { Random } from '@baton/core/testing'
import { createInvariantChecker, createRandom } from '@baton/core/testing'
import { createHost, createMemoryStore } from '@baton/host'
import { createCrashPoints, createProcess } from '../simulator/process.ts'
import type { SimulatedProcess } from '../simulator/process.ts'
import { createSimulatedStore, observeDisk } from '../simulator/simulated-store.ts'
import { createVirtualTime } from '../simulator/virtual-time.ts'
import type { RealWork } from './agent-in-process.ts'
import { putInProcess, putModel, watchHandlers } from './agent-in-process.ts'

export type SimulatedFault = 'crash' | 'store' | 'disconnect'

/** Options of `simulateAgent`: `{ says: ['Book a table'] }`. */
export interface SimulateAgentOptions {
  /** The user's messages in order; one may be sent while an earlier one is being answered. */
  readonly says: readonly string[]
  /** Handlers of a client for the agent's client tools. */
  readonly client?: ClientHandlers
  /** Whether a person approves a call; yes by default. */
  readonly approve?: (call: PendingApproval) => boolean
  /** A person's answer to a tool's question; `undefined`, the default, declines. */
  readonly answer?: (question: PendingQuestion) => JsonValue | undefined
  /** Number of worlds, starting from seed 1, or a list of seeds; 20 by default. */
  readonly seeds?: number | readonly number[]
  /** All faults by default. */
  readonly faults?: readonly SimulatedFault[]
  /** Resolves models that the agent only names. */
  readonly modelOf?: (id: string) => Model
  readonly services?: unknown
  /** Inspects the facts of a world that came to rest; if it throws, the simulation fails with the world's seed. */
  readonly check?: (facts: readonly Fact[], seed: number) => void
}

/** Counts of a simulation that found no fault. */
export interface SimulationReport {
  readonly seeds: number
  readonly crashes: number
  readonly turns: number
  readonly calls: number
}

/** A failure with its world and the events before it; `simulate` with `seeds: [error.seed]` reproduces it. */
export class AgentSimulationError extends Error {
  readonly seed: number
  constructor(seed: number, story: readonly string[], cause: unknown) {
    const why = cause instanceof Error ? cause.message : String(cause)
    super(`seed ${seed}: ${why}\n${story.slice(-40).join('\n')}\nReproduce it with seeds: [${seed}].`, { cause })
    this.name = 'AgentSimulationError'
    this.seed = seed
  }
}

const SESSION = 'simulated'
const START_MS = Date.UTC(2026, 0, 1)
/** Virtual milliseconds in which a healed session must come to rest. */
const REST_MS = 60 * 60_000
/** Real milliseconds that a model or tool may work before the simulation fails. */
const WORK_MS = 30_000

/**
 * Checks the invariants of sessions after every record, and at the end that every input was accepted, that nothing is
 * left open and that no tool of effect class `once` was started twice. Time is virtual, so waits cost nothing. Models
 * and tools are the agent's own and must tolerate being called again after a crash; tools of sources are skipped.
 * @throws AgentSimulationError with the seed of the first world that fails
 */
export async function simulateAgent(agent: Agent, options: SimulateAgentOptions): Promise<SimulationReport> {
  const { seeds = 20 } = options
  const list = typeof seeds === 'number' ? Array.from({ length: seeds }, (_, index) => index + 1) : seeds
  const report = { seeds: list.length, crashes: 0, turns: 0, calls: 0 }
  for (const seed of list) {
    const world = new AgentWorld({ ...agent, sources: [] }, options, seed)
    try {
      await world.play()
      options.check?.(world.facts(), seed)
    } catch (cause) {
      throw new AgentSimulationError(seed, world.story, cause)
    }
    report.crashes += world.crashes
    report.turns += world.facts().filter(({ type }) => type === 'turn-finished').length
    report.calls += world.facts().filter(({ type }) => type === 'call-settled').length
  }
  return report
}

class AgentWorld {
  readonly story: string[] = []
  crashes = 0
  readonly #agent: Agent
  readonly #options: SimulateAgentOptions
  readonly #random: Random
  readonly #faults: ReadonlySet<SimulatedFault>
  readonly #storeFaults: { failing: number; slow: number }
  readonly #work: RealWork = { starts: new Map(), busy: 0 }
  readonly #time = createVirtualTime(START_MS, () => this.#isIdle())
  readonly #disk = createMemoryStore({ clock: this.#time.clock, leaseMs: 60_000 })
  readonly #checker = createInvariantChecker()
  readonly #history = createHistory({ keepAll: true })
  readonly #records: SessionRecord[] = []
  readonly #unanswered = new Set<number>()
  #state: State = initialState(SESSION)
  #failure: unknown
  #process: SimulatedProcess
  #session: Session | undefined
  #client: Client | undefined
  #ids = 0
  #busySince: number | undefined

  constructor(agent: Agent, options: SimulateAgentOptions, seed: number) {
    this.#agent = agent
    this.#options = options
    this.#random = createRandom(seed)
    this.#faults = new Set(options.faults ?? (['crash', 'store', 'disconnect'] as const))
    this.#storeFaults = this.#faults.has('store') ? { failing: 0.04, slow: 0.1 } : { failing: 0, slow: 0 }
    this.#process = this.#createProcess()
  }

  facts(): readonly Fact[] {
    return this.#records.flatMap((record) => record.facts)
  }

  /** @throws Error describing what failed */
  async play(): Promise<void> {
    await this.#boot()
    for (const index of this.#options.says.keys()) {
      this.#unanswered.add(index)
      this.#say(index)
      for (let moves = 2 + this.#random.below(6); moves > 0; moves--) await this.#move()
    }
    this.#tell('the world heals')
    this.#storeFaults.failing = 0
    this.#storeFaults.slow = 0
    this.#process.killAfter(Infinity)
    const untilMs = this.#time.nowMs() + REST_MS
    while (!this.#isAtRest()) {
      if (this.#time.nowMs() >= untilMs) throw new Error(this.#describeUnrest())
      await this.#tend()
      await this.#pass(1000)
    }
    this.#checker.finish(this.#state)
    for (const [callId, { tool, effect, count }] of this.#work.starts)
      if (effect === 'once' && count > 1) throw new Error(`${callId} (${tool}, once) was started ${count} times`)
  }

  async #move(): Promise<void> {
    if (this.#faults.has('crash') && this.#random.chance(0.25)) this.#process.killAfter(this.#random.below(12))
    if (this.#faults.has('disconnect') && this.#client && this.#random.chance(0.2)) {
      this.#tell('the client loses its connection')
      this.#client.detach().catch(() => {}) // a dead process answers nothing
      this.#client = undefined
    } else await this.#tend()
    await this.#pass(this.#random.below(3000))
  }

  /** Makes decisions, keeps the client connected, and replaces a dead process. */
  async #tend(): Promise<void> {
    if (!this.#process.isAlive()) await this.#boot()
    const session = this.#session
    if (!session) return
    if (!this.#client && this.#options.client) this.#attach(session, this.#options.client)
    const { approve = () => true, answer = () => undefined } = this.#options
    session.approvals().then(
      (calls) => {
        for (const call of calls) {
          const decision = approve(call) ? 'approve' : 'deny'
          session.decide({ approvalId: call.approvalId, decision }).catch(() => {})
        }
      },
      () => {},
    )
    session.questions().then(
      (questions) => {
        for (const question of questions) {
          const value = answer(question)
          const { questionId } = question
          session.answer(value === undefined ? { questionId, decline: true } : { questionId, value }).catch(() => {})
        }
      },
      () => {},
    )
    await this.#pass(1)
  }

  #attach(session: Session, handlers: ClientHandlers): void {
    session.attach(watchHandlers(handlers, this.#agent, this.#work)).then(
      (client) => {
        if (this.#session === session) this.#client = client
      },
      () => {},
    )
  }

  #say(index: number): void {
    const parts = [{ type: 'text', text: this.#options.says[index] ?? '' }] as const
    this.#tell(`the user says ${JSON.stringify(this.#options.says[index])}`)
    const session = this.#session && frontOf(this.#session)
    session?.submit({ type: 'user-input', inputId: `say-${index}`, parts }).then(
      (outcome) => {
        if (outcome.type === 'refused')
          this.#failure ??= new Error(`an input of the user was refused: ${outcome.message}`)
        this.#unanswered.delete(index)
      },
      () => {}, // sent again to the next process
    )
  }

  #createProcess(): SimulatedProcess {
    return createProcess({
      time: this.#time,
      random: this.#random,
      points: createCrashPoints(),
      onDeath: (point) => {
        this.crashes += 1
        this.#tell(`the process dies (${point})`)
      },
    })
  }

  async #boot(): Promise<void> {
    this.#tell('a process begins')
    const process = this.#createProcess()
    this.#process = process
    this.#session = undefined
    this.#client = undefined
    this.#disk.expireLeases()
    const { services, modelOf } = this.#options
    const agent = putInProcess(this.#agent, process, this.#work)
    const host = createHost({
      agent,
      services,
      store: createSimulatedStore({
        disk: observeDisk(this.#disk, (records, session) => session === SESSION && this.#observe(records)),
        process,
        random: this.#random,
        faults: this.#storeFaults,
        onFault: (fault) => this.#tell(fault),
        onSnapshot: () => {},
      }),
      environment: {
        clock: this.#time.clock,
        timers: { start: process.start },
        newId: () => `id${(this.#ids += 1)}`,
        transport: { post: () => Promise.reject(new Error('a simulation has no network')) },
      },
      snapshotRecords: this.#random.pick([2, 7, 256]),
      ...(modelOf && { modelOf: (id) => putModel(modelOf(id), process, this.#work) }),
    })
    host.session(SESSION).then(
      (session) => {
        if (this.#process !== process) return
        this.#session = session
        for (const index of this.#unanswered) this.#say(index)
      },
      (cause: unknown) => {
        this.#tell(`the session does not open: ${String(cause)}`)
        process.end()
      },
    )
    await this.#pass(100)
  }

  #observe(records: readonly SessionRecord[]): void {
    for (const record of records) {
      this.#tell(`${record.input.type}: ${record.facts.map((fact) => fact.type).join(', ')}`)
      const before = { ...this.#state, epoch: record.epoch }
      const after = applyRecord(before, record)
      this.#records.push(record)
      this.#history.fold(record)
      this.#state = after
      const spec = createSpec(this.#agent, [])
      try {
        this.#checker.observe({ spec, before, after, record, history: this.#history, input: null })
      } catch (failure) {
        this.#failure ??= failure
      }
    }
  }

  async #pass(ms: number): Promise<void> {
    await this.#time.runUntil(this.#time.nowMs() + ms)
    if (this.#failure) throw this.#failure
  }

  /** Virtual time is paused while a model or tool is really working, up to a limit. */
  #isIdle(): boolean {
    if (this.#work.busy <= 0 || this.#failure) {
      this.#busySince = undefined
      return true
    }
    this.#busySince ??= performance.now()
    if (performance.now() - this.#busySince > WORK_MS)
      this.#failure = new Error(`a model or a tool worked for more than ${WORK_MS} ms`)
    return this.#failure !== undefined
  }

  #isAtRest(): boolean {
    const { phase, queue, step, turn } = this.#state
    return phase === 'idle' && queue.length === 0 && !step && !turn && this.#unanswered.size === 0
  }

  #describeUnrest(): string {
    const { phase, queue, step } = this.#state
    const calls = step?.calls.map((call) => `${call.callId} ${call.name} ${call.state}`).join(', ') ?? ''
    return `the session does not come to rest: ${phase}, ${queue.length} inputs wait; ${calls}`
  }

  #tell(what: string): void {
    this.story.push(`${this.#time.nowMs() - START_MS} ms: ${what}`)
  }
}
