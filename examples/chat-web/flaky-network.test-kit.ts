// A network between a page and its server that tests break: whole, or in one direction at the worst moment.
import type { Socket } from 'node:net'
import { connect, createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'

/**
 * `deaf`: the next thing that the page says is lost, and its connection with it. `mute`: the server hears it, and the
 * connection is lost with what the server answers.
 */
type Breakage = 'none' | 'cut' | 'deaf' | 'mute'

export interface FlakyNetwork {
  /** Where the page finds its server. */
  readonly url: string
  break(how: Exclude<Breakage, 'none'>): void
  mend(): void
  /** The port of the server that new connections reach from now on. */
  lead(port: number): void
  /** Resolves once a connection was broken since `break`. */
  readonly broken: () => Promise<void>
  stop(): Promise<void>
}

export async function startFlakyNetwork(serverPort: number): Promise<FlakyNetwork> {
  let breakage: Breakage = 'none'
  let leadsTo = serverPort
  let broken = Promise.withResolvers<void>()
  const open = new Set<Socket>()
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
    let hasSpoken = false
    page.on('data', (bytes) => {
      // The page's lists of chats and the like are not what tests break.
      hasSpoken = breakage !== 'none' && !bytes.toString('latin1').startsWith('GET ')
      if (breakage === 'deaf' && hasSpoken) lose(page)
      else upstream.write(bytes)
    })
    upstream.on('data', (bytes) => {
      if (breakage === 'mute' && hasSpoken) lose(page)
      else page.write(bytes)
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
    stop: async () => {
      for (const page of open) page.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** A browser sends a request that was lost once more by itself, which is lost as well. */
export async function loseUntilTold(network: FlakyNetwork, page: Page): Promise<void> {
  await network.broken()
  network.break('cut')
  await page.getByText('The connection is lost').waitFor()
}
