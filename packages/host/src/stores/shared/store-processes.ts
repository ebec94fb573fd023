// The processes that share a store, in a file next to it that its holder writes. The next process to open the store
// learns which guests to wait for, and a process that finds it locked can name the holder.
import { randomUUID } from 'node:crypto'
import { closeSync, constants, fstatSync, openSync, readSync, renameSync, rmSync, writeFileSync } from 'node:fs'

export interface StoreProcess {
  /** Identifies the opened store: one process may open it more than once. */
  readonly id: string
  readonly pid: number
}

export interface StoreProcesses {
  readonly holder: StoreProcess | undefined
  /** Processes that reach the store through the holder. */
  readonly guests: readonly StoreProcess[]
}

const NOBODY: StoreProcesses = { holder: undefined, guests: [] }
/** Maximum bytes to read from the file; a longer one is ignored. */
const BYTES_MAX = 262_144
/** Mode bits that grant access to other users. */
const OTHERS = 0o077

/** Dead processes are left out. `path` must have its links resolved. Never throws. */
export function readProcesses(path: string): StoreProcesses {
  try {
    const told = JSON.parse(readOwnFile(findFile(path))) as { readonly holder?: unknown; readonly guests?: unknown } // checked below
    const guests = Array.isArray(told.guests) ? told.guests.filter(isProcess) : []
    return {
      holder: isProcess(told.holder) && isRunning(told.holder.pid) ? told.holder : undefined,
      guests: guests.filter(({ pid }) => isRunning(pid)),
    }
  } catch {
    return NOBODY
  }
}

/** Writes the file, or removes it if there are no processes. Requires the lock. @throws Error of the file system */
export function writeProcesses(path: string, processes: StoreProcesses): void {
  const file = findFile(path)
  if (!processes.holder && processes.guests.length === 0) {
    rmSync(file, { force: true })
    return
  }
  // Written and renamed, so that a reader never sees half of it.
  const draft = `${file}.${randomUUID()}`
  writeFileSync(draft, JSON.stringify(processes), { mode: 0o600, flag: 'wx' })
  renameSync(draft, file)
}

/** Whether a process with this id exists, including one of another user. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (cause) {
    return cause instanceof Error && 'code' in cause && cause.code === 'EPERM'
  }
}

export function isProcess(value: unknown): value is StoreProcess {
  const { id, pid } = (value ?? {}) as { readonly id?: unknown; readonly pid?: unknown }
  return typeof id === 'string' && typeof pid === 'number' && Number.isSafeInteger(pid) && pid > 0
}

function findFile(path: string): string {
  return `${path}.processes`
}

function readOwnFile(file: string): string {
  // Non-blocking: a pipe in the file's place must not stall the process.
  const opened = openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0))
  try {
    const found = fstatSync(opened)
    const isOwn = process.getuid === undefined || (found.uid === process.getuid() && (found.mode & OTHERS) === 0)
    if (!found.isFile() || !isOwn || found.size > BYTES_MAX) return ''
    const bytes = Buffer.alloc(found.size)
    return bytes.toString('utf8', 0, readSync(opened, bytes, 0, found.size, 0))
  } finally {
    closeSync(opened)
  }
}
