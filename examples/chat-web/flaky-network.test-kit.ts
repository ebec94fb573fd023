// A network between a page and its server that tests break: completely, or in one direction at the worst moment. It can
// also stop at an event that the server writes, until the server is killed.
import type { KillPlan } from '@baton/testing/kill-plan'
import type { Socket } from 'node:net'
import { connect, createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import { createWrittenEvents } from './written-events.test-kit.ts'

/**
 * `deaf`: the page's next message is lost together with its connection. `mute`: the server receives the message, and
 * the connection is lost with the server's answer.
 */
type Breakage = 'none' | 'cut' | 'deaf' | 'mute'

export interface FlakyNetwork {
  /** The address at which the page reaches its server. */
  readonly url: string
  break(how: Exclude<Breakage, 'none'>): void
  mend(): void
  /** Sets the port of the server for new connections. */
  lead(port: number): void
  /** Resolves when a connection has been broken since `break`. */
  readonly broken: () => Promise<void>
  /**
   * Stops data to the page at an event of the server (its number, from 1); with `before`, the event itself is also
   * withheld. The page's messages still arrive. `onStanding` is called when the stop takes effect.
   */
  standAt(plan: Pick<KillPlan, 'at' | 'moment'>, onStanding: () => void): void
  /** Whether the stop has taken effect. */
  readonly isStanding: () => boolean
  /** Passes on what has waited since the event; with `before` and `after`, drops it. */
  goOn(): void
  /** Number of events that the server has written. */
  readonly countEvents: () => number
  stop(): Promise<void>
}

export async function startFlakyNetwork(serverPort: number): Promise<FlakyNetwork> {
  let breakage: Breakage = 'none'
  let leadsTo = serverPort
  let broken = Promise.withResolvers<void>()
  const open = new Set<Socket>()
  const stand = createStand()
  const lose = (page: Socket): void => {
    page.resetAndDestroy()
    broken.resolve()
  }
  const server = createServer((page) => {
    if (breakage === 'cut') {
      lose(page)
      return
    }
    open.add(page)
    const upstream = connect(leadsTo, '127.0.0.1')
    page.on('error', () => page.destroy()).on('close', () => upstream.destroy())
    page.on('close', () => open.delete(page))
    upstream.on('error', () => upstream.destroy()).on('close', () => page.destroy())
    const events = createWrittenEvents()
    let hasSpoken = false
    page.on('data', (bytes) => {
      // Requests such as the page's lists of chats are not broken.
      hasSpoken = breakage !== 'none' && !bytes.toString('latin1').startsWith('GET ')
      if (breakage === 'deaf' && hasSpoken) lose(page)
      else upstream.write(bytes)
    })
    upstream.on('data', (bytes) => {
      if (breakage === 'mute' && hasSpoken) lose(page)
      else stand.pass(page, bytes, events.read(bytes))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // it listens on a port
  return {
    url: `http://127.0.0.1:${port}/`,
    break: (how) => {
      broken = Promise.withResolvers()
      breakage = how
      if (how === 'cut') for (const page of open) lose(page)
    },
    mend: () => {
      breakage = 'none'
    },
    lead: (port) => {
      leadsTo = port
    },
    broken: () => broken.promise,
    standAt: stand.standAt,
    isStanding: stand.isStanding,
    goOn: stand.goOn,
    countEvents: stand.countEvents,
    stop: async () => {
      for (const page of open) page.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Controls the data to a page over all its connections. */
function createStand() {
  let count = 0
  let plan: Pick<KillPlan, 'at' | 'moment'> | undefined
  let held: (() => void)[] | undefined
  let tell = (): void => {}
  return {
    standAt: (next: NonNullable<typeof plan>, onStanding: () => void): void => {
      plan = next
      tell = onStanding
    },
    isStanding: (): boolean => held !== undefined,
    countEvents: (): number => count,
    goOn: (): void => {
      const waiting = plan?.moment === 'later' ? held : []
      plan = held = undefined
      for (const write of waiting ?? []) write()
    },
    /** `ends` are the positions in the bytes where events end. */
    pass: (page: Socket, bytes: Uint8Array, ends: readonly number[]): void => {
      const index = plan && !held ? Number(plan.at) - count - 1 : -1
      count += ends.length
      if (held) {
        held.push(() => page.write(bytes))
        return
      }
      const end = ends[index]
      if (end === undefined) {
        page.write(bytes)
        return
      }
      const until = plan?.moment === 'before' ? (ends[index - 1] ?? 0) : end
      if (until > 0) page.write(bytes.subarray(0, until))
      held = [() => page.write(bytes.subarray(until))]
      tell()
    },
  }
}

/**
 * Waits until the loss is reported: a browser repeats a lost request once by itself, and the repeated one is lost as
 * well.
 */
export async function loseUntilTold(network: FlakyNetwork, page: Page): Promise<void> {
  await network.broken()
  network.break('cut')
  await page.getByText('The connection is lost').waitFor()
}
