// Every program of the documentation on Deno and Bun. They are found through BATON_DENO and BATON_BUN, or in PATH.
import { spawnSync } from 'node:child_process'
import { globSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'
import { leaveOut } from '../components/left-out.ts'
import { startCommand } from '../components/start-command.ts'

const GUIDE = fileURLToPath(new URL('../../../../examples/guide', import.meta.url))
const CONDITIONS = '--conditions=@baton/source'

/** `first` needs a key, `mcp` installs a server; `persistence` is run twice. */
const NOT_PLAYED = ['first', 'mcp', 'persistence']
const PROGRAMS = globSync('*.ts', { cwd: GUIDE })
  .map((file) => basename(file, '.ts'))
  .filter((name) => !name.includes('.') && !NOT_PLAYED.includes(name))
  .toSorted()

const SAID: Readonly<Record<string, RegExp>> = {
  chat: /^data: \[DONE\]$/m,
  limits: /^I found nothing\./m,
  order: /^Done\.$/m,
  'client-tools': /^The door is open\.$/m,
}

const RUNTIMES = [
  { runtime: 'Deno', variable: 'BATON_DENO', words: ['run', '-A', CONDITIONS, '--no-lock', '--no-check'] },
  { runtime: 'Bun', variable: 'BATON_BUN', words: [CONDITIONS] },
] as const

describe.each(RUNTIMES)('on $runtime', ({ runtime, variable, words }) => {
  const program = find(runtime, variable)
  const folder = mkdtempSync(join(tmpdir(), 'baton-runtime-'))
  afterAll(() => rmSync(folder, { recursive: true }))

  async function run(name: string) {
    const command = startCommand(program ?? '', {
      words: [...words, join(GUIDE, `${name}.ts`)],
      folder,
      variables: { NO_COLOR: '1', HOME: folder },
    })
    const ended = await command.ended
    return { ...ended, output: command.output(), errors: command.errors() }
  }

  test.skipIf(program === undefined).each(PROGRAMS)(
    'the program %s of the pages ends without an error',
    async (name) => {
      const { errors, output, ...ended } = await run(name)
      expect({ ...ended, errors: /^(?:error|\w*Error):.*/im.exec(errors)?.[0] }).toEqual({ code: 0, signal: null })
      expect(output).toMatch(SAID[name] ?? /^/)
    },
  )

  test.skipIf(program === undefined)('the second process reads what the first one has closed', async () => {
    expect((await run('persistence')).output).toMatch(/^messages so far: 0$/m)
    expect((await run('persistence')).output).toMatch(/^messages so far: 2$/m)
  })
})

// Bun replaces undici's fetch with its own, which connects to any address regardless of checks.
test('on Bun a guarded fetch reaches no place whose addresses it would have to check', ({ skip }) => {
  const program = find('Bun', 'BATON_BUN')
  if (program === undefined) return skip()
  const guard = fileURLToPath(new URL('../../../tools/src/guard/index.ts', import.meta.url))
  const code = `
    import { createGuardedFetch } from ${JSON.stringify(guard)}
    for (const options of [{}, { allow: ['docs.example'], deny: ['203.0.113.0/24'] }])
      await createGuardedFetch(options)('https://docs.example/').catch((cause) => console.log(cause.code, cause.message))`
  const { stdout } = spawnSync(program, [CONDITIONS, '--eval', code], { encoding: 'utf8' })
  expect(stdout.match(/^url_refused .*cannot pin a connection to the checked address/gm)).toHaveLength(2)
})

function find(runtime: string, variable: string): string | undefined {
  const program = process.env[variable] ?? runtime.toLowerCase()
  if (spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0) return program
  const lack = {
    why: `there is no ${runtime}`,
    remedy: `Install it by \`npm install ${runtime.toLowerCase()}\`, or set ${variable} to it, to run it.`,
  }
  return leaveOut(`programs of the pages on ${runtime}`, lack, console.warn)
}
