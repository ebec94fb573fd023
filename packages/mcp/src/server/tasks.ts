// Calls that run as tasks, stored for the principal that started them under unguessable ids, with limits on time and
// number.
import type { Timers } from '@baton/core/internal'
import { BatonError } from '@baton/core/internal'
import type { CallToolResult } from '@modelcontextprotocol/server'
import type { LiveCall } from './live-call.ts'
import type { McpServerLimits } from './options.ts'

/** Milliseconds before a client may poll a task again. */
export const POLL_MS = 500

export type TaskStatus = 'working' | 'input_required' | 'completed' | 'cancelled'

export class Task {
  readonly id = crypto.randomUUID()
  readonly owner: string
  readonly live: LiveCall
  readonly ttlMs: number
  readonly createdAt = new Date().toISOString()
  #updatedAt = this.createdAt
  #seen: TaskStatus = 'working'
  #isCancelled = false

  constructor(owner: string, live: LiveCall, ttlMs: number) {
    this.owner = owner
    this.live = live
    this.ttlMs = ttlMs
  }

  get status(): TaskStatus {
    const now = this.#read()
    if (now !== this.#seen) this.#updatedAt = new Date().toISOString()
    this.#seen = now
    return now
  }

  get updatedAt(): string {
    void this.status
    return this.#updatedAt
  }

  /** Its current activity, in words. */
  get message(): string | undefined {
    const { note } = this.live.progress
    return typeof note === 'string' ? note : undefined
  }

  get isOver(): boolean {
    return this.status === 'completed' || this.status === 'cancelled'
  }

  get result(): CallToolResult | undefined {
    return this.#isCancelled ? undefined : this.live.result
  }

  /** Does nothing if the task has ended. */
  cancel(): void {
    if (this.isOver) return
    this.#isCancelled = true
    this.live.cancel()
  }

  #read(): TaskStatus {
    if (this.#isCancelled) return 'cancelled'
    if (this.live.result) return 'completed'
    return this.live.waiting.length > 0 ? 'input_required' : 'working'
  }
}

export class Tasks {
  readonly #limits: McpServerLimits
  readonly #timers: Timers
  readonly #tasks = new Map<string, Task>()
  readonly #stops = new Map<string, () => void>()
  /** Owners of the tasks whose calls are being made. */
  readonly #beginning: string[] = []

  constructor(limits: McpServerLimits, timers: Timers) {
    this.#limits = limits
    this.#timers = timers
  }

  /**
   * Makes the call of a task. Drops ended tasks first, oldest first, if there are too many.
   * @throws BatonError `rate_limited`, and what `begin` throws
   */
  async create(owner: string, begin: () => Promise<LiveCall>, ttlMs = this.#limits.taskMs): Promise<Task> {
    this.#makeRoom(owner)
    this.#beginning.push(owner)
    try {
      return this.#add(owner, await begin(), ttlMs)
    } finally {
      this.#beginning.splice(this.#beginning.indexOf(owner), 1)
    }
  }

  #makeRoom(owner: string): void {
    const { tasks, tasksPerPrincipal } = this.#limits
    const own = [...this.#tasks.values()].filter((task) => task.owner === owner)
    const ownCount = own.length + this.#beginning.filter((one) => one === owner).length
    if (ownCount >= tasksPerPrincipal && !this.#dropOldest(own)) throw tooMany(tasksPerPrincipal, 'this client')
    const count = this.#tasks.size + this.#beginning.length
    if (count >= tasks && !this.#dropOldest([...this.#tasks.values()])) throw tooMany(tasks, 'the server')
  }

  #add(owner: string, live: LiveCall, ttlMs: number): Task {
    const task = new Task(owner, live, Math.min(Math.max(1, ttlMs), this.#limits.taskMs))
    this.#tasks.set(task.id, task)
    const expire = (): void => {
      task.cancel()
      this.#drop(task.id)
    }
    this.#stops.set(task.id, this.#timers.start(task.ttlMs, expire, { isBackground: true }))
    return task
  }

  /** Returns `undefined` for an unknown task and for another owner's. */
  find(owner: string, id: string): Task | undefined {
    const task = this.#tasks.get(id)
    return task?.owner === owner ? task : undefined
  }

  list(owner: string): readonly Task[] {
    return [...this.#tasks.values()].filter((task) => task.owner === owner)
  }

  close(): void {
    for (const stop of this.#stops.values()) stop()
    this.#stops.clear()
    this.#tasks.clear()
  }

  #dropOldest(tasks: readonly Task[]): boolean {
    const oldest = tasks.find(({ isOver }) => isOver)
    if (oldest) this.#drop(oldest.id)
    return oldest !== undefined
  }

  #drop(id: string): void {
    this.#stops.get(id)?.()
    this.#stops.delete(id)
    this.#tasks.delete(id)
  }
}

function tooMany(limit: number, whose: string): BatonError {
  return new BatonError({
    code: 'rate_limited',
    message: `${whose} already has ${limit} running tasks, which is the limit`,
    hint: 'Wait for one to end, or cancel one.',
  })
}
