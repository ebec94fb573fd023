// Reads shapes (packages/core/src/shape/shape.ts) in the source: the fields of tables such as FACTS with their comments,
// and named shapes as TypeScript declarations.
import type { Node } from 'oxc-parser'
import type { LogField, LogKind } from './docs-log.ts'
import { commentBefore } from './docs-log.ts'
import type { SourceFile } from './source-files.ts'
import { readSource } from './source-files.ts'

const CORE = 'packages/core/src/'
/** Files that define shapes which others use. */
const FILES: readonly string[] = [
  `${CORE}messages.ts`,
  `${CORE}model-settings.ts`,
  `${CORE}machine/values.ts`,
  `${CORE}machine/tree-values.ts`,
  `${CORE}machine/fact.ts`,
  `${CORE}events/session-event.ts`,
  `${CORE}agent/policy.ts`,
  `${CORE}agent/tool-options.ts`,
  `${CORE}agent/front-session.ts`,
  'packages/protocol/src/v2-requests.ts',
  'packages/protocol/src/v2-frames.ts',
]

/** TypeScript's names for plain shapes. */
const PLAIN: Readonly<Record<string, string>> = {
  text: 'string',
  name: 'string',
  textBetween: 'string',
  flag: 'boolean',
  number: 'number',
  integer: 'number',
  count: 'number',
  amount: 'number',
  ms: 'number',
  date: 'number',
  json: 'JsonValue',
  object: 'JsonObject',
}

interface Found {
  readonly file: SourceFile
  readonly node: Node
  /** The type written at the declaration: `s.Shape<ToolChoice>`. */
  readonly type: string | undefined
  readonly isExported: boolean
}

const sources = new Map<string, SourceFile>()

function open(path: string): SourceFile {
  const source = sources.get(path) ?? readSource(path)
  sources.set(path, source)
  return source
}

function findConst(file: SourceFile, name: string): Found | undefined {
  for (const statement of file.program.body) {
    const isExported = statement.type === 'ExportNamedDeclaration'
    const declared = isExported ? statement.declaration : statement
    if (declared?.type !== 'VariableDeclaration') continue
    for (const { id, init } of declared.declarations)
      if (id.type === 'Identifier' && id.name === name && init) {
        const written = id.typeAnnotation?.typeAnnotation
        const type = written && /^s\.Shape<(.*)>$/s.exec(file.text.slice(written.start, written.end))?.[1]
        return { file, node: init, type, isExported }
      }
  }
  return undefined
}

function find(file: SourceFile, name: string): Found {
  const found = [file.path, ...FILES].map((path) => findConst(open(path), name)).find((one) => one !== undefined)
  if (!found) throw new Error(`${file.path} uses the shape ${name}, which none of the files of shapes defines`)
  return found
}

export interface TableRow extends LogKind {
  /** Fields of the parts `given` and `answer`, of rows that have them. */
  readonly parts: Readonly<Record<string, readonly LogField[]>>
}

/** The rows of a table such as `FACTS`, in order. */
export function readTable(path: string, name: string): readonly TableRow[] {
  const { file, node } = find(open(path), name)
  return listProperties(file, node).map(({ key, value, meaning }) => {
    const ofShape =
      value.type === 'Identifier' && find(file, value.name).isExported ? find(file, value.name) : undefined
    return {
      name: key,
      meaning: meaning || (ofShape ? commentOf(ofShape) : ''),
      fields: isOfParts(value) ? [] : readShapeFields(file, value).filter((field) => field.name !== 'type'),
      others: [],
      parts: isOfParts(value) ? readParts(file, value) : {},
    }
  })
}

function isOfParts(node: Node): boolean {
  return (
    node.type === 'ObjectExpression' &&
    node.properties.some((one) => one.type === 'Property' && isKey(one.key, 'given'))
  )
}

function isKey(node: Node, name: string): boolean {
  return node.type === 'Identifier' && node.name === name
}

function readParts(file: SourceFile, node: Node): Readonly<Record<string, readonly LogField[]>> {
  return Object.fromEntries(listProperties(file, node).map(({ key, value }) => [key, readShapeFields(file, value)]))
}

/** The comment above the declaration of a shape. */
function commentOf({ file, node }: Found): string {
  const statement = file.program.body.find(({ start, end }) => start <= node.start && node.end <= end)
  return statement ? commentBefore(file, statement.start) : ''
}

interface Property {
  readonly key: string
  readonly value: Node
  readonly meaning: string
}

/** Own properties of an object literal. */
export function listProperties(file: SourceFile, node: Node): readonly Property[] {
  const literal = unwrap(node)
  if (literal.type !== 'ObjectExpression') throw new Error(`${file.path}: not an object literal: ${slice(file, node)}`)
  return literal.properties.flatMap((property) => {
    if (property.type !== 'Property') return []
    const key = property.key.type === 'Identifier' ? property.key.name : literalOf(property.key)
    return [{ key, value: property.value, meaning: commentBefore(file, property.start) }]
  })
}

/** The fields of an object of fields, of `s.fields(…)`, or of one of the two forms of `s.either(…)`. */
export function readShapeFields(file: SourceFile, node: Node): readonly LogField[] {
  const value = unwrap(node)
  if (value.type === 'Identifier') {
    const found = find(file, value.name)
    return readShapeFields(found.file, found.node)
  }
  if (value.type === 'MemberExpression') return readShapeFields(file, value.object)
  if (value.type === 'CallExpression') {
    const [, absent, present] = value.arguments
    const callee = calleeOf(value)
    if (callee === 'either' && absent && present)
      return joinForms(readShapeFields(file, absent), readShapeFields(file, present))
    const fields = value.arguments.find((one) => one.type !== 'Literal')
    return fields ? readShapeFields(file, fields) : []
  }
  if (value.type !== 'ObjectExpression') throw new Error(`${file.path}: no fields in ${slice(file, node)}`)
  return value.properties.flatMap((property) => {
    if (property.type === 'SpreadElement') return readShapeFields(file, property.argument)
    const isOptional = property.value.type === 'CallExpression' && calleeOf(property.value) === 'optional'
    const bounds = findBounds(file, property.value)
    return [
      {
        name: property.key.type === 'Identifier' ? property.key.name : literalOf(property.key),
        isOptional,
        type: printType(file, property.value),
        meaning: commentBefore(file, property.start),
        ...(bounds !== undefined && { bounds }),
      },
    ]
  })
}

/** The bounds of a text or a number, if its shape names them. */
function findBounds(file: SourceFile, node: Node): string | undefined {
  if (node.type === 'MemberExpression') return slice(file, node) === 's.name' ? '1 to 256 characters' : undefined
  if (node.type !== 'CallExpression') return undefined
  const callee = calleeOf(node)
  const [first, second] = node.arguments
  if (callee === 'optional' && first) return findBounds(file, first)
  if (callee === 'integer' && second) return node.arguments.map((one) => literalOf(one)).join(' to ')
  return undefined
}

/** Fields of both forms; optional if only one has them. */
function joinForms(one: readonly LogField[], other: readonly LogField[]): readonly LogField[] {
  const has = (fields: readonly LogField[], name: string): boolean => fields.some((field) => field.name === name)
  return [
    ...one.map((field) => ({ ...field, isOptional: field.isOptional || !has(other, field.name) })),
    ...other.filter(({ name }) => !has(one, name)).map((field) => ({ ...field, isOptional: true })),
  ]
}

/** The type of a shape in TypeScript; named shapes by their names. */
export function printType(file: SourceFile, node: Node): string {
  const value = unwrap(node)
  if (value.type === 'Identifier') {
    const { file: home, node: defined, type, isExported } = find(file, value.name)
    return type ?? (isExported ? value.name : printType(home, defined))
  }
  if (value.type === 'MemberExpression' && value.property.type === 'Identifier') {
    const plain = PLAIN[value.property.name]
    if (plain !== undefined) return plain
  }
  if (value.type !== 'CallExpression') throw new Error(`${file.path}: not a shape: ${slice(file, node)}`)
  const callee = calleeOf(value)
  const [first, second, third] = value.arguments
  const typed = value.typeArguments?.params[0]
  if (typed && callee !== 'word') return slice(file, typed)
  if (callee === 'word') return value.arguments.map((word) => printWord(file, word)).join(' | ')
  if (callee === 'nullable' && first) return `${printType(file, first)} | null`
  if (callee === 'list' && first) return printList(printType(file, first))
  if (callee === 'named' && second) return printType(file, second)
  if ((callee === 'optional' || callee === 'refine' || callee === 'explain') && first) return printType(file, first)
  if (callee === 'textOr' && first && second) return `${printType(file, first)} | ${printType(file, second)}`
  if (callee === 'either' && second && third) return `${printType(file, second)} | ${printType(file, third)}`
  if (callee === 'variant' && second)
    return listForms(file, value)
      .map(({ text }) => text)
      .join(' | ')
  if (callee === 'fields') return printFields(readShapeFields(file, value))
  const plain = PLAIN[callee]
  if (plain !== undefined) return plain
  throw new Error(`${file.path}: no type is known for s.${callee}`)
}

interface Form {
  readonly text: string
  readonly meaning: string
}

/** The forms of a variant, with their tags. */
function listForms(file: SourceFile, node: Extract<Node, { readonly type: 'CallExpression' }>): readonly Form[] {
  const [key, forms] = node.arguments
  if (!key || !forms) return []
  return listProperties(file, forms).map(({ key: tag, value, meaning }) => {
    const of = unwrap(value)
    if (of.type === 'Identifier' && find(file, of.name).isExported) return { text: of.name, meaning }
    const fields = readShapeFields(file, value).filter(({ name }) => name !== literalOf(key))
    const tagged = { name: literalOf(key), isOptional: false, type: `'${tag}'`, meaning: '' }
    return {
      text: fields.some((field) => field.meaning !== '') ? printForm(tagged, fields) : printFields([tagged, ...fields]),
      meaning,
    }
  })
}

/** A form with the comments of its fields, one on each line. */
function printForm(tag: LogField, fields: readonly LogField[]): string {
  const lines = [tag, ...fields].flatMap(({ name, isOptional, type, meaning }) => [
    ...(meaning === '' ? [] : [`      /** ${meaning} */`]),
    `      ${name}${isOptional ? '?' : ''}: ${type}`,
  ])
  return `{\n${lines.join('\n')}\n    }`
}

function printFields(fields: readonly LogField[]): string {
  const listed = fields.map(({ name, isOptional, type }) => `${name}${isOptional ? '?' : ''}: ${type}`)
  return listed.length === 0 ? '{}' : `{ ${listed.join('; ')} }`
}

/** A named shape as the declaration of a type, with the comments of its fields; undefined if there is none. */
export function printDeclaration(path: string, name: string): string | undefined {
  const file = open(path)
  const found = findConst(file, name)
  if (!found) return undefined
  const value = unwrap(found.node)
  const callee = value.type === 'CallExpression' ? calleeOf(value) : ''
  if (found.type !== undefined) return undefined
  if (callee === 'fields') {
    const fields = readShapeFields(file, value).map(
      ({ name: field, isOptional, type, meaning }) =>
        `${meaning === '' ? '' : `  /** ${meaning} */\n`}  ${field}${isOptional ? '?' : ''}: ${type}\n`,
    )
    return `interface ${name} {\n${fields.join('')}}`
  }
  if (value.type === 'CallExpression' && callee === 'variant') {
    const forms = listForms(file, value).map(
      ({ text, meaning }) => `${meaning === '' ? '' : `  /** ${meaning} */\n`}  | ${text}\n`,
    )
    return `type ${name} =\n${forms.join('')}`.trimEnd()
  }
  return `type ${name} = ${printType(file, value)}`
}

function printWord(file: SourceFile, node: Node): string {
  if (node.type === 'Literal') return typeof node.value === 'string' ? `'${node.value}'` : String(node.value)
  return slice(file, node) === 'PROTOCOL_VERSION_2' ? '2' : slice(file, node)
}

function printList(item: string): string {
  return item.includes(' | ') && !item.startsWith('{') ? `(${item})[]` : `${item}[]`
}

function calleeOf(node: Extract<Node, { readonly type: 'CallExpression' }>): string {
  const { callee } = node
  return callee.type === 'MemberExpression' && callee.property.type === 'Identifier' ? callee.property.name : ''
}

function literalOf(node: Node): string {
  return node.type === 'Literal' ? String(node.value) : ''
}

function unwrap(node: Node): Node {
  return node.type === 'TSSatisfiesExpression' || node.type === 'TSAsExpression' ? unwrap(node.expression) : node
}

function slice({ text }: SourceFile, { start, end }: Node): string {
  return text.slice(start, end)
}
