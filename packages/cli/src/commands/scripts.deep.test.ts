// `baton run`, `--json`, piped input, `baton init`, and the few modules that `--version` loads, as separate processes.
import { startCommand } from '@baton/testing/start-command'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'

const BATON = fileURLToPath(new URL('../../bin/baton.mjs', import.meta.url))
let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

/** Runs a shell line in which `baton` is the command. */
async function shell(line: string) {
  const define = `baton() { "${process.execPath}" "${BATON}" "$@"; }; `
  const command = startCommand('sh', { words: ['-c', define + line], folder, variables: { HOME: folder } })
  const { code } = await command.ended
  return { code, output: command.output(), errors: command.errors() }
}

const core = JSON.stringify(new URL('../../../core/src/index.ts', import.meta.url).href)
const testing = JSON.stringify(new URL('../../../core/src/testing/index.ts', import.meta.url).href)

/** Writes an agent whose model echoes the question and ends the turn as the question says. */
function writeAgent(): void {
  writeFileSync(
    join(folder, 'agent.ts'),
    `import { defineAgent, tool } from ${core}
import { createScriptedModel } from ${testing}
const model = createScriptedModel({
  steps: ({ messages }) => {
    const text = messages.at(-1).parts.map((part) => part.text ?? part.content?.map(({ text }) => text).join('') ?? 'result').join('')
    if (text === 'pay') return { calls: [{ name: 'pay', arguments: {} }] }
    if (text === 'long') return { text: 'cut', finish: 'max-tokens' }
    if (text === 'fail') throw new Error('no model')
    return { text: 'said: ' + text }
  },
})
export default defineAgent({ name: 'echo', model, tools: [
  tool({ name: 'pay', description: 'Pays', input: { type: 'object' }, effect: 'once', approval: true, execute: () => 'paid' }),
] })
`,
  )
}

test('run prints its answer, adds piped input, and reports the outcome in its exit code', async () => {
  writeAgent()
  expect(await shell('baton run agent.ts hello')).toMatchObject({ code: 0, output: 'said: hello\n' })
  expect(await shell('echo more | baton run agent.ts hello')).toMatchObject({
    code: 0,
    output: 'said: hello\n\nmore\n',
  })
  expect(await shell('baton run agent.ts fail')).toMatchObject({ code: 1, output: '' })
  expect(await shell('baton run agent.ts long')).toMatchObject({ code: 3, output: 'cut\n' })
  expect(await shell('baton run agent.ts')).toMatchObject({ code: 2, output: '' })
  const denied = await shell('baton run agent.ts pay')
  expect(denied).toMatchObject({
    code: 0,
    output: expect.stringContaining(
      'the call was denied: it needs an approval, and the command has no terminal to ask for one',
    ) as string,
  })
  expect(denied.errors).toContain('pay needs an approval and was denied, because there is no one to ask')
})

test.each(['baton run agent.ts hello --json', 'baton chat --agent agent.ts --once hello --json'])(
  '%s writes each event as a line, and nothing else',
  async (line) => {
    writeAgent()
    const { code, output } = await shell(line)
    expect(code).toBe(0)
    const events = output.trimEnd().split('\n')
    const types = events.map((each) => (JSON.parse(each) as { readonly type: string }).type)
    expect(types.filter((type) => type === 'text').length).toBeGreaterThan(0)
    expect(JSON.parse(events.at(-1) ?? '')).toMatchObject({ type: 'turn-finished', stop: 'end', text: 'said: hello' })
  },
)

test('events of a chat with several lines are printed in order, without control characters', async () => {
  writeAgent()
  const { code, output } = await shell(`printf 'one\\ntwo \\302\\233\\n' | baton chat --agent agent.ts --json`)
  expect([code, output.includes('\u009b')]).toEqual([0, false])
  const texts = output
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { readonly type: string; readonly text?: string })
    .filter(({ type }) => type === 'turn-finished')
  expect(texts.map(({ text }) => text)).toEqual(['said: one', 'said: two \u009b'])
})

test('what is piped into --once joins the question; an empty pipe and /dev/null change nothing', async () => {
  writeAgent()
  const once = 'baton chat --agent agent.ts --once hello'
  expect((await shell(`printf 'a\\nb' | ${once}`)).output).toBe('said: hello\n\na\nb\n')
  expect((await shell(`: | ${once}`)).output).toBe('said: hello\n')
  expect((await shell(`${once} < /dev/null`)).output).toBe('said: hello\n')
  expect(await shell(`printf '\\377' | ${once}`)).toMatchObject({
    code: 1,
    errors: expect.stringContaining('standard input is not UTF-8 text') as string,
  })
})

test('a goal that the offline model cannot help with exits with 3', async () => {
  await shell('baton init cities')
  symlinkSync(fileURLToPath(new URL('../../../../node_modules', import.meta.url)), join(folder, 'cities/node_modules'))
  const said = await shell('cd cities && baton run agent.ts "Tell me a joke"')
  expect(said).toMatchObject({ code: 3, output: expect.stringContaining('I cannot help with that.') as string })
  const help = await shell('baton help run')
  const [, example = ''] = /^ {2}baton run agent\.ts (.*)$/m.exec(help.output) ?? []
  const answered = await shell(`cd cities && baton run agent.ts ${example}`)
  expect(answered).toMatchObject({ code: 0, output: expect.stringContaining('717710') as string })
})

test('init writes an agent, its test, a package and its settings, and writes nothing over', async () => {
  const first = await shell('baton init "My Shop"')
  expect(first).toMatchObject({ code: 0, errors: '' })
  const manifest = JSON.parse(readFileSync(join(folder, 'My Shop/package.json'), 'utf8')) as object
  expect(manifest).toMatchObject({ name: 'my-shop', type: 'module', scripts: { test: 'node --test' } })
  for (const name of ['tsconfig.json', '.gitignore']) expect(existsSync(join(folder, 'My Shop', name))).toBe(true)
  expect(readFileSync(join(folder, 'My Shop/agent.ts'), 'utf8')).toContain("from '@baton/host'")
  writeFileSync(join(folder, 'My Shop/agent.ts'), 'mine')
  expect(await shell('cd "My Shop" && baton init')).toMatchObject({
    code: 1,
    output: '',
    errors: expect.stringMatching(/^baton: agent\.ts and agent\.test\.ts already exist in .* \(/) as string,
  })
  expect(readFileSync(join(folder, 'My Shop/agent.ts'), 'utf8')).toBe('mine')
  mkdirSync(join(folder, 'old'))
  writeFileSync(join(folder, 'old/package.json'), '{}')
  const beside = await shell('cd old && baton init')
  expect(beside.output).toContain(
    'next  npm pkg set type=module && npm install @baton/cli @baton/host zod && npm install --save-dev @types/node typescript\n',
  )
  expect(readFileSync(join(folder, 'old/package.json'), 'utf8')).toBe('{}')
  expect(existsSync(join(folder, 'old/agent.test.ts'))).toBe(true)
})

/** Counts loaded modules that are not part of Node. */
const COUNTER = `
import { registerHooks } from 'node:module'
let count = 0
registerHooks({ load: (url, context, next) => { if (!url.startsWith('node:')) count += 1; return next(url, context) } })
process.on('exit', () => process.stderr.write('modules ' + count))
`

test.each([['--version'], ['--help']])('%s loads the command itself and no more', async (word) => {
  writeFileSync(join(folder, 'counter.mjs'), COUNTER)
  const command = startCommand(process.execPath, {
    words: ['--import', join(folder, 'counter.mjs'), BATON, word],
    folder,
  })
  expect(await command.ended).toEqual({ code: 0, signal: null })
  // The bin, main, compile-cache, make-folders, console, run, usage-error and version modules.
  expect(command.errors()).toBe('modules 8')
})
