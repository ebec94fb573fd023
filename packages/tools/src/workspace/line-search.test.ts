// Which lines match, and that no pattern blocks the process for long.
import { expect, test, vi } from 'vitest'
import { CallBudget } from './call-budget.ts'
import { LineSearch } from './line-search.ts'
import { WORKSPACE_LIMITS } from './workspace-limits.ts'

/** Ends after this many milliseconds of a clock that advances by one on every read. */
function createBudget(timeMs: number, signal: AbortSignal = new AbortController().signal): CallBudget {
  let nowMs = 0
  const clock = { nowMs: () => nowMs++ }
  return new CallBudget(clock, { ...WORKSPACE_LIMITS, timeMs }, { signal, progress: () => undefined })
}

const find = (pattern: string, text: string, startLine = 1, budget = createBudget(1000)) =>
  new LineSearch(pattern, 1000).find(text, startLine, budget)

test('lines end with LF or CRLF; what is behind the last one is a line unless it is empty', async () => {
  const numbers = async (pattern: string, text: string) => (await find(pattern, text)).matches.map(({ line }) => line)
  expect(await numbers('$', 'a\r\n\nb')).toEqual([1, 2, 3])
  expect(await numbers('$', 'a\n')).toEqual([1])
  expect(await numbers('a$', 'a\r\na\n\r\n')).toEqual([1, 2])
  expect(await numbers('^$', '\r\n\n')).toEqual([1, 2])
  expect(await numbers('$', '')).toEqual([])
})

test('a search from a line in the middle', async () => {
  expect((await find('x', 'x\nx\ny\nx', 2)).matches.map(({ line }) => line)).toEqual([2, 4])
})

test('a long line is searched with a simple pattern, and counted with one that could take for ever', async () => {
  const line = 'ab'.repeat(250_000)
  expect(await find('ba', line)).toMatchObject({ matches: [{ line: 1 }], longLines: 0 })
  expect(await find('(a|b)*a(a|b){400}[xz]', `${line}\nab`)).toEqual({
    matches: [],
    longLines: 1,
    stoppedAt: undefined,
  })
})

test('other work goes on during a long search', async () => {
  const turn = vi.fn<() => void>()
  setImmediate(turn)
  await find('[xz]', 'abcdefgh\n'.repeat(100_000))
  expect(turn).toHaveBeenCalled()
})

test('time that is used up in the middle of a text: what was found, and where to go on', async () => {
  const text = 'x12345678\n'.repeat(1_000_000)
  const first = await find('^x', text, 1, createBudget(3))
  const stoppedAt = first.stoppedAt ?? 0
  expect(stoppedAt).toBeGreaterThan(1)
  expect(first.matches.length).toBe(stoppedAt - 1)
  const rest = await find('^x', text, stoppedAt)
  expect(rest.stoppedAt).toBeUndefined()
  expect(first.matches.length + rest.matches.length).toBe(1_000_000)
})

test('a call that is aborted in the middle of a text', async () => {
  const controller = new AbortController()
  setImmediate(() => controller.abort())
  const search = find('^x', 'y12345678\n'.repeat(1_000_000), 1, createBudget(1000, controller.signal))
  await expect(search).rejects.toMatchObject({ code: 'cancelled' })
})
