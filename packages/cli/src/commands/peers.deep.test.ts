// Two `baton serve --store postgres://…` behind one port: apps keep talking while the servers are restarted in turn,
// and chats over HTTP reach the wrong server.
import type { V1Client } from '@baton/client'
import { createV1Client } from '@baton/client'
import { startBalancer } from '@baton/testing/balancer'
import { findFreePort } from '@baton/testing/free-port'
import type { PostgresServer } from '@baton/testing/postgres'
import { findPostgres, startPostgres } from '@baton/testing/postgres'
import type { StartedCommand } from '@baton/testing/start-command'
import { startCommand } from '@baton/testing/start-command'
import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openPage, post } from './console-page.test-kit.ts'

const BATON = fileURLToPath(new URL('../../bin/baton.mjs', import.meta.url))
const SECRET = 'of-the-peers-only'
const programs = findPostgres('baton serve over PostgreSQL', console.warn)

describe.skipIf(programs === undefined)('two baton servers over one PostgreSQL store', () => {
  let postgres: PostgresServer
  let store: string
  beforeAll(async () => {
    postgres = await startPostgres(programs ?? '')
    store = postgres.createDatabase()
  })
  afterAll(async () => {
    for (const server of lives) {
      server.kill('SIGKILL')
      await server.ended
    }
    await postgres.close()
  })

  const lives: StartedCommand[] = []
  const start = async (port: number): Promise<StartedCommand> => {
    const words = ['serve', '--port', String(port), '--peer-address', `ws://127.0.0.1:${port}`, '--json']
    const variables = { BATON_STORE: store, BATON_PEER_SECRET: SECRET, BATON_TOKEN: 'a-token-of-the-apps' }
    const server = startCommand(process.execPath, {
      words: [BATON, ...words, '--model', 'offline'],
      folder: tmpdir(),
      variables,
    })
    lives.push(server)
    await server.untilLine((line) => line.includes('listening'))
    return server
  }

  test('are restarted in turn while apps talk, and no turn fails', async () => {
    const ports = [await findFreePort(), await findFreePort()] as const
    const servers = [await start(ports[0]), await start(ports[1])]
    const balancer = await startBalancer(ports)
    const url = `ws://127.0.0.1:${balancer.port}/ws?token=a-token-of-the-apps`
    const errors: unknown[] = []
    // Connections alternate, so one of each session's two apps reaches a server that does not hold the session.
    const sessions = ['a', 'b', 'c', 'a', 'b', 'c']
    const apps = sessions.map((session) => createV1Client({ url, session, reconnect: { baseMs: 50, mostMs: 500 } }))
    for (const app of apps) app.on('error', (error) => errors.push(error))
    for (let round = 0; round < 4; round++) {
      await talk(apps, `hello, round ${round}`)
      const index = round % 2
      servers[index]?.kill('SIGTERM')
      expect((await servers[index]?.ended)?.code).toBe(0)
      servers[index] = await start(ports[index === 0 ? 0 : 1])
    }
    await talk(apps, 'hello at last')
    expect(errors).toEqual([])
    for (const app of apps) app.close()
    const said = lives.map((server) => `${server.output()}${server.errors()}`).join('')
    expect(said).toContain('a connection was passed on to the server that holds its session')
    expect(said).not.toContain(SECRET)
    for (const server of servers) {
      server.kill('SIGTERM')
      expect((await server.ended).code).toBe(0)
    }
    await balancer.close()
  })

  test('answer chats over HTTP for each other, and go on without one that was killed', async () => {
    const ports = [await findFreePort(), await findFreePort()] as const
    const [holder, other] = [await start(ports[0]), await start(ports[1])]
    const app = createV1Client({ url: `ws://127.0.0.1:${ports[0]}/ws?token=a-token-of-the-apps`, session: 'web' })
    await talk([app], 'hello')
    const ask = async (path: string, body?: object) => {
      const headers = { authorization: 'Bearer a-token-of-the-apps', 'content-type': 'application/json' }
      const init = { headers, ...(body && { method: 'POST', body: JSON.stringify(body) }) }
      const response = await fetch(`http://127.0.0.1:${ports[1]}/api/${path}`, init)
      return { status: response.status, after: response.headers.get('retry-after'), text: await response.text() }
    }
    const message = { id: 'm1', role: 'user', parts: [{ type: 'text', text: 'hello over HTTP' }] }
    const answered = await ask('chat', { id: 'web', messages: [message] })
    expect([answered.status, answered.text]).toEqual([200, expect.stringMatching(/"finish"[^]*\[DONE\]/)])
    const read = await ask('sessions/web/messages')
    expect([read.status, read.text]).toEqual([200, expect.stringContaining('hello over HTTP')])
    app.close()
    expect(other.errors() + other.output()).toContain('a request was passed on to the server that holds its session')
    holder.kill('SIGKILL')
    await holder.ended
    const late = { ...message, id: 'm2', parts: [{ type: 'text', text: 'are you there?' }] }
    const tried: (string | null)[] = []
    const again = async (): Promise<string> => {
      const { status, after, text } = await ask('chat', { id: 'web', messages: [late] })
      if (status === 200) return text
      tried.push(after)
      return ''
    }
    await expect.poll(again, { interval: 500, timeout: 60_000 }).toContain('[DONE]')
    expect(tried.filter((after) => after !== '1')).toEqual([])
    for (const server of [holder, other]) expect(`${server.output()}${server.errors()}`).not.toContain(SECRET)
  })

  test('are read by a console over their database, which continues a session with --act', async () => {
    const url = `http://127.0.0.1:${await findFreePort()}`
    const server = await start(Number(new URL(url).port))
    const token = { authorization: 'Bearer a-token-of-the-apps' }
    const message = { id: 'm1', role: 'user', parts: [{ type: 'text', text: 'hello from the office' }] }
    const said = await post(`${url}/api/chat`, token, { id: 'office', messages: [message] })
    expect(await said.text()).toContain('[DONE]')
    const open = async (words: readonly string[]) => {
      const page = startCommand(process.execPath, {
        words: [BATON, 'console', '--store', store, '--json', ...words],
        folder: tmpdir(),
      })
      lives.push(page)
      return openPage((JSON.parse(await page.untilLine((line) => line.includes('listening'))) as { url: string }).url)
    }
    const reading = await open([])
    expect(await reading.read('sessions?all=true&search=office')).toMatchObject({ sessions: [{ id: 'office' }] })
    expect(await reading.read('sessions/office/requests/1')).toMatchObject({
      request: { messages: [{ role: 'user', parts: [{ type: 'text', text: 'hello from the office' }] }] },
    })
    expect((await reading.act('sessions/office/retry')).status).toBe(403)
    server.kill('SIGTERM')
    await server.ended
    const acting = await open(['--act', '--model', 'offline'])
    expect((await acting.act('sessions/office/retry')).status).toBe(200)
    await expect.poll(async () => JSON.stringify(await reading.read('sessions/office/log'))).toContain('"by":"console"')
  })

  test('end when they are told to while the database is away', async () => {
    const other = postgres.createDatabase()
    const server = startCommand(process.execPath, {
      words: [BATON, 'serve', '--port', '0', '--json', '--model', 'offline', '--drain-ms', '500'],
      folder: tmpdir(),
      variables: { BATON_STORE: other },
    })
    lives.push(server)
    const line = await server.untilLine((text) => text.includes('listening'))
    const { url } = JSON.parse(line) as { readonly url: string }
    const app = createV1Client({ url, session: 'a' })
    await talk([app], 'hello')
    await postgres.stop()
    server.kill('SIGTERM')
    expect((await server.ended).code).toBe(0)
    app.close()
    await postgres.start()
  })

  test('refuse to share without a secret, and with one that is short', async () => {
    const words = [BATON, 'serve', '--peer-address', 'ws://127.0.0.1:9', '--store', store]
    for (const variables of [{}, { BATON_PEER_SECRET: 'short' }]) {
      const server = startCommand(process.execPath, { words, folder: tmpdir(), variables })
      expect((await server.ended).code).toBe(2)
      expect(server.errors()).toMatch(/secret/i)
    }
  })
})

/** The first three apps send the text; every app hears the answer. */
async function talk(apps: readonly V1Client[], text: string): Promise<void> {
  const heard = apps.map((app) => hearFinal(app))
  for (const app of apps.slice(0, 3)) app.say(text)
  await Promise.all(heard)
}

function hearFinal(app: V1Client): Promise<string> {
  return new Promise((resolve) => {
    const stop = app.on('final', (answer) => {
      stop()
      resolve(answer)
    })
  })
}
