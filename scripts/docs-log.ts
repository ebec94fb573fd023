// Generates docs/log.md from the types of facts, inputs and records in core: the contents of an export, with every
// field.
import type { Comment, Node } from 'oxc-parser'
import { FORMAT_VERSION, HOST_FACTS } from '@baton/core/machine'
import { printDeclaration, readTable } from './docs-shapes.ts'
import type { SourceFile } from './source-files.ts'
import { readSource } from './source-files.ts'

const MACHINE = 'packages/core/src/machine/'

export interface LogKind {
  readonly name: string
  /** Text of the doc comment above it. */
  readonly meaning: string
  readonly fields: readonly LogField[]
  /** Types whose fields it also has. */
  readonly others: readonly string[]
}

export interface LogField {
  readonly name: string
  readonly isOptional: boolean
  /** The type as written in TypeScript. */
  readonly type: string
  /** `1 to 256 characters`. */
  readonly bounds?: string
  readonly meaning: string
}

/** The members of a union of object types, named by their `type`. */
export function readKinds(file: SourceFile, alias: string): readonly LogKind[] {
  const union = findAlias(file, alias)
  const members = union.type === 'TSUnionType' ? union.types : [union]
  return members.map((member) => readKind(file, member))
}

function findAlias(file: SourceFile, name: string): Node {
  for (const statement of file.program.body) {
    const declared = statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement
    if (declared?.type === 'TSTypeAliasDeclaration' && declared.id.name === name) return declared.typeAnnotation
  }
  throw new Error(`${file.path} has no type ${name}`)
}

function readKind(file: SourceFile, member: Node): LogKind {
  const parts = listParts(member)
  const fields = parts.flatMap((part) => (part.type === 'TSTypeLiteral' ? readFields(file, part) : []))
  const name = fields.find((field) => field.name === 'type')?.type.replaceAll(/^'|'$/g, '') ?? ''
  const others = parts.flatMap((part) => (part.type === 'TSTypeReference' ? [sliceOf(file, part)] : []))
  return {
    name,
    meaning: commentBefore(file, member.start),
    fields: fields.filter((field) => field.name !== 'type'),
    others,
  }
}

/** The parts of an intersection type. */
function listParts(node: Node): readonly Node[] {
  if (node.type === 'TSParenthesizedType') return listParts(node.typeAnnotation)
  return node.type === 'TSIntersectionType' ? node.types.flatMap(listParts) : [node]
}

export function readFields(
  file: SourceFile,
  literal: Extract<Node, { readonly type: 'TSTypeLiteral' | 'TSInterfaceBody' }>,
): readonly LogField[] {
  const members: readonly Node[] = literal.type === 'TSTypeLiteral' ? literal.members : literal.body
  return members.flatMap((member) => {
    if (member.type !== 'TSPropertySignature' || member.key.type !== 'Identifier' || !member.typeAnnotation) return []
    const type = sliceOf(file, member.typeAnnotation.typeAnnotation)
    const meaning = commentBefore(file, member.start)
    return [{ name: member.key.name, isOptional: member.optional === true, type, meaning }]
  })
}

function sliceOf({ text, comments }: SourceFile, { start, end }: Node): string {
  const inside = comments.filter((comment) => comment.start >= start && comment.end <= end)
  const kept = inside.reduceRight(
    (sliced, one) => sliced.slice(0, one.start - start) + sliced.slice(one.end - start),
    text.slice(start, end),
  )
  return kept
    .replaceAll(/\breadonly /g, '')
    .replaceAll(/\s+/g, ' ')
    .trim()
}

/** The doc comment directly before this position, with only blanks and a bar between them. */
export function commentBefore({ text, comments }: SourceFile, start: number): string {
  const before = comments.findLast(
    (comment) => comment.end <= start && /^[\s|(]*$/.test(text.slice(comment.end, start)),
  )
  return before ? readComment(before) : ''
}

function readComment({ value }: Comment): string {
  return value
    .replaceAll(/^\*|^\s*\*\s?/gm, '')
    .replaceAll(/\s+/g, ' ')
    .trim()
}

export function logPage(): string {
  const inputs = readSource(`${MACHINE}input.ts`)
  const kinds = readTable(`${MACHINE}fact.ts`, 'FACTS')
  const group = (title: string, alias: string): string => {
    const listed = readKinds(inputs, alias).map(
      ({ name, fields }) => `| \`${name}\` | ${fields.map(writeField).join(', ')} |`,
    )
    return `### ${title}\n\n| Input | Fields |\n|---|---|\n${listed.join('\n')}`
  }
  return `# The log of a session

<!-- Generated from packages/core/src/machine/fact.ts and input.ts by \`npm run docs\`. Do not edit. -->

A session is a list of records, and each record is the effect of one input. An export (\`baton sessions export\`, \`exportSession\`; [persistence.md](persistence.md)) has every record with its times.
\`baton log --json\` writes the canonical log: one fact on each line, without the facts that are marked below, without times, and without ids that differ from host to host.

Each line of an export is a JSON object:

| Line | Fields |
|---|---|
| first: \`baton-session\` | \`version\`, \`session\` (the id) |
| then: \`record\` | \`record\`, as below |
| then: \`blob\` | \`name\`, \`text\`: a long result, an image or a file; binary data is in base64 |
| for each child: \`baton-child\` | \`session\` (its id); its records and blobs follow |

The format of records has version ${FORMAT_VERSION}. It is frozen: later versions of Baton read what one of this version says, and only add kinds of facts and fields. Pass over fields that you do not know; a kind of
fact that you do not know means that you cannot tell what the session is.

| Field of a record | Is |
|---|---|
| \`version\` | ${FORMAT_VERSION} |
| \`pos\` | its position; the first is 0, and positions are consecutive |
| \`nowMs\` | the session's time in milliseconds: deadlines use it, and it never goes back |
| \`wallMs\` | the wall clock, if it differs by a second or more |
| \`epoch\` | the session owner that wrote it; it never goes back |
| \`input\` | the input: its \`type\`, and \`inputId\`, \`callId\`, \`attempt\` and \`connection\` if it has them. Its content is in the facts |
| \`facts\` | its effects, in order |

[schemas/record.json](schemas/record.json) is the JSON Schema of a record. Beside it stand those of [events](schemas/events.json), and of the frames of protocol version 1
([from the app](schemas/client-frames-1.json), [from the server](schemas/server-frames-1.json)) and 2 ([from the client](schemas/client-frames-2.json), [from the server](schemas/server-frames-2.json)).

## Facts

\`?\` marks optional fields. Types are TypeScript; named types are listed below. The ${HOST_FACTS.size} kinds with a \`*\` are about a host or a front and not about the conversation: the canonical log has none of
them.

${kinds.map(describeKind).join('\n\n')}

## Types

\`\`\`text
${listTypes().join('\n\n')}
\`\`\`

## Inputs

The \`input\` of a record names one of these, or \`session-opened\` for the first record. Their fields are listed for callers of \`frontOf(session).submit\`; the record does not contain them.

${group('Commands from people and programs', 'UserCommand')}

${group('Reports from a client or its front', 'ClientReport')}

${group('Reports from the host only', 'HostReport')}
`
}

function describeKind({ name, meaning, fields, others }: LogKind): string {
  const mark = HOST_FACTS.has(name as never) ? ' *' : ''
  const more = others.map((other) => `With the fields of ${writeType(other)}.`)
  return [`### \`${name}\`${mark}`, escape(meaning), listFields(fields), ...more]
    .filter((part) => part !== '')
    .join('\n\n')
}

/** Fields that explain themselves in one line, and the others in a list. */
function listFields(fields: readonly LogField[]): string {
  const isPlain = ({ meaning }: LogField): boolean => meaning === ''
  const write = ({ name, isOptional, type }: LogField): string => `\`${name}\`${isOptional ? '?' : ''} (\`${type}\`)`
  const plain = fields.filter(isPlain).map(write).join(', ')
  const told = fields.filter((field) => !isPlain(field)).map((field) => `- ${write(field)}: ${field.meaning}`)
  return [plain, told.join('\n')].filter((part) => part !== '').join('\n\n')
}

/** Fields as a table; empty if there are none. */
export function describeFields(fields: readonly LogField[]): string {
  const rows = fields.map(
    (field) =>
      `| \`${field.name}\`${field.isOptional ? '?' : ''} | ${writeType(field.type)}${field.bounds ? `, ${field.bounds}` : ''} | ${escape(field.meaning)} |`,
  )
  return rows.length === 0 ? '' : ['| Field | Type | |', '|---|---|---|', ...rows].join('\n')
}

function writeField({ name, isOptional, type }: LogField): string {
  return `\`${name}\`${isOptional ? '?' : ''} (${writeType(type)})`
}

function writeType(type: string): string {
  return `\`${type.replaceAll('|', '\\|')}\``
}

function escape(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;')
}

/** Declarations that facts refer to, as written in the source. */
function listTypes(): readonly string[] {
  const named: Readonly<Record<string, readonly string[]>> = {
    'fact.ts': [
      'Settlement',
      'InputBody',
      'CallProposal',
      'EnteredInputs',
      'AnswerRefuser',
      'SupersedeReason',
      'TurnOutcome',
      'ClockMode',
      'StepCut',
    ],
    'values.ts': ['EntrySize', 'Failure', 'Played', 'Delivery', 'ClientToolSpec'],
  }
  return Object.entries(named).flatMap(([file, names]) =>
    names.map((name) => {
      const text = printDeclaration(`${MACHINE}${file}`, name)
      if (text === undefined) throw new Error(`${file} has no shape ${name}`)
      return text
    }),
  )
}
