// One life of a simulated process. Every await of an injected interface is a crash point, where it may end permanently.
import type { Random } from '@baton/core/testing'
import type { VirtualTime } from './virtual-time.ts'

/** Which crash points were passed, and at which a process died. Shared by all runs of a simulation. */
export interface CrashPoints {
  readonly passed: Map<string, number>
  readonly died: Map<string, number>
}

/** Every await of an interface given to a simulated process, in the order of a conversation. */
export const CRASH_POINTS = [
  'store.acquire, before',
  'store.acquire, after',
  'store.read',
  'store.append, before',
  'store.append, after',
  'store.acquire of a child, before',
  'store.acquire of a child, after',
  'store.append of a child, before',
  'store.append of a child, after',
  'model, before the request',
  'model, between pieces',
  'model, at its end',
  'tool, before its effect',
  'tool, after its effect',
  'store.listRecoverable',
  'store.renew, before',
  'store.renew, after',
  'store.release, before',
  'store.release, after',
  'store.rest, before',
  'store.rest, after',
  'store.resume, before',
  'store.resume, after',
  'snapshots.latest, before',
  'snapshots.latest, after',
  'snapshots.put, before',
  'snapshots.put, after',
  'blobs.put, before',
  'blobs.put, after',
  'blobs.get, before',
  'blobs.get, after',
  'timer',
] as const

export function createCrashPoints(): CrashPoints {
  return { passed: new Map(), died: new Map() }
}

export interface SimulatedProcess {
  isAlive(): boolean
  kill(): void
  /** Ends in an orderly way. */
  end(): void
  /** `listener` is called when it dies or ends. */
  onEnd(listener: () => void): void
  /** Dies at the crash point after that many others. */
  killAfter(after: number): void
  /** Dies when it next reaches the crash point with this name. */
  killAt(name: string): void
  /** Passes a crash point; never returns in a dead process. */
  point(name: string): Promise<void>
  /** Runs `callback` after `delayMs`, unless the process is dead by then. */
  start(delayMs: number, callback: () => void): () => void
  wait(delayMs: number): Promise<void>
}

export interface ProcessOptions {
  readonly time: VirtualTime
  readonly random: Random
  readonly points: CrashPoints
  readonly onDeath: (point: string) => void
}

export function createProcess(init: ProcessOptions): SimulatedProcess {
  let alive = true
  let left = Infinity
  let fatal: string | undefined
  const listeners: (() => void)[] = []
  const end = (): void => {
    alive = false
    for (const listener of listeners.splice(0)) listener()
  }
  const die = (name: string): void => {
    if (!alive) return
    alive = false
    count(init.points.died, name)
    init.onDeath(name)
    end()
  }
  const pass = (name: string): boolean => {
    if (!alive) return false
    count(init.points.passed, name)
    if (left-- <= 0 || name === fatal) die(name)
    return alive
  }
  return {
    isAlive: () => alive,
    kill: () => die('at rest'),
    end,
    onEnd: (listener) => void listeners.push(listener),
    killAfter: (after) => {
      left = after
    },
    killAt: (name) => {
      fatal = name
    },
    point: (name) => (pass(name) ? Promise.resolve() : new Promise(() => {})),
    start: (delayMs, callback) =>
      init.time.timers.start(delayMs, () => {
        if (pass('timer')) callback()
      }),
    wait: (delayMs) =>
      new Promise((resolve) => {
        init.time.timers.start(delayMs, () => {
          if (alive) resolve()
        })
      }),
  }
}

function count(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1)
}
