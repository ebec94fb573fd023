// The socket next to a store's file, for its user only: its path, whether it can be trusted, and both of its ends.
import { chmodSync, lstatSync, rmSync } from 'node:fs'
import type { Server, Socket } from 'node:net'
import { connect } from 'node:net'
import { findRealPath } from '../sqlite/store-file.ts'

/** Longest socket path, in bytes, that every system accepts. */
const PATH_BYTES_MAX = 100
/** Mode bits that grant access to other users. */
const OTHERS = 0o077

export type SocketPlace =
  { readonly type: 'place'; readonly place: string } | { readonly type: 'none'; readonly why: string }

/** The socket is next to the file itself, with links resolved. */
export function findSocket(path: string): SocketPlace {
  if (process.platform === 'win32') return { type: 'none', why: 'Windows has no sockets for a single user' }
  const place = `${findRealPath(path)}.socket`
  const bytes = Buffer.byteLength(place)
  if (bytes <= PATH_BYTES_MAX) return { type: 'place', place }
  return {
    type: 'none',
    why: `the path of its socket, ${place}, would have ${bytes} bytes, but some systems accept at most ${PATH_BYTES_MAX}`,
  }
}

/** Returns `undefined` if no process listens there, or its process must not be trusted. */
export async function connectTo(place: string): Promise<Socket | undefined> {
  if (!isOwnSocket(place)) return undefined
  return await new Promise((resolve) => {
    const socket = connect(place)
    const refuse = (): void => resolve(undefined)
    socket.once('error', refuse)
    socket.once('connect', () => {
      socket.off('error', refuse)
      resolve(socket)
    })
  })
}

/**
 * Listens at `place`. The caller holds the store's lock, so any existing socket is dead and is replaced.
 * @throws Error of the file system or the network
 */
export function listenAt(server: Server, place: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    rmSync(place, { force: true })
    const restore = maskOthers()
    try {
      server.listen(place, () => {
        server.off('error', reject)
        resolve()
      })
    } finally {
      restore()
    }
    if (server.listening) chmodSync(place, 0o600)
  })
}

/**
 * Creates the socket without permissions for others, so that none can connect before they are set. Threads cannot
 * change the mask.
 */
function maskOthers(): () => void {
  try {
    const before = process.umask(0o177)
    return () => void process.umask(before)
  } catch {
    return () => {}
  }
}

function isOwnSocket(place: string): boolean {
  const found = lstatSync(place, { throwIfNoEntry: false })
  return found?.isSocket() === true && found.uid === process.getuid?.() && (found.mode & OTHERS) === 0
}
