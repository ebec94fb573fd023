// Finds code that retries (loops that await and catch, and functions named after it) and compares it with
// second-try-list.ts. `node scripts/second-tries.ts` prints places without a row, and rows without a place.
import type { Node } from 'oxc-parser'
import { NO_SECOND_TRIES, SECOND_TRIES } from './second-try-list.ts'
import { isTest, readSource, sourcePaths, walkNodes } from './source-files.ts'

const PLACES = /^packages\/(?!testing\/)[^/]+\/src\//
const TRIES_AGAIN = /(?:retry|again|reconnect|reopen|resend|redial)/i
const LOOPS: ReadonlySet<string> = new Set(['ForStatement', 'ForOfStatement', 'WhileStatement', 'DoWhileStatement'])

export interface Place {
  readonly file: string
  readonly within: string
}

/** Functions that retry something, in file order. */
export function listPlaces(): readonly Place[] {
  return sourcePaths()
    .filter((path) => PLACES.test(path) && !path.includes('/testing/') && !isTest(path))
    .flatMap((file) => {
      const found = new Set<string>()
      walkNodes(readSource(file).program, (node, around) => {
        const name = nameOf(node, around.at(-1))
        if (name !== undefined && TRIES_AGAIN.test(name)) found.add(name)
        if (LOOPS.has(node.type) && triesAgain(node)) found.add(findName(around))
      })
      return [...found].map((within) => ({ file, within }))
    })
}

/** Name of a function, a method, or a constant that holds a function. */
function nameOf(node: Node, outer: Node | undefined): string | undefined {
  if (node.type === 'FunctionDeclaration') return node.body ? node.id?.name : undefined
  if (node.type === 'MethodDefinition') return node.value.body ? keyOf(node.key) : undefined
  const isFunction = node.type === 'ArrowFunctionExpression' || node.type === 'FunctionExpression'
  if (isFunction && outer?.type === 'VariableDeclarator' && outer.id.type === 'Identifier') return outer.id.name
  return undefined
}

function keyOf(key: Node): string | undefined {
  if (key.type === 'PrivateIdentifier') return `#${key.name}`
  return key.type === 'Identifier' ? key.name : undefined
}

function findName(around: readonly Node[]): string {
  for (let index = around.length - 1; index >= 0; index--) {
    const node = around[index]
    const name = node && nameOf(node, around[index - 1])
    if (name !== undefined) return name
  }
  return '(module)'
}

/** Whether the loop waits for something and catches its failure. */
function triesAgain(loop: Node): boolean {
  let waits = false
  let catches = false
  walkNodes(loop, (node) => {
    if (node.type === 'AwaitExpression') waits = true
    if (node.type === 'TryStatement' && node.handler) catches = true
  })
  return waits && catches
}

const keyOfPlace = ({ file, within }: Place): string => `${file} ${within}`

export function listNew(): readonly string[] {
  const known = new Set([...SECOND_TRIES, ...NO_SECOND_TRIES].map(keyOfPlace))
  return listPlaces()
    .map(keyOfPlace)
    .filter((key) => !known.has(key))
}

export function listGone(): readonly string[] {
  const places = new Set(listPlaces().map(keyOfPlace))
  return [...SECOND_TRIES, ...NO_SECOND_TRIES].map(keyOfPlace).filter((key) => !places.has(key))
}

if (process.argv[1] === import.meta.filename) {
  for (const key of listNew()) console.log(`new: ${key}`)
  for (const key of listGone()) console.log(`gone: ${key}`)
}
