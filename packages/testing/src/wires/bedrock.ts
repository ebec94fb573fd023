// Checks a request's body as Bedrock's Converse does. The documentation is stricter than the service: Nova's "only
// type, properties, required" at the top of a schema is not checked, since recordings without it were accepted.
import type { JsonObject } from '@baton/core/internal'
import { isJsonObject, parseJson } from '@baton/core/internal'
import type { Report, WireIssue } from './issue.ts'
import { collectIssues, isBlank, objectsIn, repeated, show } from './issue.ts'

const SOURCES = {
  body: 'API_runtime_Converse: messages',
  role: 'ConversationRole of client-bedrock-runtime 3.1163: user, assistant, system',
  first_role:
    'ValidationException "A conversation must start with a user message. Try again with a conversation that starts with a user message."',
  empty_content:
    'ValidationException "The content field in the Message object at messages.0 is empty. Add a ContentBlock object to the content field and try again."',
  empty_text:
    'ValidationException "The text field in the ContentBlock object at messages.0.content.0 is blank. Add text to the text field, and try again."',
  tool_config:
    'ValidationException "The toolConfig field must be defined when using toolUse and toolResult content blocks."',
  tools_empty: 'ValidationException "toolConfig.tools: Member must have length greater than or equal to 1"',
  tool_name: 'API_runtime_ToolSpecification: [a-zA-Z0-9_-]+, at most 64',
  tool_name_repeated: 'ValidationException "The tool x is already defined at toolConfig.tools.0."',
  tool_description: 'API_runtime_ToolSpecification: description, if given, has at least 1 character',
  tool_schema:
    'ValidationException "The value at toolConfig.tools.0.toolSpec.inputSchema.json.type must be one of the following: object."',
  tool_choice: 'API_runtime_ToolChoice: auto, any or tool; there is no none',
  call_id: 'API_runtime_ToolUseBlock: [a-zA-Z0-9_.:-]+, at most 64',
  call_id_repeated: 'a result could not be distinguished from its namesake',
  call_input:
    'ValidationException "The format of the value at messages.1.content.0.toolUse.input is invalid. Provide a json object for the field and try again."',
  call_without_result:
    'ValidationException "Expected toolResult blocks at messages.2.content for the following Ids: tooluse_x"',
  result_without_call:
    'ValidationException "The number of toolResult blocks at messages.2.content exceeds the number of toolUse blocks of previous turn."',
  result_status: 'API_runtime_ToolResultBlock: status is success or error',
  result_content:
    'API_runtime_ToolResultBlock: content is a list of one of text, json, image, document, video, searchResult',
  image: 'API_runtime_ImageBlock: format png, jpeg, gif or webp, source bytes or s3Location',
  document:
    'API_runtime_DocumentBlock: format, and a name of letters, digits, single blanks, hyphens, parentheses and brackets; underscores were taken (recorded)',
  document_name_repeated: 'ValidationException "Messages can\'t contain duplicate document names."',
  documents_max: 'ValidationException "You can\'t include more than 5 documents in a request."',
  document_alone: 'API_runtime_DocumentBlock: a message with a document has a text block, too',
  reasoning: 'API_runtime_ReasoningContentBlock: reasoningText with a text, or redactedContent; of the assistant only',
  output: 'API_runtime_OutputFormat: type json_schema, structure.jsonSchema.schema is a text of JSON',
  inference: 'API_runtime_InferenceConfiguration: maxTokens from 1, temperature and topP in 0..1',
} as const
type Code = keyof typeof SOURCES

export function validateBedrockRequest(body: unknown): readonly WireIssue[] {
  return collectIssues<Code>(SOURCES, (report) => {
    if (!isJsonObject(body)) {
      report('body', '', `a request must be an object, not ${show(body)}`)
      return
    }
    checkInference(body['inferenceConfig'], report)
    checkToolConfig(body['toolConfig'], report)
    checkOutput(body['outputConfig'], report)
    for (const { item, path } of objectsIn(body['system'], 'system'))
      if (item['text'] !== undefined && isBlank(item['text'])) report('empty_text', path, 'the text is blank')
    const turns = objectsIn(body['messages'], 'messages').map(buildTurn)
    if (turns.length === 0) report('body', 'messages', 'there are no messages')
    else checkTurns(turns, report)
    checkMedia(turns, report)
    const usesTools = turns.some(({ calls, results }) => calls.length + results.length > 0)
    if (usesTools && !isJsonObject(body['toolConfig']))
      report('tool_config', 'toolConfig', 'the messages have toolUse or toolResult')
  })
}

type Found = ReturnType<typeof objectsIn>[number]

const NAME = /^[a-zA-Z0-9_-]{1,64}$/

function checkInference(config: unknown, report: Report<Code>): void {
  if (!isJsonObject(config)) return
  const { maxTokens, temperature, topP } = config
  if (maxTokens !== undefined && (typeof maxTokens !== 'number' || maxTokens < 1))
    report('inference', 'inferenceConfig.maxTokens', `${show(maxTokens)} is below 1`)
  for (const [name, value] of Object.entries({ temperature, topP }))
    if (value !== undefined && (typeof value !== 'number' || value < 0 || value > 1))
      report('inference', `inferenceConfig.${name}`, `${show(value)} is not in 0..1`)
}

function checkToolConfig(config: unknown, report: Report<Code>): void {
  if (!isJsonObject(config)) return
  const tools = objectsIn(config['tools'], 'toolConfig.tools')
  const names: string[] = []
  if (tools.length === 0) report('tools_empty', 'toolConfig.tools', 'there are no tools')
  for (const { item, path } of tools) {
    const spec = item['toolSpec']
    // cachePoint and systemTool are listed among the tools.
    if (isJsonObject(spec)) checkToolSpec(spec, `${path}.toolSpec`, names, report)
  }
  for (const name of repeated(names)) report('tool_name_repeated', 'toolConfig.tools', `"${name}" is declared twice`)
  const choice = config['toolChoice']
  if (choice === undefined) return
  const named = isJsonObject(choice) && isJsonObject(choice['tool']) ? choice['tool']['name'] : undefined
  const isGood =
    isJsonObject(choice) &&
    (isJsonObject(choice['auto']) || isJsonObject(choice['any']) || names.some((name) => name === named))
  if (!isGood)
    report('tool_choice', 'toolConfig.toolChoice', `${show(choice)} is not a valid choice, or names no declared tool`)
}

function checkToolSpec(spec: JsonObject, path: string, names: string[], report: Report<Code>): void {
  const { name, description, inputSchema } = spec
  if (typeof name !== 'string' || !NAME.test(name))
    report('tool_name', `${path}.name`, `${show(name)} is not a valid name`)
  else names.push(name)
  if (description !== undefined && (typeof description !== 'string' || description === ''))
    report('tool_description', path, 'the description is empty')
  const schema = isJsonObject(inputSchema) ? inputSchema['json'] : undefined
  if (!isJsonObject(schema) || schema['type'] !== 'object')
    report('tool_schema', `${path}.inputSchema.json`, 'the schema must have type "object"')
}

interface Turn {
  readonly role: unknown
  readonly path: string
  readonly blocks: readonly Found[]
  readonly calls: readonly Found[]
  readonly results: readonly Found[]
}

function buildTurn({ item, path }: Found): Turn {
  const blocks = objectsIn(item['content'], `${path}.content`)
  const buildData = (key: string) =>
    blocks.flatMap(({ item: block, path: place }) =>
      isJsonObject(block[key]) ? [{ item: block[key], path: `${place}.${key}` }] : [],
    )
  return { role: item['role'], path, blocks, calls: buildData('toolUse'), results: buildData('toolResult') }
}

function checkTurns(turns: readonly Turn[], report: Report<Code>): void {
  const first = turns.find(({ role }) => role !== 'system')
  if (first?.role !== 'user')
    report('first_role', first?.path ?? 'messages', `the first message has role ${show(first?.role)}`)
  const ids = turns.flatMap(({ calls }) => calls.map(({ item }) => show(item['toolUseId'])))
  for (const id of repeated(ids)) report('call_id_repeated', 'messages', `${id} stands twice`)
  for (const [index, turn] of turns.entries()) {
    if (turn.role !== 'user' && turn.role !== 'assistant' && turn.role !== 'system')
      report('role', turn.path, `${show(turn.role)} is not a valid role`)
    if (turn.blocks.length === 0) report('empty_content', turn.path, 'the message has no content')
    for (const { item, path } of turn.blocks)
      if (item['text'] !== undefined && isBlank(item['text'])) report('empty_text', path, 'the text is blank')
    for (const call of turn.calls) checkCall(call, report)
    for (const result of turn.results) checkResult(result, report)
    checkPairs(turn, turns[index + 1], report)
    checkAnswers(turn, turns[index - 1], report)
  }
}

const IMAGE_FORMATS: readonly unknown[] = ['png', 'jpeg', 'gif', 'webp']
const DOCUMENT_FORMATS: readonly unknown[] = ['pdf', 'csv', 'doc', 'docx', 'xls', 'xlsx', 'html', 'txt', 'md']
const DOCUMENT_NAME = /^(?!.*\s\s)[\w\s\-()[\]]{1,200}$/

/** Images, documents and reasoning, in messages and in results. */
function checkMedia(turns: readonly Turn[], report: Report<Code>): void {
  const names: string[] = []
  for (const { role, path, blocks, results } of turns) {
    const inResults = results.flatMap(({ item, path: place }) => objectsIn(item['content'], `${place}.content`))
    for (const { item, path: place } of [...blocks, ...inResults]) {
      const { image, document, reasoningContent } = item
      if (isJsonObject(image) && (!IMAGE_FORMATS.includes(image['format']) || !hasSource(image)))
        report('image', place, `${show(image)} is not a valid image`)
      if (isJsonObject(document)) names.push(checkDocument(document, place, report))
      if (isJsonObject(reasoningContent) && (role !== 'assistant' || !isReasoning(reasoningContent)))
        report('reasoning', place, `${show(reasoningContent)} does not belong here`)
    }
    const has = (key: string) => blocks.some(({ item }) => item[key] !== undefined)
    if (has('document') && !has('text')) report('document_alone', path, 'there is no text next to the document')
  }
  for (const name of repeated(names)) report('document_name_repeated', 'messages', `"${name}" stands twice`)
  if (names.length > 5) report('documents_max', 'messages', `there are ${names.length} documents`)
}

function checkDocument(document: JsonObject, path: string, report: Report<Code>): string {
  const { format, name } = document
  const isNamed = typeof name === 'string' && DOCUMENT_NAME.test(name)
  if (!DOCUMENT_FORMATS.includes(format) || !isNamed || !hasSource(document))
    report('document', path, `${show(document)} is not a valid document`)
  return typeof name === 'string' ? name : ''
}

function hasSource({ source }: JsonObject): boolean {
  if (!isJsonObject(source)) return false
  const { bytes, s3Location, text, content } = source
  return (typeof bytes === 'string' && bytes !== '') || [s3Location, text, content].some((one) => one !== undefined)
}

function isReasoning({ reasoningText, redactedContent }: JsonObject): boolean {
  if (typeof redactedContent === 'string') return true
  return isJsonObject(reasoningText) && typeof reasoningText['text'] === 'string'
}

function checkOutput(config: unknown, report: Report<Code>): void {
  const format = isJsonObject(config) ? config['textFormat'] : undefined
  if (format === undefined) return
  const structure = isJsonObject(format) ? format['structure'] : undefined
  const definition = isJsonObject(structure) ? structure['jsonSchema'] : undefined
  const text = isJsonObject(definition) ? definition['schema'] : undefined
  const parsed = typeof text === 'string' ? parseJson(text) : undefined
  if (!isJsonObject(format) || format['type'] !== 'json_schema' || parsed?.ok !== true)
    report('output', 'outputConfig.textFormat', `${show(format)} is not a valid format`)
}

const CALL_ID = /^[a-zA-Z0-9_.:-]{1,64}$/

function checkCall({ item, path }: Found, report: Report<Code>): void {
  const { toolUseId, name, input } = item
  if (typeof toolUseId !== 'string' || !CALL_ID.test(toolUseId))
    report('call_id', path, `${show(toolUseId)} is not a valid id`)
  if (typeof name !== 'string' || !NAME.test(name)) report('tool_name', path, `${show(name)} is not a valid name`)
  if (!isJsonObject(input)) report('call_input', path, `${show(input)} is not an object`)
}

const RESULT_KINDS: readonly string[] = ['text', 'json', 'image', 'document', 'video', 'searchResult', 'cachePoint']

function checkResult({ item, path }: Found, report: Report<Code>): void {
  const { status, content } = item
  if (status !== undefined && status !== 'success' && status !== 'error')
    report('result_status', path, `${show(status)} is not a valid status`)
  const isGood =
    Array.isArray(content) &&
    objectsIn(content, path).every(({ item: block }) => RESULT_KINDS.some((kind) => block[kind] !== undefined))
  if (!isGood) report('result_content', path, `${show(content)} is not valid content`)
}

function checkPairs(turn: Turn, next: Turn | undefined, report: Report<Code>): void {
  const answered = new Set((next?.results ?? []).map(({ item }) => item['toolUseId']))
  for (const { item, path } of turn.calls)
    if (!answered.has(item['toolUseId']))
      report('call_without_result', path, `${show(item['toolUseId'])} has no result in the next message`)
}

function checkAnswers(turn: Turn, before: Turn | undefined, report: Report<Code>): void {
  const open = new Set((before?.calls ?? []).map(({ item }) => item['toolUseId']))
  for (const { item, path } of turn.results)
    if (!open.delete(item['toolUseId']))
      report('result_without_call', path, `${show(item['toolUseId'])} is not an open call of the message before`)
}
