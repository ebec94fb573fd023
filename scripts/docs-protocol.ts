// Generates docs/protocol-2-reference.md: every request, frame and event of protocol version 2 with its fields, an
// example, its refusals, and whether it is repeated; from the types and schemas of packages/protocol and packages/core.
import type { SessionEventType } from '@baton/core/internal'
import type { RequestType } from '@baton/protocol'
import type { Node } from 'oxc-parser'
import type { LogField, LogKind } from './docs-log.ts'
import { describeFields } from './docs-log.ts'
import { printDeclaration, readTable } from './docs-shapes.ts'
import { EVENT_EXAMPLES, FRAME_EXAMPLES, REQUEST_EXAMPLES } from './protocol-examples.ts'
import { COMMON_REFUSALS, EVENT_REPEATS, REFUSALS, REPEATS } from './protocol-notes.ts'
import { readSource } from './source-files.ts'

const FRAMES = 'packages/protocol/src/v2-frames.ts'
const PROTOCOL = 'packages/protocol/src/v2-requests.ts'
const AGENT = 'packages/core/src/agent/'
const EVENTS = 'packages/core/src/events/'
const MACHINE = 'packages/core/src/machine/'

/** Declarations that the page shows in full, with the file that contains them. */
const TYPES: readonly (readonly [title: string, path: string, names: readonly string[]])[] = [
  ['Places', `${EVENTS}session-event.ts`, ['EventCursor']],
  ['Places', PROTOCOL, ['V2Cursor', 'OpenFrom']],
  ['Places', `${MACHINE}values.ts`, ['Heard']],
  ['Messages and content', `${EVENTS}session-event.ts`, ['UserMessageView', 'AnswerView', 'MessageView']],
  ['Messages and content', `${EVENTS}conversation.ts`, ['UserChatMessage', 'AssistantChatMessage', 'StepView']],
  ['Messages and content', `${AGENT}session-api.ts`, ['UserInput']],
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
  ['Calls', `${MACHINE}values.ts`, ['EffectClass']],
  ['Calls', `${AGENT}tool-options.ts`, ['ToolKind', 'CallDescription', 'WaitingWords']],
  ['Calls', `${AGENT}policy.ts`, ['AskedFor', 'CopiedText']],
  ['Calls', `${AGENT}session-api.ts`, ['PendingApproval']],
  ['Calls', `${AGENT}session-api.ts`, ['Decision']],
  ['Calls', `${AGENT}session-api.ts`, ['PendingQuestion']],
  ['Calls', `${AGENT}session-api.ts`, ['QuestionAnswer']],
  ['Devices', PROTOCOL, ['DeviceOptions', 'ClaimedCall', 'CallOutcome']],
  ['Devices', `${AGENT}front-session.ts`, ['LeaseClientOptions', 'ClientTool']],
  ['Sessions', `${AGENT}session-api.ts`, ['SessionDetails']],
  ['Sessions', `${EVENTS}session-event.ts`, ['SessionActivity']],
  ['Sessions', `${AGENT}host-api.ts`, ['SessionInfo', 'SessionChange']],
  ['Sessions', `${MACHINE}values.ts`, ['PlanEntry', 'Delivery']],
  ['Models', 'packages/core/src/model-settings.ts', ['ModelSettings', 'Effort', 'ToolChoice']],
  ['Models', `${AGENT}model.ts`, ['ModelRequest', 'ToolDeclaration']],
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

Each event has its \`type\`, its \`cursor\` (where to continue after it), and the fields below. One of an agent below has \`path\`: the delegated calls that lead to it, the session's own first, each as \`{ callId, agent }\`.

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

export function readRequests(): readonly RequestRow[] {
  return readTable(PROTOCOL, 'REQUESTS').map(({ name, meaning, parts }) => ({
    type: name as RequestType, // a key of `REQUESTS`
    meaning,
    given: parts['given'] ?? [],
    answer: parts['answer'] ?? [],
  }))
}

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

function describeFrames(): string {
  const kinds = readTable(FRAMES, 'FRAMES')
  return Object.entries(FRAME_EXAMPLES)
    .map(([type, example]) => {
      const kind = kinds.find(({ name }) => name === type)
      if (!kind) throw new Error(`FRAMES has no frame "${type}"`)
      return [`### \`${type}\``, escape(kind.meaning), describeFields(kind.fields), writeExample([example])].join(
        '\n\n',
      )
    })
    .join('\n\n')
}

/** Every event with all its fields. */
export function readEvents(): readonly LogKind[] {
  return readTable(`${EVENTS}session-event.ts`, 'EVENTS')
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
    const shape = printDeclaration(path, name)
    for (const statement of file.program.body) {
      const declared = statement.type === 'ExportNamedDeclaration' ? statement.declaration : null
      if (!declared || !isDeclared(declared, name)) continue
      if (shape !== undefined && declared.type !== 'VariableDeclaration') continue
      const comment = file.comments.findLast(
        ({ end }) => end <= statement.start && file.text.slice(end, statement.start).trim() === '',
      )
      const about = comment?.type === 'Block' ? `${file.text.slice(comment.start, comment.end)}\n` : ''
      const text = shape ?? file.text.slice(declared.start, declared.end)
      return about + text.replaceAll(/\breadonly (?=[\w'{]+)/g, '')
    }
    throw new Error(`${path} has no type ${name}`)
  })
}

function isDeclared(declared: Node, name: string): boolean {
  if (declared.type === 'VariableDeclaration')
    return declared.declarations.some(({ id }) => id.type === 'Identifier' && id.name === name)
  const isType = declared.type === 'TSTypeAliasDeclaration' || declared.type === 'TSInterfaceDeclaration'
  return isType && declared.id.name === name
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
