// Runs the README's first commands in order: a server, a chat that finds it, then the others next to it. Runs as the
// current user and, in root's deep run, as an ordinary user too.
import type { StartedCommand } from '@baton/testing/start-command'
import { isDeep } from '@baton/testing/depth'
import { startCommand } from '@baton/testing/start-command'
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'

const REPOSITORY = fileURLToPath(new URL('../../../..', import.meta.url))
/** Id of the system user `nobody`. */
const NOBODY = '65534'
const ORDINARY = ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups']

/** Each user with the program prefix that switches to it. */
const users: [string, readonly string[]][] = [['who runs the tests', []]]
if (isDeep() && process.getuid?.() === 0) {
  const [program = '', ...words] = ORDINARY
  const canRead = spawnSync(program, [...words, 'test', '-x', join(REPOSITORY, 'node_modules/.bin')]).status === 0
  if (canRead) users.push(['an ordinary user', ORDINARY])
  else if (process.env['BATON_TEST_REQUIRE'] === 'all') throw new Error('no ordinary user can read the repository')
  else console.warn('SKIPPED: the README as an ordinary user. It needs setpriv and a folder that others can read.')
}

let home: string
let commands: StartedCommand[]
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'baton-'))
  chmodSync(home, 0o777)
  commands = []
})
afterEach(async () => {
  // npm exits without its child, the server; Ctrl+C would reach both.
  const found = readdirSync(home, { recursive: true, encoding: 'utf8' }).find((name) => name.endsWith('.db.server'))
  if (found !== undefined) {
    const { pid } = JSON.parse(readFileSync(join(home, found), 'utf8')) as { readonly pid: number }
    process.kill(pid, 'SIGTERM')
  }
  for (const command of commands) await command.ended
  rmSync(home, { recursive: true })
})

function shell(line: string, before: readonly string[]): StartedCommand {
  const [program, ...words] = [...before, 'sh', '-c', line]
  const command = startCommand(program, {
    words,
    folder: REPOSITORY,
    variables: { HOME: home, PORT: '0', npm_config_cache: join(home, 'npm'), npm_config_update_notifier: 'false' },
  })
  commands.push(command)
  return command
}

/** Returns the commands in the README's first two blocks, without the install steps: the packages are already here. */
function listCommands(): readonly string[] {
  const readme = readFileSync(join(REPOSITORY, 'README.md'), 'utf8')
  const blocks = [...readme.matchAll(/^```sh\n([^]*?)^```/gm)]
    .slice(0, 2)
    .flatMap(([, block = '']) => block.split('\n'))
  return blocks
    .map((line) => line.replace(/ +#.*/, '').replace('npm ci && ', ''))
    .filter((line) => line !== '' && line !== 'npm test')
}

test.each(users)('the first commands of the README run in their order, as %s', async (_who, before) => {
  const [start = '', chat = '', ...others] = listCommands()
  expect([start, chat]).toEqual(['npm start', 'npx baton chat'])
  const server = shell(`exec ${start}`, before)
  await server.untilLine((line) => line.includes('Ctrl+C'))
  expect(server.output()).toContain('npx baton chat\n')
  const said = shell(`echo 'list the files' | ${chat} --session kitchen`, before)
  expect([await said.ended, said.errors()]).toEqual([
    { code: 0, signal: null },
    expect.stringMatching(/^server ws:\/\/127\.0\.0\.1:\d+\/ws, which has this folder's store open\n/),
  ])
  expect(said.output()).toContain('README.md')
  expect(others.length).toBeGreaterThan(0)
  for (const line of others) {
    const command = shell(line, before)
    expect([line, await command.ended, command.errors()]).toMatchObject([line, { code: 0 }, expect.anything()])
  }
  const log = shell('npx baton log kitchen', before)
  expect([await log.ended, log.errors()]).toEqual([{ code: 0, signal: null }, ''])
  expect(log.output()).toContain('you: list the files')
})
