// The address of a server over a store: a file beside the store, for its owner alone. The file of a dead server is found
// out: its process is gone, or nobody answers at its address.
import { randomUUID } from 'node:crypto'
import type { Stats } from 'node:fs'
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  openSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { connect } from 'node:net'
import { basename, dirname, join } from 'node:path'
import type { StoreLocation } from './store-location.ts'

export interface ServerAddress {
  /** `ws://127.0.0.1:8080/ws`, without a token. */
  readonly url: string
  /** Opens the server while it runs; absent where it asks for none. */
  readonly token?: string
}

/** Bytes of a file that is read. */
const BYTES_MAX = 8192
/** Bits of a mode that let others than the owner in. */
const OTHERS = 0o077

/**
 * Returns what takes the file away again. A store that is not a file has no address.
 * @throws Error of the file system
 */
export function publishAddress(store: StoreLocation, { url, token }: ServerAddress): () => void {
  if (store.type !== 'sqlite') return () => {}
  const file = findAddressFile(store.path)
  // A reader never sees half of it.
  const draft = `${file}.${randomUUID()}`
  writeFileSync(draft, JSON.stringify({ url: reachable(url), pid: process.pid, token }), { mode: 0o600, flag: 'wx' })
  renameSync(draft, file)
  return () => {
    // A later server over the same store may have written its own.
    const found = readOwnFile(file)
    if (found === undefined || decodeAddress(found)?.pid === process.pid) rmSync(file, { force: true })
  }
}

/**
 * Undefined: no server that runs has told where it is. The file of a server that died is removed. One that another user wrote,
 * or could have written, is not believed: it would lead the conversation to that user.
 */
export function findServer(store: StoreLocation): ServerAddress | undefined {
  if (store.type !== 'sqlite') return undefined
  const file = findAddressFile(store.path)
  const found = readOwnFile(file)
  const told = found === undefined ? undefined : decodeAddress(found)
  if (!told) return undefined
  if (isRunning(told.pid)) return told.address
  rmSync(file, { force: true })
  return undefined
}

/** Milliseconds for a server of this machine to take a connection. */
const ANSWER_MS = 2000

/** As `findServer`, where it takes connections: another process may have the number of one that died. */
export async function findAnsweringServer(store: StoreLocation): Promise<ServerAddress | undefined> {
  const found = findServer(store)
  if (!found) return undefined
  const { protocol, hostname, port } = new URL(found.url)
  const doesAnswer = await new Promise<boolean>((resolve) => {
    const socket = connect({
      host: hostname.replace(/^\[|\]$/g, ''),
      port: Number(port === '' ? (protocol === 'wss:' ? 443 : 80) : port),
      timeout: ANSWER_MS,
    })
    const end = (answers: boolean): void => {
      resolve(answers)
      socket.destroy()
    }
    socket.once('connect', () => end(true))
    socket.once('timeout', () => end(false))
    socket.once('error', () => end(false))
  })
  return doesAnswer ? found : undefined
}

/** Beside the file itself, whatever links lead to it. */
function findAddressFile(path: string): string {
  if (existsSync(path)) return `${realpathSync(path)}.server`
  const folder = dirname(path)
  return `${existsSync(folder) ? join(realpathSync(folder), basename(path)) : path}.server`
}

function readOwnFile(file: string): string | undefined {
  let opened: number
  try {
    // A pipe in its place must not be waited for.
    opened = openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0))
  } catch {
    return undefined
  }
  try {
    if (!isOwn(fstatSync(opened))) return undefined
    const bytes = Buffer.alloc(BYTES_MAX)
    return bytes.toString('utf8', 0, readSync(opened, bytes, 0, BYTES_MAX, 0))
  } finally {
    closeSync(opened)
  }
}

function isOwn(found: Stats): boolean {
  if (!found.isFile()) return false
  // Windows has neither users nor modes here; the folder's rights count.
  return process.getuid === undefined || (found.uid === process.getuid() && (found.mode & OTHERS) === 0)
}

function decodeAddress(text: string): { readonly address: ServerAddress; readonly pid: number } | undefined {
  let value: { readonly url?: unknown; readonly pid?: unknown; readonly token?: unknown } | null
  try {
    value = JSON.parse(text) as typeof value // any JSON, whose fields are looked at below
  } catch {
    return undefined
  }
  const { url, pid, token } = value ?? {}
  if (typeof url !== 'string' || !/^wss?:\/\//.test(url) || !URL.canParse(url) || !Number.isSafeInteger(pid))
    return undefined
  if (token !== undefined && typeof token !== 'string') return undefined
  return { address: { url, ...(token !== undefined && { token }) }, pid: Number(pid) }
}

function isRunning(pid: number): boolean {
  if (pid <= 0) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (cause) {
    return cause instanceof Error && 'code' in cause && cause.code === 'EPERM'
  }
}

/** An address that means all of a machine's is reached by its own. */
function reachable(url: string): string {
  return url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:')
}
