// A process that serves the chat page and stops at a point of the journey, or kills itself at a record, for tests that
// break it: `node journey-server.test-kit.ts WORDS`, with the words as JSON. Among several servers with the same
// folder, only one does so, once.
import type { Store } from '@baton/host'
import { openSqliteStore } from '@baton/host'
import { openPostgresStore } from '@baton/host/postgres'
import type { KillPlan } from '@baton/testing/kill-plan'
import { killingAt } from '@baton/testing/killing-store'
import { appendFileSync, existsSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { Point } from './journey.test-kit.ts'
import { createJourney } from './journey.test-kit.ts'
import { startChat } from './server.ts'

export interface JourneyWords {
  /** Folder of its effects, its marks, and its SQLite store. */
  readonly folder: string
  readonly port: number
  /** The point at which it stops until the file `go-on` exists in the folder. */
  readonly stopAt?: Point | undefined
  /** The address of a PostgreSQL store that it shares with its peers. */
  readonly postgres?: string
  /** When it kills itself. */
  readonly plan?: KillPlan | undefined
  /** Milliseconds that the page has for a call; the agent's value by default. */
  readonly pageMs?: number | undefined
  /** A file with the page's script. */
  readonly pageFile?: string
}

const SECRET = 'of-the-chat-servers-only'
const LEASE_MS = 2000
/** Interval of checks for a mark, in milliseconds. */
const LOOK_MS = 10

async function serve({ folder, port, stopAt, postgres, plan, pageMs, pageFile }: JourneyWords): Promise<void> {
  const agent = createJourney({
    pass: async (point) => {
      if (point !== stopAt || !isFirst(folder)) return
      process.stdout.write('it is there\n')
      while (!existsSync(join(folder, 'go-on'))) await setTimeout(LOOK_MS)
    },
    note: (tool) => appendFileSync(join(folder, 'effects.txt'), `${tool}\n`),
    ...(pageMs !== undefined && { pageMs }),
  })
  const page = pageFile === undefined ? {} : { pageProgram: readFileSync(pageFile, 'utf8') }
  if (postgres === undefined) {
    await startChat(agent, { ...page, port, store: await openSqliteStore(join(folder, 'sessions.db')) })
  } else {
    const store = await openPostgresStore(postgres, { leaseMs: LEASE_MS })
    const peers = { address: `ws://127.0.0.1:${port}`, secret: SECRET }
    // Logs one line for each request that is forwarded to the peer.
    const log = { info: (message: string) => void process.stdout.write(`${message}\n`), warn: () => {} }
    await startChat(agent, { ...page, port, peers, log, store: plan ? killingOnce(store, plan, folder) : store })
  }
  process.stdout.write('listening\n')
}

/** The server that takes over writes the same record, and survives. */
function killingOnce(store: Store, plan: KillPlan, folder: string): Store {
  const killing = killingAt(store, plan)
  return {
    ...store,
    append: (session, epoch, afterPos, records) => {
      const isIt = records.some(({ pos }) => pos === plan.at) && isFirst(folder)
      return (isIt ? killing : store).append(session, epoch, afterPos, records)
    },
  }
}

/** True once per folder, for any caller. */
function isFirst(folder: string): boolean {
  try {
    openSync(join(folder, 'reached'), 'wx')
    return true
  } catch {
    return false
  }
}

await serve(JSON.parse(process.argv[2] ?? '') as JourneyWords)
