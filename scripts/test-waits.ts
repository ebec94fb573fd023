// The rules for tests that wait: no assertion on time, no sleep, no listener that outlives its file. Tests of real
// processes (`.process.test.ts`, `.deep.test.ts`) and their kits may pause.
import type { Node } from 'oxc-parser'
import type { SourceFile } from './source-files.ts'
import { isTest, walkNodes } from './source-files.ts'

/** Default timeout of `expect.poll` in milliseconds; a shorter timeout is not allowed. */
export const POLL_MS = 60_000

/** Time for a program that a test starts, in milliseconds; a shorter one is not allowed. */
export const PROGRAM_MS = 180_000

/**
 * Timeouts of tests in milliseconds, by suite: they end a hang. A shorter timeout of a single test is not allowed, since
 * a slow machine reaches it.
 */
export const FAST_MS = 300_000
export const PROCESS_MS = 600_000
export const PROPERTY_MS = 600_000
export const DEEP_MS = 900_000

export interface TestWait {
  readonly line: number
  readonly message: string
}

export function findTestWaits(file: SourceFile): readonly TestWait[] {
  if (!isTest(file.path)) return []
  // A kit without Vitest is a program that a test starts.
  const isInVitest = !file.path.endsWith('.test-kit.ts') || file.imports.some(({ module }) => module === 'vitest')
  const found: TestWait[] = []
  const add = (node: Node, message: string): void => void found.push({ line: file.lineOf(node.start), message })
  const leastMs = timeoutOf(file.path)
  const mayPause = /\.(?:(?:process|deep)\.test|test-kit)\.ts$/.test(file.path)
  walkNodes(file.program, (node, around) => {
    if (node.type !== 'CallExpression') return
    const name = file.text.slice(node.callee.start, node.callee.end).replaceAll(/\s/g, '')
    if (/^vi\.wait(?:For|Until)$/.test(name)) add(node, `${name} waits one second: use expect.poll`)
    if (name === 'vi.setConfig' && /[tT]imeout/.test(file.text.slice(node.start, node.end)))
      add(node, 'a timeout other than the project’s asserts on time')
    if (name === 'expect.poll' && isShort(node.arguments[1], file, POLL_MS))
      add(node, `a poll under ${POLL_MS} ms asserts on time`)
    const options = node.arguments.find(({ type }) => type === 'ObjectExpression')
    if (/^(?:promisify\(execFile\)|execFile|execFileSync|spawnSync)$/.test(name) && isShort(options, file, PROGRAM_MS))
      add(node, `a program that has under ${PROGRAM_MS} ms asserts on time`)
    if (!mayPause && name === 'setTimeout' && isInPromise(around)) add(node, 'a pause in a test: inject time, or poll')
    if (
      /^(?:test|it|describe|beforeAll|beforeEach|afterAll|afterEach)\b/.test(name) &&
      node.arguments.some((one) => isUnder(one, file, leastMs))
    )
      add(node, `a timeout under ${leastMs} ms asserts on time`)
    if (isInVitest && name === 'process.on' && !isRemoved(node.arguments[0], file))
      add(node, 'a listener that is never removed')
  })
  if (!mayPause && file.imports.some(({ module }) => module === 'node:timers/promises'))
    if (/import \{[^}]*\bsetTimeout\b[^}]*\} from 'node:timers\/promises'/.test(file.text))
      found.push({ line: 1, message: 'a pause in a test: inject time, or poll' })
  return found
}

/** Timeout of the suite that runs a file. */
function timeoutOf(path: string): number {
  if (path.endsWith('.deep.test.ts')) return DEEP_MS
  if (path.endsWith('.property.test.ts')) return PROPERTY_MS
  return path.endsWith('.process.test.ts') ? PROCESS_MS : FAST_MS
}

/** Whether a node is a timeout under `leastMs`, or options with one. */
function isUnder({ type, start, end }: Node, file: SourceFile, leastMs: number): boolean {
  const text = file.text.slice(start, end)
  const ms = type === 'ObjectExpression' ? /^\{ *timeout: ([\d_]+)/.exec(text)?.[1] : /^[\d_]+$/.exec(text)?.[0]
  return ms !== undefined && Number(ms.replaceAll('_', '')) < leastMs
}

function isShort(options: Node | undefined, file: SourceFile, leastMs: number): boolean {
  if (!options) return false
  const given = file.text.slice(options.start, options.end)
  const [declared] =
    options.type === 'Identifier' ? (new RegExp(`const ${given} = \\{[^}]*\\}`).exec(file.text) ?? []) : []
  const [, ms] = /\btimeout: ([\d_]+)/.exec(declared ?? given) ?? []
  return ms !== undefined && Number(ms.replaceAll('_', '')) < leastMs
}

/** Whether a `new Promise(…)` waits for the call. A deadline that rejects does not count. */
function isInPromise(around: readonly Node[]): boolean {
  const made = around.findLast((node) => node.type === 'NewExpression')
  if (made?.callee.type !== 'Identifier' || made.callee.name !== 'Promise') return false
  const [executor] = made.arguments
  const isFunction = executor?.type === 'ArrowFunctionExpression' || executor?.type === 'FunctionExpression'
  return isFunction && executor.params.length === 1
}

function isRemoved(event: Node | undefined, file: SourceFile): boolean {
  if (event?.type !== 'Literal' || typeof event.value !== 'string') return false
  return new RegExp(`process\\.(?:off|removeListener)\\('${event.value}'`).test(file.text)
}
