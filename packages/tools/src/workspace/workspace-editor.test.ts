// Workspace tools whose files and commands an editor handles: its open files count, and the tools' checks still apply.
import type { Tool } from '@baton/core'
import { isBatonError } from '@baton/core'
import { createToolContext } from '@baton/core/testing'
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { WorkspaceCommand, WorkspaceEditor } from './workspace-editor.ts'
import type { WorkspaceOptions } from './workspace-tools.ts'
import { workspaceTools } from './workspace-tools.ts'

let root = ''
let open: Map<string, string>
let asked: string[]
let commands: WorkspaceCommand[]
let editor: WorkspaceEditor
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'baton-editor-')))
  writeFileSync(join(root, 'a.txt'), 'one\ntwo\n')
  writeFileSync(join(root, '.env'), 'KEY=1\n')
  open = new Map([[join(root, 'a.txt'), 'one\nnot saved\nthree\n']])
  asked = []
  commands = []
  editor = {
    readTextFile: (path) => {
      asked.push(path)
      return Promise.resolve(open.get(path) ?? readFileSync(path, 'utf8'))
    },
    writeTextFile: (path, text) => {
      open.set(path, text)
      return Promise.resolve()
    },
    runCommand: (command) => {
      commands.push(command)
      return Promise.resolve({ output: 'out\n', truncated: false, timedOut: false, exitCode: 3, signal: null })
    },
  }
})
afterEach(() => rmSync(root, { recursive: true }))

function run(name: string, input: object, options: Partial<WorkspaceOptions> = {}): Promise<unknown> {
  const tools: readonly Tool[] = workspaceTools({ root, editor, write: true, ...options })
  const found = tools.find((tool) => tool.name === name)
  if (!found?.execute) throw new Error(`there is no ${name}`)
  const { execute } = found
  // Fills in defaults, like a host.
  return Promise.resolve(execute({ startLine: 1, folder: '.', timeoutMs: 5000, ...input }, createToolContext()))
}

test('lines are those that the editor has, saved or not', async () => {
  expect(await run('content.get_span', { path: 'a.txt', startLine: 2, endLine: 3 })).toEqual({
    path: 'a.txt',
    startLine: 2,
    endLine: 3,
    totalLines: 3,
    text: 'not saved\nthree',
    truncated: false,
  })
})

test('the editor is not asked for what is protected or outside, and its secrets are not shown', async () => {
  await expect(run('content.get_span', { path: '.env' })).rejects.toMatchObject({ code: 'path_protected' })
  await expect(run('content.get_span', { path: '../x' })).rejects.toMatchObject({ code: 'path_outside_workspace' })
  expect(asked).toEqual([])
  open.set(join(root, 'a.txt'), `aws_access_key_id = ${'AKIA'}${'IOSFODNN7ABCDEFG'}\n`)
  await expect(run('content.get_span', { path: 'a.txt' })).rejects.toMatchObject({ code: 'path_protected' })
})

test.each([
  ['UTF-16 with a mark', Buffer.from('\ufeffold\n', 'utf16le'), Buffer.from('\ufeffnew\n', 'utf16le')],
  ['UTF-8 with a mark', Buffer.from('\ufeffold\n'), Buffer.from('\ufeffnew\n')],
])('behind an editor that only reads, a file in %s keeps its encoding', async (_name, before, after) => {
  writeFileSync(join(root, 'a.txt'), before)
  const { writeTextFile: _, ...reading } = editor
  await run('fs.write', { path: 'a.txt', content: 'new\n' }, { editor: reading })
  expect(readFileSync(join(root, 'a.txt'))).toEqual(after)
})

test('files are written and edited through the editor', async () => {
  expect(await run('fs.write', { path: 'b.txt', content: 'bees' })).toMatchObject({ created: true, bytes: 4 })
  expect(open.get(join(root, 'b.txt'))).toBe('bees')
  const edits = [{ oldText: 'not saved', newText: 'two' }]
  expect(await run('fs.edit', { path: 'a.txt', edits })).toMatchObject({ replaced: 1 })
  expect(open.get(join(root, 'a.txt'))).toBe('one\ntwo\nthree\n')
  // The editor saves when its user does.
  expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('one\ntwo\n')
})

test('changes that are cancelled while they wait for a slow editor say so, and are not made', async () => {
  const saved = Promise.withResolvers<void>()
  const slow = { ...editor, writeTextFile: () => saved.promise }
  const tools: readonly Tool[] = workspaceTools({ root, editor: slow, write: true })
  const cancel = new AbortController()
  const start = async (name: string, input: object, signal?: AbortSignal) =>
    await tools.find((tool) => tool.name === name)?.execute?.(input, createToolContext(signal && { signal }))
  const first = start('fs.write', { path: 'slow.txt', content: 'slow' })
  const waiting = [
    start('fs.write', { path: 'b.txt', content: 'bees' }, cancel.signal),
    start('fs.edit', { path: 'a.txt', edits: [{ oldText: 'one', newText: 'two' }] }, cancel.signal),
    start('fs.move', { from: 'a.txt', to: 'c.txt' }, cancel.signal),
    start('fs.delete', { path: 'a.txt', recursive: false }, cancel.signal),
  ]
  cancel.abort()
  saved.resolve()
  expect(await first).toMatchObject({ path: 'slow.txt', bytes: 4 })
  const codes = (await Promise.allSettled(waiting)).map((end) =>
    end.status === 'rejected' && isBatonError(end.reason) ? end.reason.code : end,
  )
  expect(codes).toEqual(['cancelled', 'cancelled', 'cancelled', 'cancelled'])
  expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('one\ntwo\n')
})

test('a command runs in the editor’s terminal', async () => {
  const ended = await run('shell.run', { command: 'make' }, { shell: { sandbox: 'none' } })
  expect(ended).toEqual({ exitCode: 3, timedOut: false, output: 'out\n', truncated: false, sandbox: 'none' })
  expect(commands).toMatchObject([{ args: ['-c', 'make'], cwd: root, timeoutMs: 5000 }])
})

test('without an approval or with a required sandbox, no command leaves the sandbox for a terminal', async () => {
  // Without a working bubblewrap, `required` refuses to run, and `auto` has no sandbox to leave.
  const boxes: unknown[] = []
  for (const shell of [{ sandbox: 'required' as const }, { approval: false }, { approval: () => true }]) {
    const ended = await run('shell.run', { command: 'echo here' }, { shell }).catch(() => ({ sandbox: 'refused' }))
    boxes.push((ended as { readonly sandbox: string }).sandbox) // of the tool's output
  }
  expect(commands).toHaveLength(boxes[1] === 'bubblewrap' ? 0 : 2)
})
