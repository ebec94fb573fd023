// The write tools over real temporary folders: what they change, what they refuse, and what people are shown.
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Tool } from '@baton/core'
import { createToolContext } from '@baton/core/testing'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import * as z from 'zod'
import type { WorkspaceOptions } from './workspace-tools.ts'
import { workspaceTools } from './workspace-tools.ts'

let place = ''
let root = ''

beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), 'baton-writing-'))
  root = join(place, 'root')
  mkdirSync(root)
})

afterEach(() => rmSync(place, { recursive: true, force: true }))

function put(files: Readonly<Record<string, string | Uint8Array>>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), content)
  }
}
const read = (path: string): string => readFileSync(join(root, path), 'utf8')

function find(name: string, options: Partial<WorkspaceOptions> = {}): Tool {
  const found = workspaceTools({ root, write: true, ...options }).find((one) => one.name === name)
  if (!found) throw new Error(name)
  return found
}

/** Runs a tool like a host: validates the input, asks for approval, and checks the output against its schema. */
async function run(name: string, input: object, options: Partial<WorkspaceOptions> = {}): Promise<unknown> {
  const tool = find(name, options)
  if (!tool.execute || !(tool.input instanceof z.ZodType) || !(tool.output instanceof z.ZodType)) throw new Error(name)
  const result = await tool.execute(
    tool.input.parse(input),
    createToolContext({ signal: new AbortController().signal }),
  )
  expect(tool.output.parse(result)).toEqual(result)
  return result
}
const fails = async (name: string, input: object, code: string, message: string | RegExp): Promise<void> => {
  const failed: unknown = await run(name, input).catch((cause: unknown) => cause)
  expect(failed).toMatchObject({ code })
  expect((failed as Error).message).toMatch(message)
}

test('they are there where the owner says so, ask for approval, and say how often they may run', () => {
  expect(workspaceTools({ root }).map(({ name, trust }) => [name, trust])).toEqual([
    ['fs.list_dir', 'untrusted'],
    ['content.get_span', 'untrusted'],
    ['code.grep', 'untrusted'],
  ])
  const writing = workspaceTools({ root, write: true, trust: 'trusted' })
  expect(writing.slice(0, 3).map(({ trust }) => trust)).toEqual(['trusted', 'trusted', 'trusted'])
  expect(writing.slice(3).map(({ name, effect, kind, title }) => [name, effect, kind, title])).toEqual([
    ['fs.write', 'idempotent', 'edit', 'Write a file'],
    ['fs.edit', 'once', 'edit', 'Edit a file'],
    ['fs.move', 'once', 'move', 'Move a file or folder'],
    ['fs.delete', 'once', 'delete', 'Delete a file or folder'],
  ])
})

describe('an approval', () => {
  const asks = async (name: string, input: object, options?: Partial<WorkspaceOptions>): Promise<unknown> => {
    const { approval } = find(name, options)
    return typeof approval === 'function' ? await approval(input, {} as never) : approval
  }

  test('is needed, unless the owner does not want it', async () => {
    put({ 'a.txt': 'a' })
    for (const [name, input] of [
      ['fs.write', { path: 'a.txt' }],
      ['fs.edit', { path: 'a.txt' }],
      ['fs.move', { from: 'a.txt', to: 'b.txt' }],
      ['fs.delete', { path: 'a.txt' }],
    ] as const) {
      expect(await asks(name, input)).toBe(true)
      expect(await asks(name, input, { write: { approval: false } })).toBe(false)
    }
  })

  test('nobody is asked about what may not be written', async () => {
    await expect(asks('fs.write', { path: '.env' })).rejects.toMatchObject({ code: 'path_protected' })
    await expect(asks('fs.move', { from: 'a.txt', to: '../b.txt' })).rejects.toMatchObject({
      code: 'path_outside_workspace',
    })
  })

  test('shows what changes and where, and no content of an old file', () => {
    put({ 'a.txt': 'secret of the owner' })
    const describe = (name: string, input: object) => find(name).describe?.(input)
    expect(describe('fs.write', { path: './new/b.txt', content: 'hi' })).toEqual({
      title: 'Write ./new/b.txt',
      locations: [{ path: './new/b.txt' }],
      destination: 'new/b.txt',
      diff: [{ path: './new/b.txt', oldText: null, newText: 'hi' }],
    })
    expect(describe('fs.write', { path: 'a.txt', content: 'hi' })).toEqual({
      title: 'Replace all of a.txt',
      locations: [{ path: 'a.txt' }],
      destination: 'a.txt',
    })
    expect(
      describe('fs.edit', {
        path: 'a.txt',
        edits: [
          { oldText: 'a', newText: 'b' },
          { oldText: 'c', newText: '' },
        ],
      }),
    ).toMatchObject({
      title: 'Edit a.txt in 2 places',
      diff: [
        { oldText: 'a', newText: 'b' },
        { oldText: 'c', newText: '' },
      ],
    })
    // Otherwise, approving moves to one place would allow any file to be moved there.
    expect(describe('fs.move', { from: 'a.txt', to: 'b.txt' })).not.toHaveProperty('destination')
    expect(describe('fs.delete', { path: 'a', recursive: true })).toMatchObject({
      title: 'Delete a and all its contents',
    })
  })
})

describe('what a file was written as', () => {
  const raw = (path: string): Buffer => readFileSync(join(root, path))
  const utf16 = (text: string): Buffer => Buffer.from(`\uFEFF${text}`, 'utf16le')

  test('a new content keeps the byte order mark and the line ends of the old one', async () => {
    put({ windows: '\uFEFFa\r\nb\r\n', unix: 'a\nb\n', mixed: 'a\r\nb\n' })
    for (const path of ['windows', 'unix', 'mixed']) await run('fs.write', { path, content: 'x\ny\n' })
    expect([read('windows'), read('unix'), read('mixed')]).toEqual(['\uFEFFx\r\ny\r\n', 'x\ny\n', 'x\ny\n'])
    await run('fs.write', { path: 'windows', content: '\uFEFFz\r\n' })
    expect(read('windows')).toBe('\uFEFFz\r\n')
  })

  test('UTF-16 stays UTF-16, written whole or edited', async () => {
    put({ little: utf16('one\r\ntwo 日本\r\n'), big: utf16('one\r\ntwo 日本\r\n').swap16() })
    for (const path of ['little', 'big'])
      expect(await run('fs.edit', { path, edits: [{ oldText: 'two 日本\n', newText: 'drei 😀\n' }] })).toMatchObject({
        replaced: 1,
        bytes: utf16('one\r\ndrei 😀\r\n').length,
      })
    expect(raw('little')).toEqual(utf16('one\r\ndrei 😀\r\n'))
    expect(raw('big')).toEqual(utf16('one\r\ndrei 😀\r\n').swap16())
    await run('fs.write', { path: 'big', content: 'new\n' })
    expect(raw('big')).toEqual(utf16('new\r\n').swap16())
  })

  test('line ends of CR alone stay so, written whole or edited', async () => {
    put({ old: 'one\rtwo\r', edited: 'one\rtwo\rthree\r' })
    await run('fs.write', { path: 'old', content: 'x\ny\n' })
    await run('fs.edit', { path: 'edited', edits: [{ oldText: 'one\ntwo\n', newText: '1\n2\n2b\n' }] })
    expect([read('old'), read('edited')]).toEqual(['x\ry\r', '1\r2\r2b\rthree\r'])
  })

  test.each<[string, Buffer, string]>([
    ['Latin-1', Buffer.from('caf\u00E9\n', 'latin1'), 'is not UTF-8'],
    [
      'Latin-1, behind much that is UTF-8',
      Buffer.concat([Buffer.alloc(10_000, 'a'), Buffer.from([0xe9])]),
      'is not UTF-8',
    ],
    ['UTF-16 without a mark', Buffer.from('one\r\ntwo\r\n', 'utf16le'), 'is UTF-16 without a byte order mark'],
    [
      'the same in the other order',
      Buffer.from('caf\u00E9\n', 'utf16le').swap16(),
      'is UTF-16 without a byte order mark',
    ],
    [
      'the same, hardly of ASCII',
      Buffer.from('\u65E5\u672C\u8A9E\n\u6587\n', 'utf16le'),
      'is UTF-16 without a byte order mark',
    ],
    ['half of UTF-16', Buffer.concat([utf16('one'), Buffer.from([0x41])]), 'is not whole UTF-16'],
  ])('a new content would change what the file is written in, and is refused: %s', async (_, content, why) => {
    put({ 'a.txt': content })
    const edits = [{ oldText: 'one', newText: 'two' }]
    await fails('fs.write', { path: 'a.txt', content: 'new\n' }, 'tool_failed', why)
    await fails('fs.edit', { path: 'a.txt', edits }, 'tool_failed', why)
    expect(raw('a.txt')).toEqual(content)
  })

  test('a binary file that is no text in any form is replaced by a new content', async () => {
    put({ picture: Buffer.from([0x89, 0x50, 0, 0, 0xff, 1, 0, 2, 0, 0]), zeros: Buffer.alloc(8) })
    for (const path of ['picture', 'zeros']) await run('fs.write', { path, content: 'new\n' })
    expect([read('picture'), read('zeros')]).toEqual(['new\n', 'new\n'])
  })

  test('half a character of UTF-16 is refused, as is a binary file', async () => {
    put({ odd: Buffer.concat([utf16('one'), Buffer.from([0x41])]), binary: Buffer.from([1, 0, 2]) })
    const edits = [{ oldText: 'one', newText: 'two' }]
    await fails('fs.edit', { path: 'odd', edits }, 'tool_failed', 'is not whole UTF-16; editing it would change')
    await fails('fs.edit', { path: 'binary', edits }, 'tool_failed', 'is a binary file')
  })

  test('an edit with other quotes is made in its one place, and the result says where', async () => {
    put({ 'a.txt': 'first\nsay “yes”\n' })
    const edits = [{ oldText: 'say "yes"', newText: 'say no' }]
    expect(await run('fs.edit', { path: 'a.txt', edits })).toEqual({
      path: 'a.txt',
      replaced: 1,
      bytes: 13,
      near: [{ edit: 1, line: 2 }],
    })
    expect(read('a.txt')).toBe('first\nsay no\n')
  })

  test('a file whose name is stored in the other Unicode form is the one that is changed', async () => {
    put({ 'cafe\u0301.txt': 'open\n' })
    await run('fs.edit', { path: 'caf\u00e9.txt', edits: [{ oldText: 'open', newText: 'closed' }] })
    expect(readdirSync(root)).toEqual(['cafe\u0301.txt'])
    expect(read('cafe\u0301.txt')).toBe('closed\n')
  })
})

test.each(['aux.txt', 'CON', 'nul.tar.gz', 'com1', 'LPT9.log', 'COM¹', 'notes.', 'notes ', 'deep/prn/a.txt'])(
  'a new file "%s", which Windows cannot have, is refused',
  async (path) => {
    await fails('fs.write', { path, content: '' }, 'invalid_arguments', 'is not a valid name on Windows')
    put({ 'a.txt': '' })
    await fails('fs.move', { from: 'a.txt', to: path }, 'invalid_arguments', 'is not a valid name on Windows')
    expect(readdirSync(root)).toEqual(['a.txt'])
  },
)

test.each(['auxiliary.txt', 'console', 'com10', 'a.aux', '.nul'])('a new file "%s" is made', async (path) => {
  await run('fs.write', { path, content: 'text' })
  expect(read(path)).toBe('text')
})

describe('fs.write', () => {
  test('makes a file with its folders, and replaces one with its permissions', async () => {
    expect(await run('fs.write', { path: 'a/b/c.txt', content: 'ä' })).toEqual({
      path: 'a/b/c.txt',
      created: true,
      bytes: 2,
    })
    chmodSync(join(root, 'a/b/c.txt'), 0o750)
    expect(await run('fs.write', { path: 'a/b/c.txt', content: 'new' })).toMatchObject({ created: false })
    expect(read('a/b/c.txt')).toBe('new')
    expect(statSync(join(root, 'a/b/c.txt')).mode & 0o777).toBe(0o750)
    expect(readdirSync(join(root, 'a/b'))).toEqual(['c.txt'])
  })

  test('never follows a link: what a person approves is what changes', async () => {
    put({ 'real.txt': 'old', 'src/main.ts': 'x' })
    symlinkSync('real.txt', join(root, 'link.txt'))
    symlinkSync('src', join(root, 'cache'))
    symlinkSync(place, join(root, 'out'))
    symlinkSync(join(place, 'nothing'), join(root, 'broken'))
    await fails('fs.write', { path: 'link.txt', content: 'new' }, 'tool_failed', /its real path is "real.txt"/)
    await fails('fs.write', { path: 'cache/new.ts', content: '' }, 'tool_failed', /its real path is "src\/new.ts"/)
    await fails('fs.delete', { path: 'cache', recursive: true }, 'tool_failed', /its real path is "src"/)
    await fails('fs.move', { from: 'cache/main.ts', to: 'x.ts' }, 'tool_failed', /its real path is "src\/main.ts"/)
    expect([read('real.txt'), read('src/main.ts')]).toEqual(['old', 'x'])
    await fails('fs.write', { path: 'out/x.txt', content: '' }, 'path_outside_workspace', /outside/)
    await fails('fs.write', { path: '../x.txt', content: '' }, 'path_outside_workspace', /outside/)
    await fails('fs.write', { path: 'broken', content: '' }, 'tool_failed', /broken/)
    expect(existsSync(join(place, 'x.txt')) || existsSync(join(place, 'nothing'))).toBe(false)
  })

  test('leaves a file outside alone that is the same by a hard link', async () => {
    writeFileSync(join(place, 'outside.txt'), 'outside')
    linkSync(join(place, 'outside.txt'), join(root, 'inside.txt'))
    await run('fs.write', { path: 'inside.txt', content: 'new' })
    expect(readFileSync(join(place, 'outside.txt'), 'utf8')).toBe('outside')
  })

  test.each([
    ['.env', 'path_protected', /protected/],
    ['.git/hooks/pre-commit', 'path_protected', /protected/],
    ['dist/x.js', 'path_protected', /ignored/],
    ['.gitignore', 'path_protected', /a person must change it/],
    ['deep/.GitIgnore', 'path_protected', /a person must change it/],
    ['deep/.gitignore. ', 'path_protected', /a person must change it/],
    ['deep/.git\u200bignore', 'path_protected', /a person must change it/],
    ['deep/.gitignore/x', 'path_protected', /a person must change it/],
    ['\u001b[2Jx', 'invalid_arguments', /"\\u001b\[2Jx" contains invisible characters/],
    ['a\u202etxt.exe', 'invalid_arguments', /invisible characters/],
    ['folder', 'tool_failed', /is a folder/],
    ['file.txt/below', 'tool_failed', /ENOTDIR/],
    ['.', 'invalid_arguments', /the workspace itself/],
    ['a\0b', 'invalid_arguments', /NUL/],
  ])('%j is refused', async (path, code, message) => {
    put({ '.gitignore': 'dist/\n', 'file.txt': '', 'folder/x': '' })
    await fails('fs.write', { path, content: 'x' }, code, message)
    expect(read('.gitignore')).toBe('dist/\n')
  })

  test('what the owner allows may be written', async () => {
    put({ '.gitignore': 'dist/\n' })
    const options = { allow: ['dist/', '.gitignore'] }
    expect(await run('fs.write', { path: 'dist/x.js', content: '' }, options)).toMatchObject({ created: true })
    expect(await run('fs.write', { path: '.gitignore', content: '' }, options)).toMatchObject({ created: false })
  })

  test('too much, or half of a character, is refused, and the old file stays', async () => {
    put({ 'a.txt': 'old' })
    const limits = { writtenBytesMax: 4 }
    await expect(run('fs.write', { path: 'a.txt', content: 'äää' }, { limits })).rejects.toThrow(
      'would have 6 bytes; the maximum is 4',
    )
    await fails('fs.write', { path: 'a.txt', content: '\ud800' }, 'invalid_arguments', /half of a character/)
    expect(read('a.txt')).toBe('old')
  })

  test('what the system refuses is told in words', async () => {
    const path = `${'a'.repeat(250)}/${'b'.repeat(300)}`
    await fails('fs.write', { path, content: '' }, 'tool_failed', /\(ENAMETOOLONG: the name is too long\)/)
  })
})

describe('fs.edit', () => {
  const change = { oldText: 'b', newText: 'B' }

  test('replaces, and keeps a byte order mark', async () => {
    put({ 'a.txt': '\ufeffa b c' })
    expect(await run('fs.edit', { path: 'a.txt', edits: [change] })).toEqual({ path: 'a.txt', replaced: 1, bytes: 8 })
    expect(read('a.txt')).toBe('\ufeffa B c')
  })

  test('edits of one file in one step all count', async () => {
    const words = Array.from({ length: 20 }, (_, at) => `<${at}>`)
    put({ 'a.txt': words.join(' ') })
    const tool = find('fs.edit')
    const context = createToolContext({ signal: new AbortController().signal })
    const edit = (oldText: string) => tool.execute?.({ path: 'a.txt', edits: [{ oldText, newText: 'done' }] }, context)
    await Promise.all(words.map(edit))
    expect(read('a.txt')).toBe(words.map(() => 'done').join(' '))
  })

  test.each([
    ['none.txt', 'tool_failed', /fs.write creates new files/],
    ['binary', 'tool_failed', /binary/],
    ['latin.txt', 'tool_failed', /not UTF-8/],
    ['key.txt', 'path_protected', /private key/],
    ['folder', 'tool_failed', /not a file/],
    ['twice.txt', 'tool_failed', /2 times, in lines 1, 2/],
  ])('%s is refused and stays as it was', async (path, code, message) => {
    const key = `-----BEGIN RSA PRIVATE KEY-----\n${'QUJD'.repeat(40)}b\n-----END RSA PRIVATE KEY-----\n`
    put({
      binary: 'b\0',
      'latin.txt': Buffer.from('b\xe9', 'latin1'),
      'key.txt': key,
      'folder/x': '',
      'twice.txt': 'b\nb',
    })
    await fails('fs.edit', { path, edits: [change] }, code, message)
    expect(read('twice.txt')).toBe('b\nb')
  })
})

test('a file that is larger than what may be written is not edited', async () => {
  put({ 'a.txt': 'older' })
  const edits = [{ oldText: 'older', newText: 'new' }]
  const edited = run('fs.edit', { path: 'a.txt', edits }, { limits: { writtenBytesMax: 4 } })
  await expect(edited).rejects.toThrow('has 5 bytes; only files of up to 4 bytes can be edited')
  expect(read('a.txt')).toBe('older')
})

describe('fs.move and fs.delete', () => {
  test('a file and a folder are moved, into folders that are made', async () => {
    put({ 'a.txt': 'a', 'old/x.txt': 'x' })
    expect(await run('fs.move', { from: 'a.txt', to: 'new/b.txt' })).toEqual({ from: 'a.txt', to: 'new/b.txt' })
    await run('fs.move', { from: 'old', to: 'new/old' })
    expect([read('new/b.txt'), read('new/old/x.txt'), existsSync(join(root, 'old'))]).toEqual(['a', 'x', false])
  })

  test('nothing is moved to where a model may read secrets', async () => {
    put({ 'key.txt': 'a secret', 'keys/a.txt': 'a secret', 'open/x.txt': '' })
    const options = { allow: ['open/**'] }
    for (const [from, to] of [
      ['key.txt', 'open/key.txt'],
      ['keys', 'open/keys'],
    ])
      await expect(run('fs.move', { from, to }, options)).rejects.toMatchObject({ code: 'path_protected' })
    expect(await run('fs.move', { from: 'open/x.txt', to: 'open/y.txt' }, options)).toMatchObject({ to: 'open/y.txt' })
  })

  test('a file and a folder are deleted', async () => {
    put({ 'a.txt': 'a', 'old/x/y.txt': 'x' })
    expect(await run('fs.delete', { path: 'a.txt' })).toEqual({ path: 'a.txt', deleted: 'file' })
    await fails('fs.delete', { path: 'old' }, 'tool_failed', /set recursive: true/)
    expect(await run('fs.delete', { path: 'old', recursive: true })).toEqual({ path: 'old', deleted: 'folder' })
    expect(readdirSync(root)).toEqual([])
  })

  test('a folder that hides something stays, for elsewhere it might be shown', async () => {
    put({ '.gitignore': '/build/private.txt\n', 'build/private.txt': 'x', 'build/b.txt': '', 'app/.env': 'KEY=1' })
    for (const from of ['build', 'app']) {
      await fails('fs.move', { from, to: 'shown' }, 'path_protected', /a person must do it/)
      await fails('fs.delete', { path: from, recursive: true }, 'path_protected', /a person must do it/)
    }
    expect([existsSync(join(root, 'build/private.txt')), existsSync(join(root, 'app/.env'))]).toEqual([true, true])
  })

  test.each([
    [{ from: 'a.txt', to: 'b.txt' }, 'tool_failed', /already exists/],
    [{ from: 'none', to: 'c.txt' }, 'tool_failed', /"none" does not exist/],
    [{ from: 'a.txt', to: '.env' }, 'path_protected', /protected/],
    [{ from: '.env', to: 'shown.txt' }, 'path_protected', /protected/],
    [{ from: 'dir', to: 'dir/in' }, 'invalid_arguments', /into itself/],
    [{ from: 'a.txt', to: '../a.txt' }, 'path_outside_workspace', /outside/],
    [{ from: '.', to: 'dir/x' }, 'invalid_arguments', /the workspace itself/],
  ])('%o is refused', async (input, code, message) => {
    put({ 'a.txt': 'a', 'b.txt': 'b', '.env': 'KEY=1', 'dir/x': '' })
    await fails('fs.move', input, code, message)
    expect([read('a.txt'), read('b.txt'), read('.env')]).toEqual(['a', 'b', 'KEY=1'])
  })
})

test('a call that was cancelled changes nothing, and says so', async () => {
  put({ 'a.txt': 'b' })
  const context = createToolContext({ signal: AbortSignal.abort() })
  for (const [name, input] of [
    ['fs.write', { path: 'a.txt', content: 'x' }],
    ['fs.edit', { path: 'a.txt', edits: [{ oldText: 'b', newText: 'x' }] }],
    ['fs.move', { from: 'a.txt', to: 'c.txt' }],
    ['fs.delete', { path: 'a.txt', recursive: false }],
  ] as const)
    await expect(find(name).execute?.(input, context)).rejects.toMatchObject({
      code: 'cancelled',
      message: 'the call was cancelled before it changed anything',
    })
  expect(readdirSync(root)).toEqual(['a.txt'])
  expect(read('a.txt')).toBe('b')
})
