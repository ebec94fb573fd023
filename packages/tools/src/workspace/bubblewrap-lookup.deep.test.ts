// A sandbox that could not start once: later commands still run in it when it can.
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createToolContext } from '@baton/core/testing'
import { leaveOut } from '@baton/testing/left-out'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { findBox } from './bubblewrap.ts'
import { workspaceTools } from './workspace-tools.ts'

let place = ''
let root = ''

beforeEach(() => {
  place = realpathSync(mkdtempSync(join(tmpdir(), 'baton-box-')))
  root = join(place, 'root')
  mkdirSync(root)
})

afterEach(() => rmSync(place, { recursive: true, force: true }))

test.each([
  ['required', 'tool_failed'],
  ['auto', 'none'],
] as const)('a place that is readable only later fails the commands before it (%s)', async (sandbox, before) => {
  const found = await findBox({ root, folder: root, network: false, readable: [] })
  if ('problem' in found)
    return leaveOut('the sandbox of shell.run', { why: found.problem, remedy: 'Install bubblewrap.' }, console.warn)
  const toolchain = join(place, 'toolchain')
  const shell = workspaceTools({ root, shell: { sandbox, readable: [toolchain] } }).find(
    ({ name }) => name === 'shell.run',
  )
  const run = async (): Promise<unknown> => {
    try {
      const input = { command: 'true', folder: '.', timeoutMs: 20_000 }
      return Reflect.get(Object(await shell?.execute?.(input as never, createToolContext())), 'sandbox')
    } catch (thrown) {
      return Reflect.get(Object(thrown), 'code')
    }
  }
  expect(await run()).toBe(before)
  mkdirSync(toolchain)
  expect(await run()).toBe('bubblewrap')
})
