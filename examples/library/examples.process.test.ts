// The examples on the pages are files that run, and the pages show them unchanged.
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const ROOT = new URL('../../', import.meta.url)
const FOLDER = fileURLToPath(new URL('.', import.meta.url))
/** Any file does. */
const PICTURE = fileURLToPath(import.meta.url)

test.each([
  ['hello.ts', ['Hello! I am the offline planner']],
  ['answer.ts', ['717710']],
  ['streaming.ts', ['[city.population: settled]', '717710', '[end]']],
  ['tools.ts', ['zod: [', '{\\"people\\":717710}', 'valibot: [', 'arktype: [', 'json-schema: [']],
  ['client-tools.ts', ['city: Oslo']],
  ['structured-output.ts', ['Oslo: 717,710']],
  ['conversation.ts', ['user: Hello!\nassistant: Hello!', 'user: Are you there?', 'A trip to Oslo: idle, more: false']],
  ['interrupt.ts', ['there was a city… (interrupted: cancelled)', 'Of course.']],
  ['own-model.ts', ['You said: Hello!']],
  ['fallback.ts', ['asks main/model\nasks spare/model\nI am the spare one.']],
  ['own-store.ts', ['trip has more than 2 records']],
  ['approval.ts', ['asks for your approval: Look up Oslo', '717710']],
  ['reading.ts', ["[ 'user', 'assistant' ]", "[ 'question', 't1' ] idle", 'end []']],
  ['tool-source.ts', ["[ 'trip: A trip to Oslo' ]", '717710']],
  ['scripted-model.ts', ['told: [', '717710', 'refused: [']],
  ['picture.ts', ['I see: text, image, file.']],
])('%s runs and prints what it should', async (name, said) => {
  const command = ['--conditions=@baton/source', `${FOLDER}${name}`, ...(name === 'picture.ts' ? [PICTURE] : [])]
  const { stdout } = await promisify(execFile)(process.execPath, command, { timeout: 180_000 })
  for (const words of said) expect(stdout).toContain(words)
})

test('resume.ts goes on in the file that it is given, each time', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'baton-resume-'))
  const command = ['--conditions=@baton/source', `${FOLDER}resume.ts`, join(folder, 'chat.db')]
  const run = async () => (await promisify(execFile)(process.execPath, command, { timeout: 180_000 })).stdout
  const said = [await run(), await run()]
  await rm(folder, { recursive: true })
  expect(said[0]).toMatch(/^first: Oslo .*\nagain: Oslo .*\nsecond: And Bergen .*\nsince then: \S+\nsince then: t2\n$/)
  expect(said[1]).toMatch(/^first: Oslo .*\nagain: Oslo .*\nsecond: And Bergen .*\nsince then: \S+\nsince then: t4\n$/)
})

test('the files that are agents are agents, with the models that they say', async () => {
  const agents = {
    'library/agent.ts': ['cities', null],
    'models/ai-sdk.ts': ['helper', 'ai-sdk:openai.responses/gpt-5-mini'],
    'models/bedrock.ts': ['helper', 'bedrock/eu.anthropic.claude-haiku-4-5-20251001-v1:0'],
    'models/own-server.ts': ['helper', 'openai-chat/my-model'],
    'models/traits.ts': ['helper', 'anthropic/claude-opus-6'],
    'models/vertex.ts': ['helper', 'gemini/gemini-2.5-flash'],
  }
  const program = `for (const path of ${JSON.stringify(Object.keys(agents))}) {
    const { name, models } = (await import(${JSON.stringify(`${ROOT.href}examples/`)} + path)).default
    console.log(JSON.stringify([path, [name, models[0]?.id ?? null]]))
  }`
  const command = ['--conditions=@baton/source', '--input-type=module', '--eval', program]
  const { stdout } = await promisify(execFile)(process.execPath, command, { timeout: 180_000 })
  const found = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as [string, unknown]) // as printed by the program
  expect(Object.fromEntries(found)).toEqual(agents)
})

test('pages show the examples as they are', async () => {
  const docs = (await readdir(new URL('docs', ROOT)))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`)
  const shown: string[] = []
  for (const page of ['README.md', ...docs]) {
    const text = await readFile(new URL(page, ROOT), 'utf8')
    const blocks = text.matchAll(/<!-- example: ([\w./[\]-]+) -->\n```tsx?\n([^]*?)```\n<!-- end example -->/g)
    for (const [, path = '', code] of blocks) {
      if (path.endsWith('.ts')) shown.push(path)
      expect(code, `${page} shows ${path}`).toBe(await readFile(new URL(path, ROOT), 'utf8'))
    }
  }
  const list = async (folder: string, names: RegExp): Promise<readonly string[]> =>
    (await readdir(new URL(folder, ROOT), { recursive: true }))
      .filter((name) => names.test(name))
      .map((name) => `${folder}/${name}`)
  const examples = await list(
    'examples',
    /^(guide|library|migrate|models|temporal)\/[\w-]+\.ts$|^(goal-review\/agent-with-go|issue-solver\/agent|voice-conductor\/agent|voice-web\/barge-in)\.ts$/,
  )
  const embedded = await list('examples/embed', /^[\w-]+\.ts$|^next\/app\/.*\.ts$/)
  // The programs for other libraries, shown next to ours.
  const others = await list('bench', /^migrate\/[\w-]+\.ts$/)
  expect([...new Set(shown)].toSorted()).toEqual([...examples, ...embedded, ...others].toSorted())
})

test('the first example has fifteen lines of code at most', async () => {
  const source = await readFile(new URL('answer.ts', import.meta.url), 'utf8')
  const code = source.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('//'))
  expect(code.length).toBeLessThanOrEqual(15)
})
