// `baton worker` and two `baton serve --temporal` as processes, with a Temporal service, PostgreSQL and Redis.
import { findPostgres, startPostgres } from '@baton/testing/postgres'
import { findRedis, startRedis } from '@baton/testing/redis'
import type { StartedCommand } from '@baton/testing/start-command'
import { startCommand } from '@baton/testing/start-command'
import { findTemporal, startTemporal } from '@baton/testing/temporal'
import { connectV1App } from '@baton/testing/v1-app'
import { findFreePort } from '@baton/testing/free-port'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { openPage } from './console-page.test-kit.ts'

const BATON = fileURLToPath(new URL('../../bin/baton.mjs', import.meta.url))
const ROOT = fileURLToPath(new URL('../../../../', import.meta.url))
const AGENT = 'examples/goal-review/agent.ts'
const warn = (message: string): void => console.warn(message)
const what = 'the commands over Temporal'
const programs = [findTemporal(what, warn), findPostgres(what, warn), findRedis(what, warn)] as const
const [temporal, postgres, redis] = programs
const services =
  temporal !== undefined && postgres !== undefined && redis !== undefined
    ? {
        temporal: await startTemporal(temporal),
        postgres: await startPostgres(postgres),
        redis: await startRedis(redis),
      }
    : undefined
afterAll(async () => {
  await services?.temporal.close()
  await services?.redis.kill()
  await services?.postgres.close()
})

let commands: StartedCommand[] = []
afterEach(async () => {
  for (const command of commands) command.kill('SIGKILL')
  await Promise.all(commands.map(({ ended }) => ended))
  commands = []
})

const ENDED = { code: 0, signal: null }

function start(words: readonly string[]): StartedCommand {
  const command = startCommand(process.execPath, { words: [BATON, ...words], folder: ROOT })
  commands.push(command)
  return command
}

function listServices(): readonly string[] {
  if (!services) throw new Error('there are no services')
  const store = services.postgres.createDatabase()
  return ['--temporal', services.temporal.address, '--store', store, '--redis', services.redis.url]
}

async function serve(places: readonly string[]) {
  const command = start(['serve', ...places, '--agent', AGENT, '--port', '0', '--json'])
  const line = await command.untilLine((said) => said.includes('"listening"'))
  return { command, url: (JSON.parse(line) as { readonly url: string }).url }
}

async function askStatus(url: string): Promise<number | undefined> {
  return await fetch(url).then(
    ({ status }) => status,
    () => undefined,
  )
}

describe.skipIf(!services)('the commands over Temporal', () => {
  test('a worker and two gateways carry one conversation, tell their readiness, and drain at a signal', async () => {
    const places = listServices()
    const port = await findFreePort()
    const worker = start(['worker', ...places, '--agent', AGENT, '--health-port', String(port), '--json'])
    await worker.untilLine((line) => line.includes('"working"'))
    const folder = mkdtempSync(join(tmpdir(), 'baton-operator-'))
    writeFileSync(join(folder, 'mia.token'), 'the-token-of-mia-1')
    const gateways = [await serve(places), await serve([...places, '--console', `mia=${join(folder, 'mia.token')}`])]
    const health = `http://127.0.0.1:${port}`
    while ((await askStatus(`${health}/readyz`)) !== 200) await wait(100)
    expect(await askStatus(`${health}/healthz`)).toBe(200)
    expect(await askStatus(`${health}/other`)).toBe(404)
    for (const [index, { url }] of gateways.entries()) {
      expect(await askStatus(new URL('/readyz', url.replace('ws', 'http')).href)).toBe(200)
      const app = await connectV1App({ url, session: 'shared', runCall: () => 'nothing' })
      await app.say(`Is submission "${index === 0 ? 'leases' : 'orders'}" valid for payout?`)
      expect(JSON.stringify(app.frames)).toContain(index === 0 ? 'what a lease is for' : 'verdict')
      app.close()
    }
    const log = start(['log', 'shared', '--store', String(places[3])])
    expect(await log.ended).toEqual({ code: 0, signal: null })
    expect(log.output()).toContain('valid for payout')
    const file = join(mkdtempSync(join(tmpdir(), 'baton-export-')), 'shared.jsonl')
    expect(await start(['sessions', 'export', 'shared', '--store', String(places[3]), '--file', file]).ended).toEqual(
      ENDED,
    )
    expect(readFileSync(file, 'utf8')).toContain('valid for payout')
    const printed = start(['console', '--store', String(places[3]), '--json'])
    const listening = await printed.untilLine((line) => line.includes('"listening"'))
    const page = openPage((JSON.parse(listening) as { readonly url: string }).url)
    expect(await page.read('sessions?all=true')).toMatchObject({ sessions: [{ id: 'shared', activity: 'idle' }] })
    expect(JSON.stringify(await page.read('sessions/shared/requests/1'))).toContain('valid for payout')
    const operated = new URL('/console/api/sessions/shared/messages', gateways[1]?.url.replace('ws', 'http'))
    const answer = await fetch(operated, { headers: { authorization: 'Bearer the-token-of-mia-1' } })
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('valid for payout')])
    const removal = start(['sessions', 'delete', 'shared', ...places])
    expect(await removal.ended).toEqual(ENDED)
    const list = start(['sessions', 'list', '--store', String(places[3])])
    await list.ended
    expect(list.output()).not.toContain('shared')
    const workflows = await services?.temporal.command(['workflow', 'list', '--query', 'ExecutionStatus = "Running"'])
    expect(workflows).not.toContain('shared')
    const all = [worker, ...gateways.map(({ command }) => command)]
    for (const command of all) command.kill('SIGTERM')
    for (const command of all) expect(await command.ended).toEqual({ code: 0, signal: null })
  })

  test('a turn continues on another worker when its own one is shut down', async () => {
    const places = listServices()
    const words = ['worker', ...places, '--agent', AGENT, '--task-queue', 'handed-on', '--json']
    const first = start(words)
    await first.untilLine((line) => line.includes('"working"'))
    const { url } = await serve([...places, '--task-queue', 'handed-on'])
    const app = await connectV1App({ url, session: 'handed-on', runCall: () => 'nothing' })
    const said = app.say('Is submission "leases" valid for payout?')
    first.kill('SIGTERM')
    start(words)
    await said
    expect(await first.ended).toEqual({ code: 0, signal: null })
    expect(JSON.stringify(app.frames)).toContain('what a lease is for')
    app.close()
  })
})

describe('wrong options of commands over Temporal', () => {
  test.each([
    [['worker'], /a worker needs --temporal HOST:PORT/],
    [['worker', '--temporal', 'nowhere'], /--temporal must be HOST:PORT, such as localhost:7233, not "nowhere"/],
    [['worker', '--temporal', 'localhost:7233', '--store', 'memory:'], /--temporal needs a store shared by all/],
    [
      ['serve', '--temporal', 'localhost:7233', '--store', 'postgres://localhost/x', '--mcp', 'node x.js'],
      /--mcp has no effect over Temporal, where workers run the tools; pass it to "baton worker"/,
    ],
    [
      [
        ...'worker --temporal localhost:7233 --store postgres://localhost/x --log-level silent --model offline --mcp'.split(
          ' ',
        ),
        '/no/such/program',
      ],
      /MCP server "program" cannot be started: there is no program "\/no\/such\/program"/,
    ],
    [['serve', '--namespace', 'default'], /--namespace needs --temporal HOST:PORT/],
    [
      ['worker', '--temporal', 'localhost:7233', '--store', 'postgres://localhost/x', '--redis', 'localhost'],
      /--redis must be redis:\/\/HOST:PORT/,
    ],
    [
      ['worker', '--temporal', 'localhost:7233', '--store', 'postgres://localhost/x', '--health-port', '70000'],
      /--health-port/,
    ],
    [
      ['worker', '--temporal', '127.0.0.1:1', '--store', 'postgres://127.0.0.1:1/x', '--log-level', 'silent'],
      /store|connect|reach/i,
    ],
  ])('%j is refused in one line', async (words, said) => {
    const command = start(words)
    const { code } = await command.ended
    expect(code).not.toBe(0)
    const lines = command.errors().trim().split('\n')
    expect(lines[0]).toMatch(said)
    expect(lines.length).toBeLessThanOrEqual(2) // the second line is the hint
  })
})
