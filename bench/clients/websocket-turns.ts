// A measured client that is a server: an app in another process starts its turns.
import { fork } from 'node:child_process'
import { join } from 'node:path'
import { ask } from '../process-answer.ts'
import type { AppOrder } from './app-orders.ts'
import type { Client, Ran } from './client.ts'

export interface ServerOptions {
  readonly url: string
  readonly dialect: 'v1' | 'bare'
  readonly close: () => Promise<void>
}

/** Both servers trim the whole text, and the provider's texts end with a blank. */
const TRIMMED_CHARS = 1

export function turnsOverWebSocket({ url, dialect, close }: ServerOptions): Client {
  return turnsOfApp('websocket-app.ts', { words: [url, dialect], missingChars: TRIMMED_CHARS, close })
}

export interface AppOptions {
  readonly words: readonly string[]
  /** Number of missing characters in a turn's text. */
  readonly missingChars: number
  readonly close: () => Promise<void>
}

/** `file` is the program of the app, in this folder. */
export function turnsOfApp(file: string, { words, missingChars, close }: AppOptions): Client {
  const app = fork(join(import.meta.dirname, file), [...words], { execArgv: [] })
  const obey = (order: AppOrder): Promise<Omit<Ran, 'delaysUs'>> => ask(app, order)
  return {
    run: async (turns, atOnce) => {
      const { chars, tools } = await obey({ connections: atOnce, turns })
      return { chars: chars + turns * missingChars, tools, delaysUs: [] }
    },
    connect: async (connections) => void (await obey({ connections, turns: 0 })),
    close: async () => {
      app.disconnect()
      await close()
    },
  }
}
