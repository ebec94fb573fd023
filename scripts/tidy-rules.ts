// Our style rules that linters lack: sizes, names, comments, module state. `machine-purity.ts` has the rules of the
// session machine. Each rule measures a file; the limits are defined here.
import type { Node } from 'oxc-parser'
import { impurities } from './machine-purity.ts'
import type { SourceFile } from './source-files.ts'
import { isTest, walkNodes } from './source-files.ts'
import { findTestWaits } from './test-waits.ts'

export type Rule =
  | 'syntax'
  | 'file-lines'
  | 'function-lines'
  | 'parameters'
  | 'type-parameters'
  | 'file-name'
  | 'opening-comment'
  | 'comment-start'
  | 'module-state'
  | 'machine-purity'
  | 'test-wait'

/** A finding of a rule. `size` is compared with the rule's limit; it is 1 for rules that only forbid. */
export interface Finding {
  readonly path: string
  readonly rule: Rule
  readonly size: number
  readonly line: number
  readonly message: string
}

export const LIMITS: Readonly<Record<Rule, number>> = {
  syntax: 0,
  'file-lines': 400,
  'function-lines': 70,
  parameters: 4,
  'type-parameters': 3,
  'file-name': 0,
  'opening-comment': 0,
  'comment-start': 0,
  'module-state': 0,
  'machine-purity': 0,
  'test-wait': 0,
}
/** Exceptions cannot exceed this limit. */
export const FILE_LINES_HARD_LIMIT = 700

const OPENING_LINES_MAX = 5
/** The share of a file's lines above which it counts as one class, or as tables. */
const ONE_CLASS_SHARE = 0.6
const BANNED_NAMES: ReadonlySet<string> = new Set([
  'utils',
  'util',
  'helpers',
  'helper',
  'manager',
  'base',
  'types',
  'common',
  'misc',
])

/** All findings over their limit. */
export function checkSource(file: SourceFile): readonly Finding[] {
  const findings = [
    ...file.syntaxErrors.map((message) => finding(file, 'syntax', { size: 1, line: 1, message })),
    ...fileLines(file),
    ...sizes(file),
    ...fileName(file),
    ...openingComment(file),
    ...commentStarts(file),
    ...moduleState(file),
    ...(isMachine(file.path)
      ? impurities(file).map(({ line, message }) => finding(file, 'machine-purity', { size: 1, line, message }))
      : []),
    ...findTestWaits(file).map(({ line, message }) => finding(file, 'test-wait', { size: 1, line, message })),
  ]
  return findings.filter(({ rule, size }) => size > LIMITS[rule])
}

function isMachine(path: string): boolean {
  return path.startsWith('packages/core/src/machine/') && !isTest(path)
}

function finding(file: SourceFile, rule: Rule, what: Pick<Finding, 'size' | 'line' | 'message'>): Finding {
  return { path: file.path, rule, ...what }
}

/**
 * Tests are lists of situations, and a class or a file of the machine is one subject: only the hard limit applies to
 * them.
 */
function fileLines(file: SourceFile): readonly Finding[] {
  const size = file.text.replace(/\n$/, '').split('\n').length
  const isWhole = isTest(file.path) || isMachine(file.path) || isOneClass(file, size) || isTables(file, size)
  if (isWhole && size <= FILE_LINES_HARD_LIMIT) return []
  return [finding(file, 'file-lines', { size, line: 1, message: `the file has ${size} lines` })]
}

/** Whether most of the file is a single class. */
function isOneClass(file: SourceFile, lines: number): boolean {
  return file.program.body.some((statement) => {
    const node = statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement
    if (node?.type !== 'ClassDeclaration') return false
    return file.lineOf(node.end) - file.lineOf(node.start) + 1 >= lines * ONE_CLASS_SHARE
  })
}

/** Whether most of the file is tables: definitions of shapes, rows of a vocabulary. */
function isTables(file: SourceFile, lines: number): boolean {
  const sum = file.program.body.reduce((all, statement) => {
    const node = statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement
    return node?.type === 'VariableDeclaration' ? all + file.lineOf(node.end) - file.lineOf(node.start) + 1 : all
  }, 0)
  return sum >= lines * ONE_CLASS_SHARE
}

function sizes(file: SourceFile): readonly Finding[] {
  const findings: Finding[] = []
  const add = (rule: Rule, node: Node, size: number, what: string): void =>
    void findings.push(
      finding(file, rule, {
        size,
        line: file.lineOf(node.start),
        message: `${what} has ${size} ${rule.replace('-', ' ')}`,
      }),
    )
  walkNodes(file.program, (node, around) => {
    const parameters = listParameters(node)
    if (parameters)
      add('parameters', node, parameters.filter((parameter) => !isThis(parameter)).length, readName(node, around))
    if (isFunction(node) && !isTest(file.path)) {
      const size = file.lineOf(node.end) - file.lineOf(node.start) + 1
      add('function-lines', node, size, readName(node, around))
    }
    if (node.type === 'TSTypeParameterDeclaration')
      add('type-parameters', node, node.params.length, readName(around.at(-1) ?? node, around))
  })
  return findings
}

type FunctionNode = Extract<Node, { type: 'FunctionDeclaration' | 'FunctionExpression' | 'ArrowFunctionExpression' }>

function isFunction(node: Node): node is FunctionNode {
  return (
    node.type === 'FunctionDeclaration' || node.type === 'FunctionExpression' || node.type === 'ArrowFunctionExpression'
  )
}

function listParameters(node: Node): readonly Node[] | undefined {
  if (isFunction(node)) return node.params
  return node.type === 'TSMethodSignature' || node.type === 'TSFunctionType' || node.type === 'TSDeclareFunction'
    ? node.params
    : undefined
}

function isThis(parameter: Node): boolean {
  return parameter.type === 'Identifier' && parameter.name === 'this'
}

function readName(node: Node, around: readonly Node[]): string {
  const named = 'id' in node && node.id ? node.id : undefined
  if (named?.type === 'Identifier') return `"${named.name}"`
  const parent = around.at(-1)
  const key = parent && 'key' in parent ? parent.key : parent?.type === 'VariableDeclarator' ? parent.id : undefined
  return key?.type === 'Identifier' || key?.type === 'PrivateIdentifier' ? `"${key.name}"` : 'a function'
}

function fileName(file: SourceFile): readonly Finding[] {
  const name = file.path.slice(file.path.lastIndexOf('/') + 1)
  const parts = name.split('.').slice(0, -1)
  const say = (message: string): readonly Finding[] => [finding(file, 'file-name', { size: 1, line: 1, message })]
  if (!parts.every((part) => /^[a-z0-9]+(-[a-z0-9]+)*$/.test(part))) return say(`"${name}" is not kebab-case`)
  return BANNED_NAMES.has(parts[0] ?? '') ? say(`"${name}" says nothing about what is in it`) : []
}

function openingComment(file: SourceFile): readonly Finding[] {
  const lines = file.text.replace(/^#!.*\n/, '').split('\n')
  const count = lines.findIndex((line) => !line.startsWith('//'))
  const opens = count > 0 && count <= OPENING_LINES_MAX
  // A comment in block form counts by its own lines.
  const [first] = file.comments
  const isBlock =
    first?.type === 'Block' &&
    file.text
      .slice(0, first.start)
      .replace(/^#!.*\n/, '')
      .trim() === '' &&
    first.value.split('\n').length <= OPENING_LINES_MAX + 1
  if (opens || isBlock) return []
  return [
    finding(file, 'opening-comment', {
      size: 1,
      line: 1,
      message: `the file does not open with 1 to ${OPENING_LINES_MAX} lines of comment`,
    }),
  ]
}

const BANNED_STARTS = /^\W*(Of|Whose|Where|What|To who) /

/** Comments whose first word hides their subject. A line that continues the comment above it is not checked. */
function commentStarts(file: SourceFile): readonly Finding[] {
  if (!/^packages\/[^/]+\/src\//.test(file.path)) return []
  const lineTexts = file.text.split('\n')
  return file.comments.flatMap(({ type, value, start }) => {
    const line = file.lineOf(start)
    const word = BANNED_STARTS.exec(value)?.[1]
    const isContinued = type === 'Line' && /^\s*\/\//.test(lineTexts[line - 2] ?? '')
    if (word === undefined || isContinued) return []
    const message = `a comment begins with "${word}"; begin with a noun or a verb`
    return [finding(file, 'comment-start', { size: 1, line, message })]
  })
}

/** State shared by all users of a module: variables that can be assigned, and containers that begin empty. */
function moduleState(file: SourceFile): readonly Finding[] {
  if (isTest(file.path) || file.path.startsWith('scripts/')) return []
  return file.program.body.flatMap((statement) => {
    const declaration = statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement
    if (declaration?.type !== 'VariableDeclaration' || declaration.declare === true) return []
    const isState =
      // A resource that is disposed of at the end is effectively constant.
      declaration.kind === 'let' ||
      declaration.kind === 'var' ||
      declaration.declarations.some(({ init }) => init && isEmptyContainer(init))
    const message = 'the module keeps state; pass it to its users'
    return isState ? [finding(file, 'module-state', { size: 1, line: file.lineOf(declaration.start), message })] : []
  })
}

function isEmptyContainer(init: Node): boolean {
  if (init.type === 'ArrayExpression') return init.elements.length === 0
  if (init.type === 'ObjectExpression') return init.properties.length === 0
  const containers = ['Map', 'Set', 'WeakMap', 'WeakSet', 'Array']
  return (
    init.type === 'NewExpression' &&
    init.arguments.length === 0 &&
    init.callee.type === 'Identifier' &&
    containers.includes(init.callee.name)
  )
}
