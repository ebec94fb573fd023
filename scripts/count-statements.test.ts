// Which syntax counts as a statement.
import { expect, test } from 'vitest'
import { countStatements } from './count-statements.ts'

test.each([
  ['nothing', '', 0],
  ['an import, but not one of types', "import { a } from 'a'\nimport type { B } from 'b'", 1],
  ['types', 'interface A { readonly a: string }\ntype B = A', 0],
  ['a declaration of several names', 'const [a, b] = [1, 2]', 1],
  ['a condition and what it guards', 'if (a) b()', 2],
  ['the same in braces', 'if (a) { b() }', 2],
  ['a loop and its body, but not its variable', 'for (const a of b) c(a)', 2],
  ['a return that is written, and one that is not', 'const f = () => 1\nconst g = () => { return 1 }', 4],
  ['a function, and what is in it', 'function f() { g(); return 1 }', 3],
  ['what is caught', 'try { a() } catch { b() }', 3],
])('%s', (_, text, count) => {
  expect(countStatements('program.ts', text)).toBe(count)
})

test('a program that does not parse is no program', () => {
  expect(() => countStatements('program.ts', 'const =')).toThrow('program.ts does not parse')
})
