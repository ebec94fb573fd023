// The programs on the pages run and print the documented output; all code on all pages is a file that compiles.
import { startFakeAnthropic } from '@baton/testing/fake-anthropic'
import type { FakeScript } from '@baton/testing/fake-server'
import { chooseRotating, describeRotation } from '@baton/testing/depth'
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { SAID_BY_LARGE } from './large-programs.test-kit.ts'
import { SAID } from './programs.test-kit.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const FOLDER = fileURLToPath(new URL('.', import.meta.url))

async function run(name: string, args: readonly string[] = [], variables = {}): Promise<string> {
  const command = ['--conditions=@baton/source', join(FOLDER, name), ...args]
  const env = { ...process.env, ...variables }
  return (await promisify(execFile)(process.execPath, command, { timeout: 180_000, cwd: FOLDER, env })).stdout
}

/** The output of a program with an Anthropic model, against a server that follows a script. */
async function runWithAnthropic(name: string, script: FakeScript, path = ''): Promise<string> {
  const anthropic = await startFakeAnthropic(script)
  try {
    return await run(name, [], { ANTHROPIC_BASE_URL: `${anthropic.url}${path}`, ANTHROPIC_API_KEY: 'key-of-a-test' })
  } finally {
    await anthropic.close()
  }
}

/** A third of them, different ones each day; guide.deep.test.ts runs all. */
const DAYS = 3
const tried = chooseRotating(Object.entries(SAID), DAYS)
console.warn(`programs of the pages: ${tried.length} of ${Object.keys(SAID).length}; ${describeRotation(DAYS)}`)

test.each(tried)('%s runs and prints what it should', async (name, said) => {
  const printed = await run(name)
  for (const words of said) expect(printed).toContain(words)
})

test('a second process goes on with the conversation of the first one', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'baton-guide-'))
  const file = join(folder, 'chat.db')
  try {
    expect(await run('persistence.ts', [file])).toContain('messages so far: 0')
    expect(await run('persistence.ts', [file])).toContain('messages so far: 2')
  } finally {
    await rm(folder, { recursive: true })
  }
})

test('the historian finds the session of a coding agent in this folder', async () => {
  const place = await mkdtemp(join(tmpdir(), 'baton-guide-'))
  try {
    const folder = join(place, 'projects', FOLDER.replace(/\/$/, '').replaceAll(/[^A-Za-z0-9]/g, '-'))
    await mkdir(folder, { recursive: true })
    const said = { type: 'user', cwd: FOLDER, message: { role: 'user', content: 'Make the parser faster' } }
    await writeFile(join(folder, '00000000-0000-4000-8000-000000000001.jsonl'), `${JSON.stringify(said)}\n`)
    const elsewhere = { CODEX_HOME: place, GEMINI_CLI_HOME: place, XDG_DATA_HOME: place }
    const printed = await run('sessions.ts', [], { CLAUDE_CONFIG_DIR: place, ...elsewhere })
    expect(printed).toContain('> session.search\n')
    expect(printed).toContain('1 match')
    expect(printed).toContain('00000000-0000-4000-8000-000000000001 (claude-code')
  } finally {
    await rm(place, { recursive: true })
  }
})

test('the first program asks the provider that it names, with its tool', async () => {
  const printed = await runWithAnthropic('first.ts', ({ results, toolLike }) =>
    results.length === 0
      ? { calls: [{ name: toolLike(/hours/), input: { day: 'saturday' } }] }
      : { text: `No: ${results.join()}.` },
  )
  expect(printed).toContain('No: 10 to 14.\n')
  expect(printed).toContain('outputTokens')
})

test('what stands beside the AI SDK streams, asks a person, and gives a value', async () => {
  const printed = await runWithAnthropic('../migrate/from-ai-sdk.ts', ({ body, results, toolLike }) => {
    if (!JSON.stringify(body).includes('refund')) return { text: '{"mood":"angry"}' }
    return results.length === 0
      ? { calls: [{ name: toolLike(/refund/), input: { id: 'A-17', cents: 2000 } }] }
      : { text: `Done: ${results.join()}. ` }
  })
  expect(printed).toContain('"refunded":2000')
  expect(printed).toContain('angry')
})

test('a tool of the AI SDK goes into an agent as it is', async () => {
  const printed = await runWithAnthropic('../migrate/ai-sdk-tools-kept.ts', ({ results, toolLike }) =>
    results.length === 0
      ? { calls: [{ name: toolLike(/refund/), input: { id: 'A-17', cents: 2000 } }] }
      : { text: `Done: ${results.join()}.` },
  )
  expect(printed).toContain('"refunded":2000')
})

test('steps that are prepared and told, beside the AI SDK', async () => {
  const asked: unknown[] = []
  const printed = await runWithAnthropic('../migrate/ai-sdk-steps.ts', ({ body, results, toolLike }) => {
    asked.push(body)
    if (results.length === 0) {
      return { calls: [{ name: toolLike(/search/), input: { customer: 'ann' } }] }
    }
    if (!results.join('').includes('refundedBy'))
      return { calls: [{ name: toolLike(/refund/), input: { id: 'A-17' } }] }
    return { text: 'It is refunded.' }
  })
  expect(asked[0]).toMatchObject({ tools: [{ name: 'search' }], tool_choice: { type: 'any' } })
  expect(printed).toMatch(/^step tool-calls \d+\nsearch \[ \{ id: 'A-17', customer: 'ann' \} \]\nstep tool-calls/)
  expect(printed).toMatch(/refund \{ id: 'A-17', refundedBy: 'ann' \}\nstep end \d+\n$/)
})

test('a middleware of the AI SDK, and one of Baton, around a model', async () => {
  const temperatures: unknown[] = []
  const script: FakeScript = ({ body }) => {
    temperatures.push(Reflect.get(body, 'temperature'))
    return { text: 'Hello, Ann.' }
  }
  const printed = await runWithAnthropic('../migrate/ai-sdk-middleware.ts', script, '/v1')
  expect(temperatures).toEqual([0])
  expect(printed).toMatch(/^1 messages, \d+ tokens\nHello, Ann\.\n$/)
})

test('what stands beside pi calls its tool and is steered', async () => {
  const printed = await runWithAnthropic('../migrate/from-pi.ts', ({ body, results, toolLike }) => {
    if (JSON.stringify(body).includes('In one sentence')) return { text: 'Oslo is a city.' }
    return results.length === 0
      ? { calls: [{ name: toolLike(/population/), input: { city: 'Oslo' } }] }
      : { text: `It has ${results.join()} people.` }
  })
  expect(printed).toContain('population ok\nIt has 717710 people.')
  expect(printed).toContain('Oslo is a city.')
})

test('each program of this folder is run by a test', async () => {
  const programs = (await readdir(FOLDER)).filter((name) => name.endsWith('.ts') && !/\.test(-kit)?\.ts$/.test(name))
  expect(
    [...Object.keys(SAID), ...Object.keys(SAID_BY_LARGE), 'first.ts', 'persistence.ts', 'sessions.ts'].toSorted(),
  ).toEqual(programs.toSorted())
})

const NOT_HERE = [
  'protocol.md', // its programs are plain JavaScript; packages/client/src/docs.process.test.ts runs them
  'protocol-2-reference.md', // its types are copied from the code
]

test('all code of all pages is a file of the repository', async () => {
  const pages = (await readdir(join(ROOT, 'docs'))).filter((name) => name.endsWith('.md') && !NOT_HERE.includes(name))
  for (const page of pages) {
    const text = await readFile(join(ROOT, 'docs', page), 'utf8')
    const alone = text.match(/(?<!<!-- example: [\w./[\]-]+ -->\n)^```(tsx?|jsx?|typescript|javascript)\b[^]*?^```/gm)
    expect([page, alone]).toEqual([page, null])
  }
})
