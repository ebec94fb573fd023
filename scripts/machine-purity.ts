// Finds what the session machine must not use although it would compile: clocks, randomness, locales, promises, other
// modules.
import type { Node } from 'oxc-parser'
import type { SourceFile } from './source-files.ts'
import { walkNodes } from './source-files.ts'

export interface Impurity {
  readonly line: number
  readonly message: string
}

const BANNED_GLOBALS: ReadonlySet<string> = new Set([
  'Date',
  'Intl',
  'WeakRef',
  'FinalizationRegistry',
  'Promise',
  'globalThis',
  'Atomics',
])
const SORTS: ReadonlySet<string> = new Set(['sort', 'toSorted'])

export function impurities(file: SourceFile): readonly Impurity[] {
  const found: Impurity[] = []
  const say = (node: Node, message: string): void => void found.push({ line: file.lineOf(node.start), message })
  walkNodes(file.program, (node, around) => {
    const what = asynchronous(node) ?? bannedName(node, around.at(-1)) ?? bannedProperty(node) ?? bareSort(node)
    if (what !== undefined) say(node, what)
    if (node.type === 'ImportExpression') say(node, 'import() is asynchronous')
  })
  for (const { module, line } of file.imports)
    if (!module.startsWith('.')) found.push({ line, message: `"${module}" is not part of the machine` })
  return found
}

function asynchronous(node: Node): string | undefined {
  const isAsync = 'async' in node && node.async === true
  const isAwait = node.type === 'AwaitExpression' || (node.type === 'ForOfStatement' && node.await)
  return isAsync || isAwait ? 'async and await: the machine is synchronous' : undefined
}

function bannedName(node: Node, parent: Node | undefined): string | undefined {
  if (node.type !== 'Identifier') return undefined
  const isField = parent?.type === 'MemberExpression' && parent.property === node && !parent.computed
  const isKey =
    parent !== undefined && 'key' in parent && parent.key === node && !('computed' in parent && parent.computed)
  if (isField || isKey) return undefined
  if (node.name === 'Math' && parent?.type !== 'MemberExpression') return 'Math as a value could expose random'
  return BANNED_GLOBALS.has(node.name) ? `${node.name} makes the machine depend on where or when it runs` : undefined
}

function bannedProperty(node: Node): string | undefined {
  if (node.type !== 'MemberExpression') return undefined
  const name = propertyName(node)
  if (name === undefined)
    return node.object.type === 'Identifier' && node.object.name === 'Math' ? 'Math with a computed name' : undefined
  if (name === 'random' && node.object.type === 'Identifier' && node.object.name === 'Math')
    return 'Math.random is nondeterministic'
  return name === 'localeCompare' || name.startsWith('toLocale') ? `${name} depends on the locale` : undefined
}

function bareSort(node: Node): string | undefined {
  if (node.type !== 'CallExpression' || node.arguments.length > 0 || node.callee.type !== 'MemberExpression')
    return undefined
  const name = propertyName(node.callee)
  return name !== undefined && SORTS.has(name) ? `${name}() without a comparator compares as text` : undefined
}

function propertyName(node: Extract<Node, { type: 'MemberExpression' }>): string | undefined {
  const { property } = node
  if (!node.computed) return property.type === 'Identifier' ? property.name : undefined
  return property.type === 'Literal' && typeof property.value === 'string' ? property.value : undefined
}
