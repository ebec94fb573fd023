// Programs of the pages on Deno: a store in a SQLite file with its threads, the handler of chats, and limits of a turn. BATON_DENO
// names the program, or `deno` in PATH is it.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'
import { leaveOut } from '../left-out.ts'
import { startCommand } from '../start-command.ts'

const FLAGS = ['run', '-A', '--conditions=@baton/source', '--no-lock', '--no-check']
const deno = findDeno()
const folder = mkdtempSync(join(tmpdir(), 'baton-deno-'))
afterAll(() => rmSync(folder, { recursive: true }))

describe.skipIf(!deno)('on Deno', () => {
  test.each([
    ['persistence', /^messages so far: 0$/m],
    // The second process reads what the first one has closed.
    ['persistence', /^messages so far: 2$/m],
    ['chat', /^data: \[DONE\]$/m],
    ['limits', /^I found nothing\./m],
  ])('the program %s of the pages says %s, and ends without an error', async (name, said) => {
    const file = fileURLToPath(new URL(`../../../../examples/guide/${name}.ts`, import.meta.url))
    const command = startCommand(deno ?? '', {
      words: [...FLAGS, file],
      folder,
      variables: { NO_COLOR: '1', HOME: folder },
    })
    const ended = await command.ended
    expect(command.errors()).not.toContain('error')
    expect(ended).toEqual({ code: 0, signal: null })
    expect(command.output()).toMatch(said)
  })
})

function findDeno(): string | undefined {
  const program = process.env['BATON_DENO'] ?? 'deno'
  if (spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0) return program
  const lack = {
    why: 'there is no Deno',
    remedy: 'Install it by `npm install deno`, or set BATON_DENO to it, to run it.',
  }
  return leaveOut('programs of the pages on Deno', lack, console.warn)
}
