// A Hacker News API with items and users, in the format of https://github.com/HackerNews/API (read in 2026-11).
import { startLocalServer } from './local-server.ts'

type Json = Readonly<Record<string, unknown>>

export interface FakeHackerNews {
  readonly url: string
  readonly violations: string[]
  close(): Promise<void>
}

export async function startFakeHackerNews(init: {
  readonly items?: readonly ({ readonly id: number } & Json)[]
  readonly users?: readonly ({ readonly id: string } & Json)[]
}): Promise<FakeHackerNews> {
  const violations: string[] = []
  const { url, close } = await startLocalServer(({ method, url: asked }) => {
    const [, kind, id] = /^\/v0\/(item|user)\/([\w-]+)\.json$/.exec(asked.pathname) ?? []
    if (method !== 'GET' || kind === undefined) {
      violations.push(`${method} ${asked.pathname}`)
      return { status: 401, body: { error: 'Permission denied' } }
    }
    const all: readonly Json[] = (kind === 'item' ? init.items : init.users) ?? []
    // A missing item is null, with status 200.
    return { body: all.find((one) => String(one['id']) === id) ?? null }
  })
  return { url, violations, close }
}
