// A 500 MB session file, listed, searched, read and analyzed by a process with a much smaller heap.
import { spawnSync } from 'node:child_process'
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { assistant, createStore, idOf, user } from './session-files.test-kit.ts'

const BYTES = 500 * 1000 * 1000
const HEAP_MB = 96

const PROGRAM = `
import { codingSessionTools } from '@baton/kits/coding-sessions'
import { createToolContext } from '@baton/core/testing'
const [store, id, lines] = JSON.parse(process.argv[1])
const tools = codingSessionTools({ ...store, timeMs: 600_000 })
const context = createToolContext({ signal: new AbortController().signal })
const run = (name, input) => tools.find((tool) => tool.name === name).execute(input, context)
const list = await run('session.list', { topK: 20 })
const search = await run('session.search', { pattern: 'needle', maxResults: 100, contextLines: 2 })
const read = await run('session.read', { sessionId: id, provider: 'claude-code', startLine: lines - 5, maxEvents: 100 })
const analyze = await run('session.analyze', {})
console.log(JSON.stringify({
  listed: list.sessions.length,
  found: search.totalMatches,
  truncated: search.truncated || read.truncated || analyze.truncated,
  read: read.events.length,
  turns: analyze.total.turns,
  tooLong: analyze.skipped.tooLong,
  peakBytes: process.resourceUsage().maxRSS * 1024,
}))
`

test('500 MB are read in bounded memory', () => {
  const place = mkdtempSync(join(tmpdir(), 'baton-large-session-'))
  try {
    const store = createStore(place)
    const written = writeLarge(store)
    const words = [
      '--conditions=@baton/source',
      `--max-old-space-size=${HEAP_MB}`,
      '--input-type=module',
      '--eval',
      PROGRAM,
    ]
    const { stdout, stderr, status } = spawnSync(
      process.execPath,
      [...words, JSON.stringify([store, idOf(1), written.lines])],
      {
        encoding: 'utf8',
        cwd: import.meta.dirname,
        timeout: 900_000,
      },
    )
    expect({ stderr, status }).toEqual({ stderr: '', status: 0 })
    const { peakBytes, ...rest } = JSON.parse(stdout)
    expect(rest).toEqual({ listed: 1, found: 3, truncated: false, read: 6, turns: written.turns, tooLong: 1 })
    console.info(
      `coding sessions: ${Math.round(written.bytes / 1e6)} MB in ${written.lines} lines, peak memory ${Math.round(peakBytes / 1e6)} MB with a heap of ${HEAP_MB} MB`,
    )
    expect(peakBytes).toBeLessThan(BYTES)
  } finally {
    rmSync(place, { recursive: true, force: true })
  }
}, 1_000_000)

/** Lines from 2 KB to 2 MB, one of 40 MB, and three needles. */
function writeLarge(store: ReturnType<typeof createStore>): {
  readonly lines: number
  readonly turns: number
  readonly bytes: number
} {
  const folder = join(store.claudeCode, store.root.replaceAll(/[^A-Za-z0-9]/g, '-'))
  mkdirSync(folder, { recursive: true })
  const file = openSync(join(folder, `${idOf(1)}.jsonl`), 'w')
  const common = { sessionId: idOf(1), cwd: store.root }
  const output = 'some output of a tool, with words and numbers 0123456789\n'
  let [bytes, lines, turns] = [0, 0, 0]
  let hasMiddle = false
  const write = (line: object) => {
    bytes += writeSync(file, `${JSON.stringify({ ...common, ...line })}\n`)
    lines += 1
  }
  const say = (text: string) => {
    write(user(lines, text))
    turns += 1
  }
  say('a needle at the beginning')
  while (bytes < BYTES) {
    const id = `t${lines}`
    write(assistant(lines, [{ type: 'tool_use', id, name: 'Read', input: { file_path: `/src/${lines % 5000}.ts` } }]))
    const repeats = lines % 1000 === 1 ? 36_000 : 40 + (lines % 60)
    write(user(lines, [{ type: 'tool_result', tool_use_id: id, content: output.repeat(repeats) }]))
    if (lines % 101 === 0) say(`go on ${lines}`)
    if (lines >= 50_000 && !hasMiddle) {
      say('a needle in the middle')
      hasMiddle = true
    }
    if (lines === 5000 || lines === 5001) write({ type: 'user', message: { content: 'x'.repeat(40_000_000) } })
  }
  for (let number = 0; number < 5; number++) say(`so ${number}`)
  say('a needle at the end')
  closeSync(file)
  return { lines, turns, bytes }
}
