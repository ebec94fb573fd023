// Counts the statements of a program: how much a person has to write, independent of line length.
import type { Node } from 'oxc-parser'
import { parseSource, walkNodes } from './source-files.ts'

/** Braces, and types, which do nothing at run time. */
const UNCOUNTED: ReadonlySet<string> = new Set([
  'BlockStatement',
  'EmptyStatement',
  'TSInterfaceDeclaration',
  'TSTypeAliasDeclaration',
])

/**
 * Every statement and declaration counts as one: imports, conditions, loops, and statements inside functions. The body
 * of an arrow function without braces counts as one, because it is a return. Types and type-only imports do not count.
 * @throws Error for a program that does not parse
 */
export function countStatements(path: string, text: string): number {
  const { program, syntaxErrors } = parseSource(path, text)
  if (syntaxErrors.length > 0) throw new Error(`${path} does not parse: ${syntaxErrors.join('; ')}`)
  let count = 0
  walkNodes(program, (node, around) => {
    if (isCounted(node, around.at(-1))) count += 1
  })
  return count
}

function isCounted(node: Node, parent: Node | undefined): boolean {
  if (UNCOUNTED.has(node.type)) return false
  if (node.type === 'ImportDeclaration') return node.importKind !== 'type'
  // The `const` in a loop's head belongs to the loop.
  if (node.type === 'VariableDeclaration') return !/^For.*Statement$/.test(parent?.type ?? '')
  if (node.type === 'ArrowFunctionExpression') return node.expression
  return /(Statement|Declaration)$/.test(node.type)
}
