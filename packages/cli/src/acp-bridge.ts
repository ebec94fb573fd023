// Several editors over one SQLite file: the process that has the file listens at a socket beside it, for its user alone. A later process
// finds it there and only passes messages on.
import type { Logger } from '@baton/core'
import { BatonError, isJsonObject, parseJson } from '@baton/core'
import { chmodSync, realpathSync, rmSync } from 'node:fs'
import type { Socket } from 'node:net'
import { connect, createServer } from 'node:net'
import { basename, dirname, join } from 'node:path'
import type { Readable, Writable } from 'node:stream'

/** Bytes of a path that every system takes for a socket. */
const PATH_BYTES = 100
/** Bytes of the first line, in either direction. */
const GREETING_BYTES = 16_384
/** Milliseconds for the greeting. */
const GREETING_MS = 5000

export interface BridgeHolder {
  /** Refuses later processes, and settles when the connected ones have left. Never rejects. */
  untilAlone(): Promise<void>
  close(): void
}

export interface BridgeInit {
  /** Of the store. */
  readonly path: string
  /** Says which agent is served, with which options: a process that was started otherwise is refused. */
  readonly served: string
  readonly serve: (input: Readable, output: Writable) => Promise<void>
  readonly log: Logger
}

/** Undefined where the system or the path does not allow a socket. Who calls it has the lock of the store, so an old socket is dead. */
export async function holdBridge({ path, served, serve, log }: BridgeInit): Promise<BridgeHolder | undefined> {
  const place = findSocket(path)
  if (place === undefined) return undefined
  const open = new Set<Socket>()
  let wake = Promise.withResolvers<void>()
  const server = createServer((socket) => {
    open.add(socket)
    socket.on('error', () => {}) // `close` follows
    socket.once('close', () => {
      open.delete(socket)
      wake.resolve()
    })
    greet(socket, served)
      .then((isWelcome) => (isWelcome ? serve(socket, socket) : undefined))
      .catch((cause: unknown) => log.info('another editor could not be served', { cause: String(cause).slice(0, 500) }))
      .finally(() => socket.end())
  })
  const listening = await new Promise<boolean>((resolve) => {
    server.once('error', (cause) => {
      log.info('later processes cannot share this store', { cause: cause.message })
      resolve(false)
    })
    rmSync(place, { force: true })
    // Before anybody can connect, and not after.
    const before = process.umask(0o177)
    server.listen(place, () => resolve(true))
    process.umask(before)
  })
  if (!listening) return undefined
  chmodSync(place, 0o600)
  return {
    untilAlone: async () => {
      server.close()
      rmSync(place, { force: true })
      while (open.size > 0) {
        wake = Promise.withResolvers()
        await wake.promise
      }
    },
    close: () => {
      server.close()
      for (const socket of open) socket.destroy()
      rmSync(place, { force: true })
    },
  }
}

export interface BridgeEnds {
  readonly input: Readable
  readonly output: Writable
}

/** Passes everything on until one end closes. Never rejects. */
export type Crossing = (ends: BridgeEnds) => Promise<'editor-left' | 'holder-left'>

/**
 * The way to the process that has the store. Undefined: nobody listens there.
 * @throws BatonError `store_locked` if the holder serves another agent
 */
export async function crossBridge(path: string, served: string): Promise<Crossing | undefined> {
  const place = findSocket(path)
  const socket = place === undefined ? undefined : await connectTo(place)
  if (!socket) return undefined
  socket.write(`${JSON.stringify({ served })}\n`)
  const answer = await readLine(socket)
  if (answer['ok'] !== true) {
    socket.destroy()
    const pid = typeof answer['pid'] === 'number' ? ` (process ${answer['pid']})` : ''
    throw new BatonError({
      code: 'store_locked',
      message: `another "baton acp"${pid} has the store ${path}, with another agent or other options`,
      hint: 'End it, or name another file by --store sqlite:FILE.',
    })
  }
  return ({ input, output }) =>
    new Promise((resolve) => {
      socket.once('close', () => resolve('holder-left'))
      socket.on('error', () => {}) // `close` follows
      // Also one that is destroyed.
      input.once('close', () => {
        resolve('editor-left')
        socket.end()
      })
      input.once('end', () => input.destroy())
      socket.pipe(output, { end: false })
      input.pipe(socket)
    })
}

async function greet(socket: Socket, served: string): Promise<boolean> {
  const said = await readLine(socket)
  const isWelcome = said['served'] === served
  socket.write(`${JSON.stringify(isWelcome ? { ok: true } : { ok: false, pid: process.pid })}\n`)
  return isWelcome
}

/** What comes after the line stays in the socket. @throws BatonError `store_locked` */
function readLine(socket: Socket): Promise<Readonly<Record<string, unknown>>> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = []
    let length = 0
    const end = (act: () => void): void => {
      clearTimeout(timer)
      socket.off('readable', take)
      socket.off('close', fail)
      act()
    }
    const fail = (): void =>
      end(() =>
        reject(new BatonError({ code: 'store_locked', message: 'the process that has the store did not answer' })),
      )
    const take = (): void => {
      for (let piece = socket.read() as Buffer | null; piece; piece = socket.read() as Buffer | null) {
        const newline = piece.indexOf(10)
        pieces.push(newline < 0 ? piece : piece.subarray(0, newline))
        length += piece.length
        if (newline < 0 && length <= GREETING_BYTES) continue
        if (newline < 0) return fail()
        if (newline + 1 < piece.length) socket.unshift(piece.subarray(newline + 1))
        const parsed = parseJson(Buffer.concat(pieces).toString('utf8'))
        return end(() => resolve(parsed.ok && isJsonObject(parsed.value) ? parsed.value : {}))
      }
      return undefined
    }
    const timer = setTimeout(fail, GREETING_MS)
    socket.on('readable', take)
    socket.once('close', fail)
  })
}

function connectTo(place: string): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = connect(place)
    socket.once('connect', () => {
      socket.off('error', ignore)
      resolve(socket)
    })
    const ignore = (): void => resolve(undefined)
    socket.once('error', ignore)
  })
}

/** Beside the file itself, whatever links lead to it. */
function findSocket(path: string): string | undefined {
  if (process.platform === 'win32') return undefined
  let folder: string
  try {
    folder = realpathSync(dirname(path))
  } catch {
    return undefined
  }
  const place = join(folder, `${basename(path)}.acp`)
  return Buffer.byteLength(place) <= PATH_BYTES ? place : undefined
}
