// The three tools over real temporary folders: what they return, how they stop, and what they never show.
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { ToolContext } from '@baton/core'
import { createToolContext } from '@baton/core/testing'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import * as z from 'zod'
import type { WorkspaceOptions } from './workspace-tools.ts'
import { workspaceTools } from './workspace-tools.ts'

let place = ''
let root = ''

beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), 'baton-workspace-'))
  root = join(place, 'root')
  mkdirSync(root)
})

afterEach(() => rmSync(place, { recursive: true, force: true }))

function write(files: Readonly<Record<string, string | Uint8Array>>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), content)
  }
}

const context = (signal = new AbortController().signal): ToolContext => createToolContext({ signal })

/** Runs a tool like a host: validates the input first, and checks the output against its schema. */
async function run(name: string, input: object, options: Partial<WorkspaceOptions> = {}, signal?: AbortSignal) {
  const tool = workspaceTools({ root, ...options }).find((candidate) => candidate.name === name)
  if (!tool?.execute || !(tool.input instanceof z.ZodType) || !(tool.output instanceof z.ZodType)) throw new Error(name)
  const result = await tool.execute(tool.input.parse(input), context(signal))
  expect(tool.output.parse(result)).toEqual(result)
  return result
}

const list = (input: object, options?: Partial<WorkspaceOptions>) => run('fs.list_dir', input, options)
const span = (input: object, options?: Partial<WorkspaceOptions>) => run('content.get_span', input, options)
const grep = (input: object, options?: Partial<WorkspaceOptions>) => run('code.grep', input, options)
const paths = (result: unknown) =>
  z
    .object({ entries: z.array(z.object({ path: z.string() })) })
    .parse(result)
    .entries.map((entry) => entry.path)
const found = (result: unknown) =>
  z
    .object({ files: z.array(z.object({ path: z.string() })) })
    .parse(result)
    .files.map((file) => file.path)

test('all tools are pure and describe their arguments as JSON Schema', () => {
  const tools = workspaceTools({ root })
  expect(tools.map((tool) => [tool.name, tool.effect])).toEqual([
    ['fs.list_dir', 'pure'],
    ['content.get_span', 'pure'],
    ['code.grep', 'pure'],
  ])
  expect(tools[2]?.inputSchema).toMatchObject({
    type: 'object',
    properties: { pattern: { type: 'string' } },
    required: ['pattern'],
  })
})

test('a depth of 0 lists the folder alone, as 1 does', async () => {
  write({ 'a.txt': '', 'deep/b.txt': '' })
  expect(await list({ path: '.', depth: 0 })).toEqual(await list({ path: '.', depth: 1 }))
  expect(paths(await list({ path: '.', depth: 0 }))).toEqual(['a.txt', 'deep'])
})

test('a root that is not a folder, a limit that is not a number', () => {
  expect(() => workspaceTools({ root: join(root, 'none') })).toThrow(
    expect.objectContaining({ code: 'invalid_option' }),
  )
  expect(() => workspaceTools({ root, limits: { timeMs: -1 } })).toThrow(
    expect.objectContaining({ code: 'invalid_option' }),
  )
})

test.each([
  [{ shel: true }, 'workspaceTools has no field "shel"; it is called "shell" here'],
  [{ cwd: '.' }, 'workspaceTools has no field "cwd"; it is called "root" here'],
  [{ bash: true }, 'workspaceTools has no field "bash"; it is called "shell" here'],
  [{ root: undefined }, 'root must name a folder'],
  [{ allow: 'dist/' }, 'workspaceTools: allow must be an array, not "dist/"'],
  [{ limits: { timeMS: 5 } }, 'workspaceTools: limits has no field "timeMS"; it is called "timeMs" here'],
  [{ write: { aproval: false } }, 'workspaceTools: write has no field "aproval"; it is called "approval" here'],
  [{ write: { approval: 'never' } }, 'workspaceTools: write: approval must be true or false'],
  [{ shell: 'yes' }, 'workspaceTools: shell must be an object of options, not text'],
  [{ shell: { sandbx: 'required' } }, 'workspaceTools: shell has no field "sandbx"'],
  [{ shell: { sandbox: 'Required' } }, 'workspaceTools: shell: sandbox must be "auto", "required", "none"'],
  [{ shell: { readable: ['tools'] } }, 'readable must contain absolute paths, not "tools"'],
])('options that are misspelt or of another kind are refused: %j', (options, message) => {
  expect(() => workspaceTools({ root, ...options } as never)).toThrow(
    expect.objectContaining({ code: 'invalid_option', message: expect.stringContaining(message) }),
  )
})

describe('fs.list_dir', () => {
  test('one level, sorted, with types and sizes', async () => {
    write({ 'b.txt': 'four', 'a/deep.txt': '', 'C.md': '' })
    expect(await list({})).toEqual({
      path: '.',
      entries: [
        { path: 'C.md', type: 'file', bytes: 0 },
        { path: 'a', type: 'folder' },
        { path: 'b.txt', type: 'file', bytes: 4 },
      ],
      hidden: 0,
      unreadable: 0,
      truncated: false,
    })
    expect(paths(await list({ path: './a/../a/', depth: 1 }))).toEqual(['a/deep.txt'])
    expect(paths(await list({ depth: 2 }))).toEqual(['C.md', 'a', 'a/deep.txt', 'b.txt'])
  })

  test('a listing that is too long goes on where it stopped', async () => {
    write({ 'a/1': '', 'a/2': '', 'a-b/3': '', b: '' })
    const limits = { listedEntriesMax: 2 }
    const seen: string[] = []
    let after: string | undefined
    do {
      const page = await list({ depth: 3, ...(after !== undefined && { after }) }, { limits })
      seen.push(...paths(page))
      after = z.object({ next: z.object({ after: z.string() }).optional() }).parse(page).next?.after
    } while (after !== undefined)
    expect(seen).toEqual(['a', 'a/1', 'a/2', 'a-b', 'a-b/3', 'b'])
  })

  test('nested .gitignore files hold, and those above the workspace in its repository', async () => {
    mkdirSync(join(place, '.git'))
    writeFileSync(join(place, '.gitignore'), '*.tmp\n')
    write({
      '.gitignore': 'dist/\n*.log\n',
      'sub/.gitignore': '!keep.log\n/only-here\n',
      'a.tmp': '',
      'dist/x': '',
      'x.log': '',
      'sub/keep.log': '',
      'sub/other.log': '',
      'sub/only-here': '',
      'sub/deeper/only-here': '',
    })
    const listing = await list({ depth: 4 })
    expect(paths(listing)).toEqual([
      '.gitignore',
      'sub',
      'sub/.gitignore',
      'sub/deeper',
      'sub/deeper/only-here',
      'sub/keep.log',
    ])
    await expect(span({ path: 'dist/x' })).rejects.toMatchObject({ code: 'path_protected' })
    expect(await span({ path: 'dist/x' }, { allow: ['dist'] })).toMatchObject({ path: 'dist/x' })
  })

  test('a folder with more entries than may be looked at is listed as far as that goes, and then on', async () => {
    write(Object.fromEntries(Array.from({ length: 25 }, (_, index) => [`f${String(index).padStart(2, '0')}`, ''])))
    const limits = { walkedEntriesMax: 10 }
    const listed: string[] = []
    let next: object | undefined = {}
    for (let page = 0; next && page < 10; page++) {
      const listing = (await list(next, { limits })) as { readonly next?: object }
      listed.push(...paths(listing))
      next = listing.next
    }
    expect(listed).toHaveLength(25)
    expect(new Set(listed).size).toBe(25)
  })

  test('a file is not listed as a folder', async () => {
    write({ 'a.txt': '' })
    await expect(list({ path: 'a.txt' })).rejects.toMatchObject({
      code: 'tool_failed',
      message: '"a.txt" is a file, not a folder; read it with content.get_span',
    })
  })
})

describe('content.get_span', () => {
  test('the lines that were asked for, and how many there are', async () => {
    write({ 'a.txt': 'one\r\ntwo\nthree\nfour' })
    expect(await span({ path: 'a.txt', startLine: 1, endLine: 3 })).toEqual({
      path: 'a.txt',
      startLine: 1,
      endLine: 3,
      totalLines: 4,
      text: 'one\ntwo\nthree',
      truncated: false,
    })
    expect(await span({ path: 'a.txt', startLine: 4, endLine: 99 })).toMatchObject({
      text: 'four',
      endLine: 4,
      truncated: false,
    })
    expect(await span({ path: 'a.txt', startLine: 9 })).toMatchObject({
      text: '',
      endLine: 8,
      totalLines: 4,
      truncated: false,
    })
    await expect(span({ path: 'a.txt', startLine: 4, endLine: 2 })).rejects.toMatchObject({ code: 'invalid_arguments' })
  })

  test('an empty file has no lines', async () => {
    write({ empty: '' })
    expect(await span({ path: 'empty' })).toMatchObject({ text: '', totalLines: 0, endLine: 0, truncated: false })
  })

  test('more lines or bytes than allowed: the rest is offered', async () => {
    write({ 'a.txt': Array.from({ length: 30 }, (_, index) => `line ${index + 1}`).join('\n') })
    const byLines = await span({ path: 'a.txt', startLine: 3, endLine: 20 }, { limits: { spanLinesMax: 5 } })
    expect(byLines).toMatchObject({ endLine: 7, truncated: true, next: { startLine: 8, endLine: 20 } })
    const byBytes = await span({ path: 'a.txt', startLine: 1, endLine: 99 }, { limits: { spanBytesMax: 15 } })
    expect(byBytes).toMatchObject({ text: 'line 1\nline 2', truncated: true, next: { startLine: 3, endLine: 30 } })
  })

  test('a line longer than its limit is cut and named', async () => {
    write({ 'min.js': `${'x'.repeat(300_000)}\nshort\n` })
    const result = await span({ path: 'min.js' })
    expect(result).toMatchObject({ cutLines: [1], endLine: 2, totalLines: 2, truncated: true })
    expect(result).toHaveProperty('text', `${'x'.repeat(2000)}\nshort`)
  })

  test('a huge file is read up to the limit only', async () => {
    write({ big: Buffer.alloc(3_000_000, 'abcdefghi\n') })
    expect(await span({ path: 'big', startLine: 200_000, endLine: 200_001 })).toMatchObject({
      text: 'abcdefghi\nabcdefghi',
      totalLines: 300_000,
    })
    const far = await span({ path: 'big', startLine: 299_999 }, { limits: { scanBytesMax: 100_000 } })
    expect(far).toMatchObject({ text: '', truncated: true, next: { startLine: 299_999, cursor: expect.any(String) } })
    expect(far).not.toHaveProperty('totalLines')
  })

  test.each([
    ['short lines', Array.from({ length: 3000 }, (_, index) => `line ${index + 1}`)],
    ['lines longer than what is read at once', ['a'.repeat(300_000), 'b', 'c'.repeat(150_000), 'd', 'e']],
  ])('a file of %s, larger than what is read at once, is read on by its cursor', async (_, lines) => {
    write({ big: `${lines.join('\n')}\n` })
    const limits = { scanBytesMax: 65_536, spanLinesMax: 2 }
    for (const startLine of [1, lines.length - 2, lines.length]) {
      const given: string[] = []
      let next: object | undefined = { startLine, endLine: startLine + 1 }
      for (let piece = 0; next && piece < 100; piece++) {
        const found = (await span({ path: 'big', ...next }, { limits })) as {
          readonly text: string
          readonly next?: object
        }
        const { text, next: more } = found
        if (text !== '') given.push(...text.split('\n'))
        next = more
      }
      expect(given).toEqual(lines.slice(startLine - 1, startLine + 1).map((line) => line.slice(0, 2000)))
    }
  })

  test.each([
    ['UTF-8', '😀abcdefg', 10_900, (text: string) => Buffer.from(text)],
    // Reading stops inside of a character.
    ['UTF-16', '😀abcd', 9_350, (text: string) => Buffer.from(`\uFEFF${text}`, 'utf16le')],
  ])(
    'a line of %s in the middle of which reading stops is not shown in part, and the cursor leads to it',
    async (_, line, startLine, encode) => {
      write({ big: encode(`${line}\n`.repeat(30_000)) })
      // Two pieces of 65,536 bytes are read, and no line ends there.
      const limits = { scanBytesMax: 100_000 }
      const stopped = await span({ path: 'big', startLine, endLine: 20_000 }, { limits })
      const { text, next } = stopped as { readonly text: string; readonly next: { readonly startLine: number } }
      expect(new Set(text.split('\n'))).toEqual(new Set([line]))
      expect(stopped).toMatchObject({ truncated: true, endLine: next.startLine - 1 })
      const more = await span({ path: 'big', ...next, endLine: next.startLine }, { limits })
      expect(more).toMatchObject({ text: line, endLine: next.startLine, truncated: false })
    },
  )

  test('the last line that was asked for, in the middle of which reading stops, is not taken for a whole one', async () => {
    write({ big: 'abcdefghi\n'.repeat(30_000) })
    const limits = { scanBytesMax: 100_000 }
    const input = { path: 'big', startLine: 13_108, endLine: 13_108 }
    const stopped = await span(input, { limits })
    const next = { startLine: 13_108, endLine: 13_108, cursor: '13108:131070' }
    expect(stopped).toMatchObject({ text: '', endLine: 13_107, truncated: true, next })
    expect(await span({ path: 'big', ...next }, { limits })).toMatchObject({ text: 'abcdefghi', truncated: false })
  })

  test('a line that is as long as what is read at once is cut and named', async () => {
    write({ big: `${'x'.repeat(300_000)}\nshort\n` })
    const limits = { scanBytesMax: 65_536, lineCharactersMax: 100_000, spanBytesMax: 200_000 }
    const cut = await span({ path: 'big', endLine: 1 }, { limits })
    expect(cut).toMatchObject({ text: 'x'.repeat(65_536), cutLines: [1], truncated: true })
  })

  test('an invalid cursor, or one behind the asked lines, is refused', async () => {
    write({ a: 'x' })
    await expect(span({ path: 'a', startLine: 2, cursor: '3:0' })).rejects.toMatchObject({ code: 'invalid_arguments' })
    await expect(span({ path: 'a', cursor: 'x' })).rejects.toThrow('cursor')
  })

  test('a file with a private key or a token is not shown, whatever its name, by no line and no cursor', async () => {
    const key = `-----BEGIN PRIVATE KEY-----\n${`${'aB3dE5gH7jK9'.repeat(5)}\n`.repeat(20)}-----END PRIVATE KEY-----\n`
    const token = ['gh', 'p_', 'aB3dE5gH7jK9'.repeat(3)].join('')
    const words = 'some words\n'.repeat(300)
    write({ 'notes.txt': `${words}${key}${words}`, 'hosts.yml': `needle\ntoken: ${token}\n`, 'plain.txt': 'needle' })
    const hidden = { code: 'path_protected', message: expect.stringContaining('private key or a token') }
    for (const input of [{}, { startLine: 301 }, { startLine: 310, cursor: '310:3600' }])
      await expect(span({ path: 'notes.txt', ...input })).rejects.toMatchObject(hidden)
    await expect(span({ path: 'hosts.yml' })).rejects.toMatchObject(hidden)
    expect(await span({ path: 'hosts.yml' }, { allow: ['hosts.yml'] })).toMatchObject({ totalLines: 2 })
    expect(await grep({ pattern: 'needle' })).toMatchObject({ files: [{ path: 'plain.txt' }], filesSearched: 3 })
    const allowed = await grep({ pattern: 'needle' }, { allow: ['*.yml'] })
    expect(found(allowed)).toEqual(['hosts.yml', 'plain.txt'])
  })

  test('bytes that are not UTF-8 are replaced and reported; binary files are refused; a byte order mark is dropped', async () => {
    write({ latin: Buffer.from([0x63, 0x61, 0x66, 0xe9, 0x0a]), binary: Buffer.from([1, 0, 2]), marked: '\uFEFFtext' })
    expect(await span({ path: 'latin' })).toMatchObject({ text: 'caf\uFFFD', invalidUtf8: true })
    await expect(span({ path: 'binary' })).rejects.toMatchObject({
      code: 'tool_failed',
      message: '"binary" is a binary file, not text; it cannot be shown',
    })
    expect(await span({ path: 'marked' })).toMatchObject({ text: 'text' })
  })

  test('UTF-16 with a byte order mark is text, in either order, from any line and any cursor', async () => {
    const text = Array.from({ length: 60_000 }, (_, index) => `line ${index + 1} 日本 😀\n`).join('')
    const little = Buffer.from(`\uFEFF${text}`, 'utf16le')
    write({ little, big: Buffer.from(little).swap16() })
    for (const path of ['little', 'big']) {
      expect(await span({ path, endLine: 2 })).toMatchObject({
        text: 'line 1 日本 😀\nline 2 日本 😀',
        totalLines: 60_000,
      })
      expect(await span({ path, startLine: 59_999, endLine: 59_999 })).toMatchObject({ text: 'line 59999 日本 😀' })
      expect(await span({ path, startLine: 20_000, endLine: 20_000, cursor: '10000:400001' })).not.toHaveProperty(
        'invalidUtf8',
      )
      expect(await grep({ pattern: 'line 59998 日本 😀$' })).toMatchObject({ files: [], skipped: { tooLarge: 2 } })
    }
    write({ little: Buffer.from('\uFEFFfirst\r\nsecond 日本\r\n', 'utf16le') })
    expect(await grep({ pattern: '^second 日本$' })).toMatchObject({
      files: [{ path: 'little', lines: [{ line: 2, text: 'second 日本' }] }],
    })
  })

  test('a name and a text in the other Unicode form are found', async () => {
    const [composed, decomposed] = ['caf\u00e9', 'cafe\u0301']
    write({ [`${decomposed}/${composed}.txt`]: `${decomposed} open\n`, 'plain.txt': `${composed} open\n` })
    const asked = `${composed}/${decomposed}.txt`
    expect(await span({ path: asked })).toMatchObject({
      path: `${decomposed}/${composed}.txt`,
      text: `${decomposed} open`,
    })
    expect(paths(await list({ path: composed }))).toEqual([`${decomposed}/${composed}.txt`])
    for (const pattern of [`^${composed} open`, `^${decomposed} open`])
      expect(found(await grep({ pattern }))).toEqual([`${decomposed}/${composed}.txt`, 'plain.txt'])
    await expect(span({ path: `${composed}/none\u00e9.txt` })).rejects.toMatchObject({ code: 'tool_failed' })
  })

  test('a character that spans two reads stays whole', async () => {
    write({ wide: `${'x'.repeat(65_535)}\n`.slice(1) + '€'.repeat(10) + '\n' + `${'y'.repeat(65_519)}€` })
    expect(await span({ path: 'wide', startLine: 2, endLine: 2 })).toMatchObject({ text: '€'.repeat(10) })
  })
})

describe('code.grep', () => {
  test('matches grouped by file, with a count', async () => {
    write({ 'src/a.ts': 'new WebSocket()\nx\nWebSocket', 'b.md': 'websocket', 'c.ts': 'none' })
    expect(await grep({ pattern: 'WebSocket' })).toEqual({
      files: [
        {
          path: 'src/a.ts',
          count: 2,
          lines: [
            { line: 1, text: 'new WebSocket()' },
            { line: 3, text: 'WebSocket' },
          ],
        },
      ],
      filesSearched: 3,
      skipped: { binary: 0, tooLarge: 0, longLines: 0, hidden: 0, unreadable: 0, unfinished: 0 },
      truncated: false,
    })
    expect(found(await grep({ pattern: '(?i)^websocket$' }))).toEqual(['b.md', 'src/a.ts'])
  })

  test('a prefix is a folder, a file, or the beginning of names', async () => {
    write({ 'src/a/one': 'x', 'src/ab/two': 'x', 'src/b/three': 'x' })
    expect(found(await grep({ pattern: 'x', pathPrefix: 'src/a' }))).toEqual(['src/a/one'])
    expect(found(await grep({ pattern: 'x', pathPrefix: 'src/ab/two' }))).toEqual(['src/ab/two'])
    expect(found(await grep({ pattern: 'x', pathPrefix: 'sr' }))).toEqual(['src/a/one', 'src/ab/two', 'src/b/three'])
    await expect(grep({ pattern: 'x', pathPrefix: '../root' })).rejects.toMatchObject({
      code: 'path_outside_workspace',
    })
  })

  test('binary, large, ignored and secret files are skipped and counted', async () => {
    write({
      '.gitignore': 'out\n',
      out: 'needle',
      '.env.local': 'needle',
      'keys/server.pem': 'needle',
      'image.png': Buffer.from([0x6e, 0, 0x65]),
      large: 'needle'.repeat(100),
      'text.txt': 'needle',
    })
    expect(await grep({ pattern: 'needle' }, { limits: { searchedFileBytesMax: 100 } })).toMatchObject({
      files: [{ path: 'text.txt', count: 1 }],
      filesSearched: 2,
      skipped: { binary: 1, tooLarge: 1, hidden: 3, unreadable: 0 },
    })
  })

  test('too many matches: files are finished, and the search goes on behind the last one', async () => {
    write({ a: 'x\nx\nx', b: 'x\nx\nx', c: 'x' })
    const limits = { matchesMax: 4, matchesPerFileMax: 2 }
    const first = await grep({ pattern: 'x' }, { limits })
    expect(first).toMatchObject({
      files: [
        { path: 'a', count: 3 },
        { path: 'b', count: 3 },
      ],
      truncated: true,
      next: { after: 'b' },
    })
    const second = await grep({ pattern: 'x', after: 'b' }, { limits })
    expect(second).toMatchObject({ files: [{ path: 'c', count: 1 }], truncated: false })
  })

  test('a search that just fits is not truncated', async () => {
    write({ a: 'x\nx', b: 'y' })
    expect(await grep({ pattern: 'x' }, { limits: { matchesMax: 3 } })).toMatchObject({ truncated: false })
  })

  test('time that is used up ends the search with a place to go on', async () => {
    write({ a: 'x', b: 'x', c: 'x' })
    let nowMs = 0
    // The clock is read at the start, for each of the three entries, and before each file.
    const result = await grep({ pattern: 'x' }, { limits: { timeMs: 5 }, clock: { nowMs: () => nowMs++ } })
    expect(result).toMatchObject({ files: [{ path: 'a' }, { path: 'b' }], truncated: true, next: { after: 'b' } })
  })

  test('one file with more matches than are shown goes on at the next of its lines', async () => {
    write({ a: 'x\nx\ny\nx\nx', 'b/c': 'x' })
    const limits = { matchesMax: 2 }
    const first = await grep({ pattern: 'x', pathPrefix: 'a' }, { limits })
    expect(first).toMatchObject({ files: [{ count: 4 }], truncated: true, next: { startLine: 4 } })
    const second = await grep({ pattern: 'x', pathPrefix: 'a', startLine: 4 }, { limits })
    expect(second).toMatchObject({ files: [{ lines: [{ line: 4 }, { line: 5 }] }], truncated: false })
    expect(second).not.toHaveProperty('next')
    await expect(grep({ pattern: 'x', pathPrefix: 'b', startLine: 2 })).rejects.toMatchObject({
      code: 'invalid_arguments',
    })
  })

  test('time that is used up within a file: the next search begins with it, or goes on in it where it is alone', async () => {
    const big = 'y12345678\n'.repeat(90_000)
    write({ a: 'x', b: `${big}x` })
    // The clock advances by one on every read, which happens often within a big file.
    const search = (input: object, timeMs: number) => {
      let nowMs = 0
      return grep({ pattern: 'x.{0,200}', ...input }, { limits: { timeMs }, clock: { nowMs: () => nowMs++ } })
    }
    expect(await search({}, 5)).toMatchObject({ files: [{ path: 'a' }], truncated: true, next: { after: 'a' } })
    const stuck = await search({ after: 'a' }, 5)
    expect(stuck).toMatchObject({ skipped: { unfinished: 1 }, truncated: true, next: { after: 'b' } })
    const alone = await search({ pathPrefix: 'b' }, 1)
    const { next } = z.object({ next: z.object({ startLine: z.int() }) }).parse(alone)
    expect(next.startLine).toBeGreaterThan(1)
    expect(await search({ pathPrefix: 'b', ...next }, 10_000)).toMatchObject({ files: [{ path: 'b', count: 1 }] })
  })

  test('a byte order mark is not part of the first line', async () => {
    write({ a: '\uFEFFx' })
    expect(found(await grep({ pattern: '^x' }))).toEqual(['a'])
  })

  test('patterns that hang other engines end', async () => {
    write({ a: `${'a'.repeat(50_000)}!` })
    expect(found(await grep({ pattern: '^(a+)+$' }))).toEqual([])
    expect(found(await grep({ pattern: '(a|aa)*b|(a*)*c' }))).toEqual([])
  })

  test.each(['[a', '(?=x)', '(a)\\1', 'x'.repeat(1001), 'a{9999}'])(
    'the pattern %s is refused with a reason',
    async (pattern) => {
      await expect(grep({ pattern })).rejects.toMatchObject({ code: 'invalid_arguments' })
    },
  )

  test('a search that takes long tells watchers how far it is', async () => {
    write({ a: 'x', b: 'x', c: 'x' })
    const notes: unknown[] = []
    let nowMs = 0
    const clock = { nowMs: () => (nowMs += 200) }
    const tool = workspaceTools({ root, clock }).find(({ name }) => name === 'code.grep')
    await tool?.execute?.({ pattern: 'x', startLine: 1 }, { ...context(), progress: (note) => notes.push(note) })
    expect(notes).toEqual([
      { entriesSeen: 0, filesSearched: 0 },
      { entriesSeen: 2, filesSearched: 2 },
    ])
  })

  test('an aborted call stops between files', async () => {
    write({ a: 'x', b: 'x' })
    await expect(run('code.grep', { pattern: 'x' }, {}, AbortSignal.abort())).rejects.toMatchObject({
      code: 'cancelled',
    })
  })

  test('an unreadable file and a pipe are counted, and end nothing', async () => {
    write({ a: 'x', closed: 'x' })
    chmodSync(join(root, 'closed'), 0)
    execFileSync('mkfifo', [join(root, 'pipe')])
    expect(found(await grep({ pattern: 'x' }))).toContain('a')
    await expect(span({ path: 'pipe' })).rejects.toMatchObject({ code: 'tool_failed' })
  })
})

describe('paths that lead out', () => {
  beforeEach(() => {
    mkdirSync(join(place, 'outside'))
    writeFileSync(join(place, 'outside', 'secret'), 'needle')
    write({ 'in.txt': 'needle' })
  })

  test.each([
    '..',
    '../outside/secret',
    'a/../../outside/secret',
    '/etc/passwd',
    '..\\outside\\secret',
    'C:\\secret',
    'c:secret',
    '\\\\host\\share',
    '//host/share',
  ])('%s is refused', async (path) => {
    await expect(span({ path })).rejects.toMatchObject({ code: 'path_outside_workspace' })
    await expect(list({ path })).rejects.toMatchObject({ code: 'path_outside_workspace' })
  })

  test('a NUL, and a name that only begins like the root', async () => {
    await expect(span({ path: 'in.txt\0.png' })).rejects.toMatchObject({ code: 'invalid_arguments' })
    mkdirSync(`${root}-twin`)
    await expect(list({ path: `${root}-twin` })).rejects.toMatchObject({ code: 'path_outside_workspace' })
  })

  test('a path that no system takes, one with a name too long, one too deep', async () => {
    await expect(span({ path: 'a'.repeat(5000) })).rejects.toThrow(/4096/)
    await expect(span({ path: 'a'.repeat(300) })).rejects.toMatchObject({ code: 'tool_failed' })
    await expect(span({ path: 'a/'.repeat(1000) })).rejects.toMatchObject({ code: 'tool_failed' })
    write({ [`${'a/'.repeat(64)}b`]: 'needle' })
    await expect(span({ path: `${'a/'.repeat(64)}b` })).rejects.toMatchObject({ code: 'path_protected' })
    expect(found(await grep({ pattern: 'needle' }))).toEqual(['in.txt'])
  })

  test('an absolute path inside, and names that begin with dots, are fine', async () => {
    write({ '..odd': 'x', 'a\u00e4/ü': 'x' })
    expect(await span({ path: join(root, 'in.txt') })).toMatchObject({ path: 'in.txt' })
    expect(await span({ path: '..odd' })).toMatchObject({ path: '..odd' })
    expect(await span({ path: 'aä\\ü' })).toMatchObject({ path: 'aä/ü' })
  })

  test('links out are refused, also where nothing is behind them; links inside are followed', async () => {
    symlinkSync('../outside', join(root, 'folder-link'))
    symlinkSync('../outside/secret', join(root, 'file-link'))
    symlinkSync('in.txt', join(root, 'inner-link'))
    for (const path of ['folder-link', 'folder-link/secret', 'folder-link/none', 'folder-link/none/none', 'file-link'])
      await expect(span({ path })).rejects.toMatchObject({ code: 'path_outside_workspace' })
    expect(await span({ path: 'inner-link' })).toMatchObject({ path: 'in.txt', text: 'needle' })
    expect(found(await grep({ pattern: 'needle' }))).toEqual(['in.txt'])
    expect(paths(await list({ depth: 3 }))).toEqual(['file-link', 'folder-link', 'in.txt', 'inner-link'])
  })

  test('a link that closes a circle is an error, not a loop', async () => {
    symlinkSync('loop', join(root, 'loop'))
    symlinkSync('.', join(root, 'self'))
    await expect(span({ path: 'loop' })).rejects.toMatchObject({ code: 'tool_failed' })
    expect(paths(await list({ depth: 8 }))).toEqual(['in.txt', 'loop', 'self'])
  })
})

describe('files that may hold secrets', () => {
  const secrets = [
    '.env',
    '.ENV',
    '.env.production',
    'prod.env',
    'cert/server.PEM',
    'id_rsa',
    'id_ed25519.pub',
    '.npmrc',
    '.netrc',
    'credentials',
    'aws-credentials.json',
    'secrets.yaml',
    '.aws/config',
    '.git/config',
    '.ssh/known_hosts',
    'terraform.tfstate.backup',
  ]

  test.each(secrets)('%s is neither read nor listed nor searched', async (path) => {
    write({ [path]: 'needle' })
    await expect(span({ path })).rejects.toMatchObject({ code: 'path_protected' })
    await expect(grep({ pattern: 'needle', pathPrefix: path })).rejects.toMatchObject({ code: 'path_protected' })
    expect(paths(await list({ depth: 3 }))).not.toContain(path)
    expect(found(await grep({ pattern: 'needle' }))).toEqual([])
  })

  test('a link to one, or with the name of one', async () => {
    write({ '.env': 'needle', 'plain.txt': 'x' })
    symlinkSync('.env', join(root, 'innocent'))
    symlinkSync('plain.txt', join(root, '.env.link'))
    await expect(span({ path: 'innocent' })).rejects.toMatchObject({ code: 'path_protected' })
    await expect(span({ path: '.env.link' })).rejects.toMatchObject({ code: 'path_protected' })
  })

  test('what the owner allows is read', async () => {
    write({ '.env': 'A=1', '.env.example': 'A=' })
    const allow = ['.env.example']
    expect(await span({ path: '.env.example' }, { allow })).toMatchObject({ text: 'A=' })
    expect(paths(await list({}, { allow }))).toEqual(['.env.example'])
    await expect(span({ path: '.env' }, { allow })).rejects.toMatchObject({ code: 'path_protected' })
  })

  test('code about secrets is not a secret', async () => {
    write({ 'src/credentials.ts': 'x', 'src/secrets/index.ts': 'x', 'monkey.ts': 'x', 'environment.ts': 'x' })
    expect(found(await grep({ pattern: 'x' }))).toEqual([
      'environment.ts',
      'monkey.ts',
      'src/credentials.ts',
      'src/secrets/index.ts',
    ])
  })
})

test('options that other libraries take elsewhere say where they go', () => {
  const refuse = (options: object, hint: string): void =>
    expect(() => workspaceTools({ root, ...options })).toThrow(
      expect.objectContaining({ code: 'invalid_option', hint: expect.stringContaining(hint) as string }),
    )
  refuse({ approval: false }, 'write: { approval: false }')
  refuse({ guard: {} }, 'approvalPolicy')
})

test('a folder in place of the options', () => {
  const create = workspaceTools as (options: unknown) => unknown // as in JavaScript
  expect(() => create('src')).toThrow(
    expect.objectContaining({
      code: 'invalid_option',
      message: 'workspaceTools must be an object of options, not src',
      hint: 'Write workspaceTools({ root: "src" }).',
    }),
  )
})
