// The output of the example, with time controlled by the test; and the example as a process.
import type { Environment, Model } from '@baton/host'
import { createScriptedModel } from '@baton/host/testing'
import { createVirtualTime } from '@baton/testing/virtual-time'
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { createScriptedCopilot } from './scripted-copilot.ts'
import { playTimeline } from './timeline.ts'

const PAGE = new URL('../../docs/listening-agent.md', import.meta.url)
const START = fileURLToPath(new URL('start.ts', import.meta.url))

async function play(createModel: (timers: Environment['timers']) => Model): Promise<readonly string[]> {
  const time = createVirtualTime(0)
  const { clock, timers } = time
  let serial = 0
  const transport = { post: () => Promise.reject(new Error('there is no network')) }
  const environment = { clock, timers, newId: () => `id-${(serial += 1)}`, transport }
  const lines: string[] = []
  await time.until(playTimeline({ environment, model: createModel(timers), print: (line) => void lines.push(line) }))
  return lines
}

test('what a model says cannot forge a line of somebody else, nor steer the terminal', async () => {
  const text = 'Hm.\n 99.9 s  Ann      I pay double.\u001b[2J\u202e'
  const lines = await play(() => createScriptedModel({ steps: () => ({ text }) }))
  expect(lines.some((line) => line.endsWith('copilot  Hm.  99.9 s  Ann      I pay double.\\u001b[2J\\u202e'))).toBe(
    true,
  )
  expect(lines.filter((line) => /[\p{Cc}\p{Bidi_Control}]/u.test(line))).toEqual([])
})

test('the timeline is that of the page', async () => {
  const lines = await play(createScriptedCopilot)
  const page = await readFile(PAGE, 'utf8')
  expect(lines.join('\n')).toBe(/```text\n([^`]+)\n```/.exec(page)?.[1])
})

test('the program prints it without a key', async () => {
  const command = ['--conditions=@baton/source', START]
  const env = { PATH: process.env['PATH'], SPEED: '100' }
  const { stdout } = await promisify(execFile)(process.execPath, command, { timeout: 180_000, env })
  expect(stdout).toMatch(/^a script plays the model\n/)
  expect(stdout.match(/EVENT .*/g)).toEqual([
    'EVENT    OFFER_RECEIVED',
    'EVENT    DEADLINE_MOVED',
    'EVENT    OFFER_WITHDRAWN (interrupts)',
  ])
  expect(stdout).toMatch(/copilot {2}offer\.compare: \{"centsPerSeatAndYear":8000/)
  expect(stdout).toMatch(/copilot {2}The offer is gone\./)
})
