// The address of a store's server, in a file next to the store for its owner only. The file of a dead server is
// detected: its process does not exist, or its address does not answer.
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
  /** A token that works while the server runs; absent if it requires none. */
  readonly token?: string
}

/** Maximum bytes to read from the file. */
const BYTES_MAX = 8192
/** Mode bits that grant access to other users. */
const OTHERS = 0o077

/**
 * Writes the file, and returns a function that removes it. A store that is not a file has no address.
 * @throws Error of the file system
 */
export function publishAddress(store: StoreLocation, { url, token }: ServerAddress): () => void {
  if (store.type !== 'sqlite') return () => {}
  const file = findAddressFile(store.path)
  // Written and renamed, so that a reader never sees half of it.
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
 * Returns `undefined` if no running server has published an address. Removes the file of a dead server. A file that
 * another user wrote or could have written is not trusted: it would send the conversation to that user.
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

/** Milliseconds for a server on this machine to accept a connection. */
const ANSWER_MS = 2000

/** Like `findServer`, but checks that it accepts connections: another process may have the id of a dead one. */
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

/** The file is next to the store itself, with links resolved. */
function findAddressFile(path: string): string {
  if (existsSync(path)) return `${realpathSync(path)}.server`
  const folder = dirname(path)
  return `${existsSync(folder) ? join(realpathSync(folder), basename(path)) : path}.server`
}

function readOwnFile(file: string): string | undefined {
  let opened: number
  try {
    // Non-blocking, in case a pipe is in its place.
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
  // Windows has neither users nor modes here; the folder's permissions apply.
  return process.getuid === undefined || (found.uid === process.getuid() && (found.mode & OTHERS) === 0)
}

function decodeAddress(text: string): { readonly address: ServerAddress; readonly pid: number } | undefined {
  let value: { readonly url?: unknown; readonly pid?: unknown; readonly token?: unknown } | null
  try {
    value = JSON.parse(text) as typeof value // any JSON, whose fields are checked below
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

/** Replaces an address that means all of a machine's by a local one. */
function reachable(url: string): string {
  return url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:')
}
