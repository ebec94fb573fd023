// Generates docs/protocol-2-reference.md: every request, frame and event of protocol version 2 with its fields, an
// example, its refusals, and whether it is repeated; from the types and schemas of packages/protocol and packages/core.
import type { JsonObject, JsonValue, SessionEventType } from '@baton/core/internal'
import type { RequestType } from '@baton/protocol'
import { CLIENT_FRAME_2_SCHEMA } from '@baton/protocol'
import type { Node } from 'oxc-parser'
import type { LogField, LogKind } from './docs-log.ts'
import { commentBefore, describeFields, readFields, readKinds } from './docs-log.ts'
import { EVENT_EXAMPLES, FRAME_EXAMPLES, REQUEST_EXAMPLES } from './protocol-examples.ts'
import { COMMON_REFUSALS, EVENT_REPEATS, REFUSALS, REPEATS } from './protocol-notes.ts'
import type { SourceFile } from './source-files.ts'
import { readSource, walkNodes } from './source-files.ts'

const FRAMES = 'packages/protocol/src/v2.ts'
const PROTOCOL = 'packages/protocol/src/v2-requests.ts'
const AGENT = 'packages/core/src/agent/'
const EVENTS = 'packages/core/src/events/'
const MACHINE = 'packages/core/src/machine/'

/** Declarations that the page shows in full, with the file that contains them. */
const TYPES: readonly (readonly [title: string, path: string, names: readonly string[]])[] = [
  ['Places', `${EVENTS}session-event.ts`, ['EventCursor']],
  ['Places', PROTOCOL, ['V2Cursor', 'OpenFrom']],
  ['Places', `${MACHINE}input.ts`, ['Heard', 'HeardPlace', 'Played']],
  ['Messages and content', `${EVENTS}session-event.ts`, ['UserMessageView', 'AnswerView']],
  ['Messages and content', `${EVENTS}conversation.ts`, ['UserChatMessage', 'AssistantChatMessage', 'StepView']],
  ['Messages and content', `${AGENT}session-control.ts`, ['UserInput']],
  [
    'Messages and content',
    'packages/core/src/messages.ts',
    ['ContentPart', 'StoredPart', 'TextPart', 'ImagePart', 'FilePart', 'InlineSource', 'BlobSource', 'MediaSource'],
  ],
  ['Messages and content', 'packages/core/src/messages.ts', ['SourcePart', 'Usage', 'FinishReason']],
  ['Turns and steps', `${EVENTS}session-event.ts`, ['TurnStop', 'StepFinish', 'StepResetReason', 'EventError']],
  ['Turns and steps', `${EVENTS}session-event.ts`, ['LimitName', 'ContextUse']],
  ['Turns and steps', `${MACHINE}fact.ts`, ['SupersedeReason', 'AnswerRefuser']],
  ['Calls', `${EVENTS}session-event.ts`, ['CallView', 'CallStatus', 'CallResult']],
  ['Calls', 'packages/core/src/messages.ts', ['Provenance']],
  ['Calls', `${AGENT}tool-options.ts`, ['EffectClass', 'ToolKind', 'CallDescription', 'WaitingWords']],
  ['Calls', `${AGENT}policy.ts`, ['AskedFor', 'CopiedText']],
  ['Calls', `${AGENT}session-reading.ts`, ['PendingApproval']],
  ['Calls', `${AGENT}session-api.ts`, ['Decision']],
  ['Calls', `${AGENT}session-reading.ts`, ['PendingQuestion']],
  ['Calls', `${AGENT}session-api.ts`, ['QuestionAnswer']],
  ['Devices', PROTOCOL, ['DeviceOptions', 'ClaimedCall', 'CallOutcome']],
  ['Devices', `${AGENT}front-session.ts`, ['LeaseClientOptions', 'ClientTool']],
  ['Sessions', `${AGENT}session-reading.ts`, ['SessionDetails']],
  ['Sessions', `${EVENTS}session-event.ts`, ['SessionActivity']],
  ['Sessions', `${AGENT}host-api.ts`, ['SessionInfo', 'SessionChange']],
  ['Sessions', `${MACHINE}spec.ts`, ['PlanEntry']],
  ['Sessions', `${MACHINE}input.ts`, ['Delivery']],
  ['Models', `${AGENT}model.ts`, ['ModelSettings', 'Effort', 'ToolChoice', 'ModelRequest', 'ToolDeclaration']],
  ['Models', `${AGENT}model.ts`, ['ModelEvent', 'ModelAnswer', 'ModelPart', 'ModelCallPart']],
  ['Models', PROTOCOL, ['ModelOutcome', 'ModelError']],
  ['Models', 'packages/core/src/messages.ts', ['Message', 'UserMessage', 'AssistantMessage', 'ToolMessage']],
  ['Models', 'packages/core/src/messages.ts', ['AssistantPart', 'ReasoningPart', 'CallPart', 'ResultPart']],
  ['Models', 'packages/core/src/messages.ts', ['ProviderPart', 'ProviderState']],
]

export function protocolPage(): string {
  return `# Protocol version 2: every request, frame and event

<!-- Generated from the types and schemas of packages/protocol and packages/core by \`npm run docs\`. Do not edit. -->

The flows, and what an app has to do after a lost connection, are in [protocol-2.md](protocol-2.md). This page lists the fields of every frame. \`?\` marks optional fields; an optional field is never \`null\` unless its
type says so. Numbers that end in \`Ms\` are milliseconds: times of day since 1970, or durations. Text is counted in UTF-16 units. The JSON Schemas: [from the app](schemas/client-frames-2.json),
[from the server](schemas/server-frames-2.json), [events alone](schemas/events.json).

## Requests

| Request | \`ok\` carries | |
|---|---|---|
${readRequests().map(listRequest).join('\n')}

${readRequests().map(describeRequest).join('\n\n')}

### Refusals of every request

An \`error\` may have codes that are not listed here. Branch on the codes that you know, and handle the others according to \`retryable\`. [errors.md](errors.md) lists all codes.

${writeRefusals(COMMON_REFUSALS)}

## Frames from the server

An answer, \`{"type":"ok","re":"1", …}\`, has the fields of its request. The other frames:

${describeFrames()}

## Events

Each event has its \`type\`, its \`cursor\` (where to continue after it), and the fields below.

| Event | Comes again |
|---|---|
${listEvents()}

${readEvents().map(describeEvent).join('\n\n')}

## Types

In TypeScript notation: \`name?: T\` is optional, \`A | B\` is either of the two, \`T[]\` is a list, \`Omit<T, 'x'>\` is \`T\` without \`x\`. \`MessageId\` and \`ErrorCode\` are strings, \`JsonValue\` is any JSON, \`JsonObject\` a JSON object. A type that \`extends\` another has the fields of both.

${describeTypes()}
`
}

export interface RequestRow {
  readonly type: RequestType
  readonly meaning: string
  readonly given: readonly LogField[]
  readonly answer: readonly LogField[]
}

/** Requests with the fields from the schema and the comments from the types. */
export function readRequests(): readonly RequestRow[] {
  const file = readSource(PROTOCOL)
  return findDeclaration(file, 'Requests').members.map(({ name, node, meaning }) => {
    const [given, answer] = ['given', 'answer'].map((part) => findMember(file, node, part))
    if (!given || !answer) throw new Error(`request ${name} has no fields given, or no answer`)
    const type = name as RequestType // a key of `Requests`
    return {
      type,
      meaning,
      given: readSchemaFields(type, collectMeanings(file, given)),
      answer: answer.type === 'TSTypeLiteral' ? readFields(file, answer) : [],
    }
  })
}

interface Member {
  readonly name: string
  readonly node: Node
  readonly meaning: string
}

function findDeclaration(file: SourceFile, name: string): { readonly members: readonly Member[] } {
  for (const statement of file.program.body) {
    const declared = statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement
    if (declared?.type === 'TSInterfaceDeclaration' && declared.id.name === name)
      return { members: listMembers(file, declared.body.body) }
  }
  throw new Error(`${file.path} has no interface ${name}`)
}

function listMembers(file: SourceFile, nodes: readonly Node[]): readonly Member[] {
  return nodes.flatMap((node) => {
    if (node.type !== 'TSPropertySignature' || !node.typeAnnotation) return []
    const name = node.key.type === 'Identifier' ? node.key.name : node.key.type === 'Literal' ? node.key.value : ''
    return [{ name: String(name), node: node.typeAnnotation.typeAnnotation, meaning: commentBefore(file, node.start) }]
  })
}

function findMember(file: SourceFile, node: Node, name: string): Node | undefined {
  return node.type === 'TSTypeLiteral'
    ? listMembers(file, node.members).find((member) => member.name === name)?.node
    : undefined
}

/** Comments of fields, including the fields of named types. */
function collectMeanings(file: SourceFile, given: Node): ReadonlyMap<string, string> {
  const meanings = new Map<string, string>()
  const files = [file, readSource(`${AGENT}session-api.ts`), readSource(`${AGENT}front-session.ts`)]
  const collect = (of: SourceFile, node: Node): void => {
    walkNodes(node, (inner) => {
      if (inner.type !== 'TSTypeLiteral' && inner.type !== 'TSInterfaceBody') return
      const members = inner.type === 'TSTypeLiteral' ? inner.members : inner.body
      for (const { name, meaning } of listMembers(of, members))
        if (meaning !== '' && !meanings.has(name)) meanings.set(name, meaning)
    })
    // A type's own fields precede inherited fields.
    walkNodes(node, (inner) => {
      if (inner.type !== 'TSTypeReference' || inner.typeName.type !== 'Identifier') return
      const { name } = inner.typeName
      if (!SHOWN_AS_FIELDS.has(name)) return
      for (const other of files)
        for (const statement of other.program.body)
          if (statement.type === 'ExportNamedDeclaration' && isNamed(statement.declaration, name))
            collect(other, statement.declaration as Node) // present, because it has this name
    })
  }
  collect(file, given)
  return meanings
}

/** Types whose fields are all fields of a request. */
const SHOWN_AS_FIELDS: ReadonlySet<string> = new Set([
  'Decision',
  'QuestionAnswer',
  'DeviceOptions',
  'LeaseClientOptions',
])

function isNamed(declared: Node | null, name: string): boolean {
  const isType = declared?.type === 'TSTypeAliasDeclaration' || declared?.type === 'TSInterfaceDeclaration'
  return isType && declared.id.name === name
}

function readSchemaFields(type: RequestType, meanings: ReadonlyMap<string, string>): readonly LogField[] {
  const frames = CLIENT_FRAME_2_SCHEMA['oneOf'] as readonly JsonObject[] // by how it is built
  const schema = frames.find(({ properties }) => (properties as SchemaFields)['type']?.['const'] === type)
  const fields = (schema?.['properties'] ?? {}) as SchemaFields // properties of an object
  const required = new Set(schema?.['required'] as readonly string[])
  return Object.entries(fields)
    .filter(([name]) => name !== 'id' && name !== 'type')
    .map(([name, field]) => ({
      name,
      isOptional: !required.has(name),
      type: describeSchema(field),
      meaning: meanings.get(name) ?? '',
    }))
}

type SchemaFields = Readonly<Record<string, JsonObject>>

/** A type in the notation of the page, derived from a schema that this repository wrote. */
function describeSchema(schema: JsonValue): string {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return 'JSON'
  const { title, type, enum: values, const: only, anyOf, items, $ref, minimum, maximum, maxLength } = schema as Shallow // by how it is built
  if (title !== undefined) return title
  if ($ref !== undefined) return NAMED[$ref.replace('#/$defs/', '')] ?? $ref
  if (values) return values.map((value) => JSON.stringify(value)).join(' | ')
  if (only !== undefined) return JSON.stringify(only)
  if (anyOf) return anyOf.map(describeSchema).join(' | ')
  if (type === 'array') return `${describeSchema(items ?? true)}[]`
  const bounds = maximum === undefined ? '' : ` ${minimum ?? 0} to ${maximum}`
  const length = maxLength === undefined ? '' : `, 1 to ${maxLength} characters`
  return `${[type ?? 'JSON'].flat().join(' | ')}${bounds}${length}`
}

interface Shallow {
  readonly title?: string
  readonly type?: string | readonly string[]
  readonly enum?: readonly JsonValue[]
  readonly const?: JsonValue
  readonly anyOf?: readonly JsonValue[]
  readonly items?: JsonValue
  readonly $ref?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly maxLength?: number
}

/** Schema definitions, by the names of their types. */
const NAMED: Readonly<Record<string, string>> = { part: 'ContentPart', cursor: 'V2Cursor' }

function listRequest({ type, meaning, answer }: RequestRow): string {
  const fields = answer.map(({ name, isOptional }) => `\`${name}\`${isOptional ? '?' : ''}`).join(', ')
  return `| [\`${type}\`](#${anchor(type)}) | ${fields} | ${escape(firstSentence(meaning))} |`
}

function describeRequest({ type, meaning, given, answer }: RequestRow): string {
  const { given: fields, answer: answered } = REQUEST_EXAMPLES[type]
  const parts = [
    `### \`${type}\``,
    escape(meaning),
    describeFields(given),
    answer.length > 0 ? `\`ok\` carries:\n\n${describeFields(answer)}` : '',
    writeExample([
      { id: '7', type, ...fields },
      { type: 'ok', re: '7', ...answered },
    ]),
    writeRefusals(REFUSALS[type]),
  ]
  return parts.filter((part) => part !== '').join('\n\n')
}

function writeRefusals(refusals: Readonly<Partial<Record<string, string>>>): string {
  const rows = Object.entries(refusals).map(([code, meaning]) => `| \`${code}\` | ${escape(meaning ?? '')} |`)
  return rows.length === 0 ? '' : ['| Refused with | If |', '|---|---|', ...rows].join('\n')
}

function writeExample(frames: readonly object[]): string {
  return `\`\`\`json\n${frames.map((frame) => JSON.stringify(frame)).join('\n')}\n\`\`\``
}

/** Frames with their own declaration, by frame type. */
const FRAME_TYPES: Readonly<Record<string, string>> = {
  error: 'V2ErrorFrame',
  sentence: 'SentenceFrame',
  'sentences.dropped': 'SentencesDroppedFrame',
}

function describeFrames(): string {
  const file = readSource(FRAMES)
  const told = readKinds(file, 'V2ServerFrame')
  return Object.entries(FRAME_EXAMPLES)
    .map(([type, example]) => {
      const kind = told.find(({ name }) => name === type) ?? readDeclared(file, FRAME_TYPES[type] ?? type)
      const others = kind.fields.filter(({ name }) => name !== 'type')
      const fields = describeFields(
        others.map((field) => ({ ...field, type: field.type.replace('typeof PROTOCOL_VERSION_2', '2') })),
      )
      return [`### \`${type}\``, escape(kind.meaning), fields, writeExample([example])].join('\n\n')
    })
    .join('\n\n')
}

function readDeclared(file: SourceFile, name: string): Pick<LogKind, 'meaning' | 'fields'> {
  for (const statement of file.program.body) {
    if (statement.type !== 'ExportNamedDeclaration' || !isNamed(statement.declaration, name)) continue
    const { declaration, start } = statement
    if (declaration?.type === 'TSInterfaceDeclaration')
      return { meaning: commentBefore(file, start), fields: readFields(file, declaration.body) }
  }
  throw new Error(`${file.path} has no interface ${name}`)
}

/** Every event with all its fields; events that share a declaration are listed separately. */
export function readEvents(): readonly LogKind[] {
  const file = readSource(`${EVENTS}session-event.ts`)
  const step = readFieldsOf(file, 'OfStep')
  return readKinds(file, 'EventBody').flatMap((kind) =>
    kind.name.split(/' \| '/).map((name) => ({
      ...kind,
      name,
      fields: (kind.others.includes('OfStep') ? [...step, ...kind.fields] : kind.fields).map((field) => ({
        ...field,
        type: field.type.replace(/^Call$/, 'CallView'),
      })),
    })),
  )
}

function readFieldsOf(file: SourceFile, name: string): readonly LogField[] {
  for (const statement of file.program.body)
    if (statement.type === 'TSInterfaceDeclaration' && statement.id.name === name)
      return readFields(file, statement.body)
  throw new Error(`${file.path} has no interface ${name}`)
}

function listEvents(): string {
  return readEvents()
    .map(({ name }) => {
      const repeat = EVENT_REPEATS[name as SessionEventType] // a type of `EventBody`
      return `| [\`${name}\`](#${anchor(name)}) | ${SHORT[repeat]} |`
    })
    .join('\n')
}

const SHORT: Readonly<Record<keyof typeof REPEATS, string>> = {
  again: 'yes',
  joined: 'yes, in fewer pieces',
  writing: 'while its step is being written',
  never: 'no',
  delivery: 'not over this protocol',
}

function describeEvent({ name, meaning, fields }: LogKind): string {
  const type = name as SessionEventType // a type of `EventBody`
  const parts = [
    `### \`${name}\``,
    escape(meaning),
    REPEATS[EVENT_REPEATS[type]],
    describeFields(fields),
    writeExample([{ ...EVENT_EXAMPLES[type], cursor: { pos: 4, since: 2 } }]),
  ]
  return parts.filter((part) => part !== '').join('\n\n')
}

function describeTypes(): string {
  const titles = [...new Set(TYPES.map(([title]) => title))]
  return titles
    .map((title) => {
      const declared = TYPES.filter(([of]) => of === title).flatMap(([, path, names]) => listDeclarations(path, names))
      return `### ${title}\n\n\`\`\`ts\n${declared.join('\n\n')}\n\`\`\``
    })
    .join('\n\n')
}

function listDeclarations(path: string, names: readonly string[]): readonly string[] {
  const file = readSource(path)
  return names.map((name) => {
    for (const statement of file.program.body) {
      const declared = statement.type === 'ExportNamedDeclaration' ? statement.declaration : null
      if (!declared || !isNamed(declared, name)) continue
      const comment = file.comments.findLast(
        ({ end }) => end <= statement.start && file.text.slice(end, statement.start).trim() === '',
      )
      const about = comment?.type === 'Block' ? `${file.text.slice(comment.start, comment.end)}\n` : ''
      const text = file.text.slice(declared.start, declared.end)
      return about + text.replaceAll(/\breadonly (?=[\w'{]+)/g, '')
    }
    throw new Error(`${path} has no type ${name}`)
  })
}

function anchor(name: string): string {
  return name.replaceAll('.', '')
}

function firstSentence(text: string): string {
  return /^.*?[.:;](?=\s|$)/.exec(text)?.[0].replace(/[:;]$/, '.') ?? text
}

function escape(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;')
}
