// The examples that pages show are files that run, and the pages show them as they are.
import { execFile } from 'node:child_process'
import { readFile, readdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const ROOT = new URL('../../', import.meta.url)
const FOLDER = fileURLToPath(new URL('.', import.meta.url))

test.each([
  ['answer.ts', '717710'],
  ['approval.ts', 'asks for your approval: Look up Oslo'],
  ['tool-source.ts', "[ 'trip: A trip to Oslo' ]"],
])('%s runs and prints what it should', async (name, said) => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--conditions=@baton/source', `${FOLDER}${name}`], {
    timeout: 15_000,
  })
  expect(stdout).toContain(said)
  expect(stdout).toContain('717710')
})

test('pages show the examples as they are', async () => {
  const docs = (await readdir(new URL('docs', ROOT)))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`)
  const shown: string[] = []
  for (const page of ['README.md', ...docs]) {
    const text = await readFile(new URL(page, ROOT), 'utf8')
    const blocks = text.matchAll(/<!-- example: ([\w./-]+) -->\n```ts\n([^]*?)```\n<!-- end example -->/g)
    for (const [, path = '', code] of blocks) {
      shown.push(path)
      expect(code, `${page} shows ${path}`).toBe(await readFile(new URL(path, ROOT), 'utf8'))
    }
  }
  expect(shown.toSorted()).toEqual(['answer', 'approval', 'tool-source'].map((name) => `examples/library/${name}.ts`))
})

test('the first example has fifteen lines of code at most', async () => {
  const source = await readFile(new URL('answer.ts', import.meta.url), 'utf8')
  const code = source.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('//'))
  expect(code.length).toBeLessThanOrEqual(15)
})
