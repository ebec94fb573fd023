// The socket beside a store's file, for its user alone: where it is, whether it may be believed, and both of its ends.
import { chmodSync, lstatSync, rmSync } from 'node:fs'
import type { Server, Socket } from 'node:net'
import { connect } from 'node:net'
import { findRealPath } from '../sqlite/store-file.ts'

/** Bytes of a path that every system takes for a socket. */
const PATH_BYTES_MAX = 100
/** Bits of a mode that let others than the owner in. */
const OTHERS = 0o077

export type SocketPlace =
  { readonly type: 'place'; readonly place: string } | { readonly type: 'none'; readonly why: string }

/** Beside the file itself, whatever links lead to it. */
export function findSocket(path: string): SocketPlace {
  if (process.platform === 'win32') return { type: 'none', why: 'Windows has no sockets that are one user’s alone' }
  const place = `${findRealPath(path)}.socket`
  const bytes = Buffer.byteLength(place)
  if (bytes <= PATH_BYTES_MAX) return { type: 'place', place }
  return {
    type: 'none',
    why: `the path of its socket, ${place}, would have ${bytes} bytes, and ${PATH_BYTES_MAX} are the most that every system takes`,
  }
}

/** Undefined: nobody listens there, or somebody whom this user must not believe. */
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
 * Whoever calls it has the lock of the store, so what stands in the place is dead.
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

/** Nobody else connects before the rights are set: the mask makes it without them. Threads may not set one. */
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
