// Stores pins and logins in a JSON file that only its owner can read. Each change writes a new file and moves it into
// place; processes take turns.
import { randomBytes } from 'node:crypto'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { BatonError } from '@baton/core'
import type { LockOptions } from 'proper-lockfile'
import { lock } from 'proper-lockfile'
import type { McpTokenStore } from './auth.ts'
import type { McpPinStore } from './pins.ts'

/** @param path created at the first login, with its folder; only its owner can read it */
export function createFileTokenStore(path: string): McpTokenStore {
  const file = new JsonFile(path)
  return {
    read: async (server) => {
      const login = (await file.read())[server]
      return typeof login === 'string' ? login : undefined
    },
    write: (server, login) => file.change(server, login),
  }
}

/** @param path created for the first server, with its folder; only its owner can read it */
export function createFilePinStore(path: string): McpPinStore {
  const file = new JsonFile(path)
  return {
    read: async (server) => {
      const pins = (await file.read())[server]
      if (pins === undefined) return undefined
      if (!Array.isArray(pins) || !pins.every(isPin)) throw file.fail(`is damaged at "${server.slice(0, 100)}"`)
      return pins as Awaited<ReturnType<McpPinStore['read']>> // as written by `write`
    },
    write: (server, tools) => file.change(server, tools),
  }
}

/** Without its pin, a changed tool would be treated as new. */
function isPin(pin: unknown): boolean {
  return typeof pin === 'object' && pin !== null && 'name' in pin && typeof pin.name === 'string'
}

/**
 * A dead process's lock expires after ten seconds. Baton waits about as long for a living one. The file need not exist.
 */
const LOCK: LockOptions = {
  realpath: false,
  stale: 10_000,
  retries: { retries: 60, factor: 1.5, minTimeout: 10, maxTimeout: 200 },
  onCompromised: () => {},
}

class JsonFile {
  readonly #path: string
  #last: Promise<unknown> = Promise.resolve()

  constructor(path: string) {
    this.#path = path
  }

  /** Empty if there is no file. @throws BatonError `store_failed` if it cannot be read */
  async read(): Promise<Readonly<Record<string, unknown>>> {
    let text: string
    try {
      text = await readFile(this.#path, 'utf8')
    } catch (cause) {
      if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return {}
      throw this.fail('cannot be read', cause)
    }
    try {
      const value: unknown = JSON.parse(text)
      if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value }
    } catch (cause) {
      throw this.fail('is damaged', cause)
    }
    throw this.fail('is damaged')
  }

  /** Runs one change at a time. `undefined` removes the entry. @throws BatonError `store_failed` */
  change(name: string, value: unknown): Promise<void> {
    const change = async (): Promise<void> => {
      const release = await this.#lock()
      try {
        const entries = Object.entries(await this.read()).filter(([other]) => other !== name)
        if (value !== undefined) entries.push([name, value])
        await this.#write(`${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`)
      } finally {
        await release().catch(() => {}) // another process took over the lock, or the folder was deleted
      }
    }
    const done = this.#last.then(change, change)
    this.#last = done.catch(() => {
      // The caller gets the error. The next change does not depend on it.
    })
    return done
  }

  async #lock(): Promise<() => Promise<void>> {
    try {
      await mkdir(dirname(this.#path), { recursive: true, mode: 0o700 })
      return await lock(this.#path, LOCK)
    } catch (cause) {
      throw this.fail('cannot be locked', cause)
    }
  }

  async #write(text: string): Promise<void> {
    const beside = `${this.#path}.${randomBytes(6).toString('hex')}`
    try {
      await writeFile(beside, text, { mode: 0o600, flush: true })
      await rename(beside, this.#path)
    } catch (cause) {
      await rm(beside, { force: true })
      throw this.fail('cannot be written', cause)
    }
  }

  fail(what: string, cause?: unknown): BatonError {
    const why = cause instanceof Error ? `: ${cause.message}` : ''
    return new BatonError({
      code: 'store_failed',
      message: `the file ${this.#path} ${what}${why}`,
      hint: 'Fix or delete it. If it contained logins, those users must log in again.',
      ...(cause !== undefined && { cause }),
    })
  }
}
