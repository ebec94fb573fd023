// A process that answers messages of a chat over a store which others share: each line of its input is a message, for
// which it opens the session and closes it again. Started with `startChatProcess`.
import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Store } from '@baton/core'
import { defineAgent, isBatonError } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { createHost } from '../local/create-host.ts'
import { openPostgresStore } from './postgres/postgres-store.ts'
import { openSharedSqliteStore } from './shared/shared-sqlite-store.ts'

export interface Said {
  /** The answer, or the code of an error. */
  readonly outcome: string
  /** User messages that the model was sent with this one. */
  readonly messages: number
  /** Logs that were acquired and read for it. */
  readonly acquired: number
  readonly read: number
}

const SESSION = 'chat'
const OPEN = 'open'

export interface ChatProcess {
  say(text: string): Promise<Said>
  /** Like a power cut. */
  kill(): Promise<void>
  /** Closes its input, which stops the host. */
  stop(): Promise<void>
}

/** `place` is the URL of a database or the path of a shared file. */
export async function startChatProcess(place: string): Promise<ChatProcess> {
  const flags = ['--conditions=@baton/source', '--no-warnings']
  const child = spawn(process.execPath, [...flags, import.meta.filename, place], { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const next = async (): Promise<string> => {
    const line = await lines.next()
    if (line.done === true) throw new Error('the process of a chat has ended')
    return line.value
  }
  if ((await next()) !== OPEN) throw new Error('the process of a chat did not start')
  return {
    say: async (text) => {
      child.stdin.write(`${text}\n`)
      return JSON.parse(await next()) as Said // as `run` writes it
    },
    kill: () => end(child, () => child.kill('SIGKILL')),
    stop: () => end(child, () => child.stdin.end()),
  }
}

async function end(child: ChildProcess, act: () => void): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  act()
  await ended
}

async function run(place: string): Promise<void> {
  const disk = await (place.startsWith('postgres:')
    ? openPostgresStore(place)
    : openSharedSqliteStore(place, { waitMs: 60_000 }))
  let acquired = 0
  let read = 0
  /** Settles when the store knows that the session was let go. */
  let ending: Promise<unknown> = Promise.resolve()
  const store: Store = {
    ...disk,
    leaseMs: disk.leaseMs,
    acquire: (...given) => {
      acquired += 1
      return disk.acquire(...given)
    },
    read: (...given) => {
      read += 1
      return disk.read(...given)
    },
    rest: (...given) => {
      const resting = disk.rest?.(...given) ?? Promise.reject(new Error('this store knows no rest'))
      ending = resting.catch(() => {})
      return resting
    },
  }
  const model = createScriptedModel({ steps: () => ({ text: 'answer' }) })
  const host = createHost({ agent: defineAgent({ name: 'chat', model }), store })
  const answer = async (text: string): Promise<string> => {
    const session = await host.session(SESSION)
    try {
      return (await session.send(text).answer).text
    } finally {
      await session.close()
    }
  }
  process.stdout.write(`${OPEN}\n`)
  for await (const text of createInterface({ input: process.stdin })) {
    acquired = 0
    read = 0
    const outcome = await answer(text).catch((cause: unknown) => (isBatonError(cause) ? cause.code : String(cause)))
    await ending
    const messages = model.requests.at(-1)?.messages.filter(({ role }) => role === 'user').length ?? 0
    process.stdout.write(`${JSON.stringify({ outcome, messages, acquired, read } satisfies Said)}\n`)
  }
  await host.stop()
  await disk.close()
}

const [, program, place] = process.argv
if (program === import.meta.filename && place !== undefined) await run(place)
