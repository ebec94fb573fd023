// The server is killed at every kind of moment of a turn and restarted over the same SQLite file. The page, the AI
// SDK's `useChat`, continues by itself: in the end it shows what the log has, and no effect has happened twice.
import { findFreePort } from '@baton/testing/free-port'
import type { StartedCommand } from '@baton/testing/start-command'
import { startCommand } from '@baton/testing/start-command'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { chooseRotating } from '@baton/testing/depth'
import { expect, test } from 'vitest'
import { countNotices, expectLogShown, openBrowser, say, untilTurnEnds } from './chat-web.test-kit.ts'
import type { JourneyWords } from './journey-server.test-kit.ts'
import type { Point } from './journey.test-kit.ts'
import { LAST_TEXT, POINTS, SHOWN_BY } from './journey.test-kit.ts'

const { hasBrowser, openPage, closers } = openBrowser()
const SERVER = join(import.meta.dirname, 'journey-server.test-kit.ts')

async function startServers() {
  const folder = mkdtempSync(join(tmpdir(), 'baton-chat-'))
  const port = await findFreePort()
  let server: StartedCommand | undefined
  const start = async (point?: Point): Promise<void> => {
    const words: JourneyWords = { folder, port, stopAt: point }
    server = startCommand(process.execPath, {
      words: ['--conditions=@baton/source', '--no-warnings', SERVER, JSON.stringify(words)],
    })
    await server.untilLine((line) => line === 'listening')
  }
  const kill = async (): Promise<void> => {
    server?.kill('SIGKILL')
    await server?.ended
  }
  const reached = () => server?.untilLine((line) => line === 'it is there')
  closers.push(() => rmSync(folder, { recursive: true }), kill)
  const readEffects = (): readonly string[] => readFileSync(join(folder, 'effects.txt'), 'utf8').trim().split('\n')
  return { start, kill, reached, readEffects, url: `http://127.0.0.1:${port}/` }
}

const allow = (page: Page) => page.getByRole('button', { name: 'Allow', exact: true })
const isAllowedBefore = (point: Point): boolean =>
  POINTS.indexOf(point) >= POINTS.indexOf('while the approved tool runs')

test
  .skipIf(!hasBrowser)
  .each(chooseRotating(['', '?over=websocket'].flatMap((query) => POINTS.map((point) => [point, query] as const))))(
  'it is killed %s %s',
  async (point, query) => {
    const { start, kill, reached, readEffects, url } = await startServers()
    await start(point)
    const page = await openPage(url, { query })
    await say(page, 'go')
    if (isAllowedBefore(point)) await allow(page).click()
    await reached()
    if (SHOWN_BY[point]) await page.getByText(SHOWN_BY[point]).first().waitFor({ state: 'attached' })
    await kill()
    await page.getByText('The connection is lost').waitFor()
    await start()
    if (!isAllowedBefore(point)) await allow(page).click()
    await untilTurnEnds(page, { url })
    await page.getByText(LAST_TEXT).waitFor()
    await page.getByRole('button', { name: 'Try again' }).waitFor()
    const [said, answer, ...more] = await expectLogShown(page, { url })
    // It is unknown whether the approved tool had its effect; it is not run again.
    const saved = point === 'while the approved tool runs' ? 'output-error' : 'output-available'
    expect([said?.texts, answer?.calls.at(-1), more]).toEqual([['go'], saved, []])
    expect(readEffects()).toEqual(['look', 'note.save'])
    expect(await countNotices(page)).toBe(1)
  },
)

test.skipIf(!hasBrowser)(
  'it is killed while the approval waits, and the page is loaded again before it is back',
  async () => {
    const { start, kill, readEffects, url } = await startServers()
    await start()
    const page = await openPage(url)
    await say(page, 'go')
    await allow(page).waitFor()
    await kill()
    await start()
    await page.reload()
    await allow(page).click()
    await page.getByText(LAST_TEXT).waitFor()
    await expectLogShown(page, { url })
    expect([readEffects(), await countNotices(page)]).toEqual([['look', 'note.save'], 1])
  },
)
