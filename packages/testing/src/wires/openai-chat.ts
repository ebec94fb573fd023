// Checks a request's body as OpenAI's Chat Completions API does. Servers that speak its dialect are just as strict.
import type { JsonObject } from '@baton/core/internal'
import { isJsonObject } from '@baton/core/internal'
import type { Report, WireIssue } from './issue.ts'
import { collectIssues, isText, objectsIn, repeated, show } from './issue.ts'
import { OPENAI_SCHEMA_SOURCES, checkOpenAiSchema } from './json-schema.ts'

const SOURCES = {
  ...OPENAI_SCHEMA_SOURCES,
  body: 'completions.d.ts ChatCompletionCreateParams: model and messages are required',
  role: "400 \"Invalid value: 'x'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.\"",
  content: '400 "Invalid value for \'content\': expected a string, got null."; parts as in ChatCompletionContentPart',
  tool: 'completions.d.ts ChatCompletionFunctionTool: {type:"function",function:{name}}',
  tool_name:
    "400 \"Invalid 'tools[0].function.name': string does not match pattern. Expected … '^[a-zA-Z0-9_-]+$'\", at most 64 (shared.d.ts)",
  tool_name_repeated: 'a call could not be distinguished from its namesake; vLLM and Groq reject it',
  response_format:
    '400 "Missing required parameter: \'response_format.json_schema.name\'"; ResponseFormatJSONSchema of shared.d.ts',
  tools_empty: '400 "[] is too short - \'tools\'"',
  tool_choice: "400 \"'tool_choice' is only allowed when 'tools' are specified\"; ChatCompletionToolChoiceOption",
  parallel: "400 \"'parallel_tool_calls' is only allowed when 'tools' are specified\"",
  call: 'completions.d.ts ChatCompletionMessageFunctionToolCall: {id,type:"function",function:{name,arguments:string}}',
  calls_empty: '400 "[] is too short - \'messages.1.tool_calls\'"',
  call_id: '400 "Invalid \'messages[1].tool_calls[0].id\': string too long. Expected a string with maximum length 40"',
  call_id_repeated: 'a result could not be distinguished from its namesake',
  call_without_result:
    "400 \"An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.\"",
  result_without_call:
    "400 \"messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.\"",
  result_content: 'completions.d.ts ChatCompletionToolMessageParam: text only; images need a user message (recorded)',
} as const
type Code = keyof typeof SOURCES

export function validateOpenAiChatRequest(body: unknown): readonly WireIssue[] {
  return collectIssues<Code>(SOURCES, (report) => {
    if (!isJsonObject(body)) {
      report('body', '', `a request must be an object, not ${show(body)}`)
      return
    }
    if (!isText(body['model'])) report('body', 'model', 'model is missing')
    checkTools(body, report)
    checkOutput(body['response_format'], report)
    const messages = objectsIn(body['messages'], 'messages')
    if (messages.length === 0) report('body', 'messages', 'at least one message is required')
    for (const { item, path } of messages) checkMessage(item, path, report)
    checkPairs(messages, report)
  })
}

const NAME = /^[a-zA-Z0-9_-]{1,64}$/
const CALL_ID_LENGTH_MAX = 40

function checkOutput(format: unknown, report: Report<Code>): void {
  if (!isJsonObject(format) || format['type'] !== 'json_schema') return
  const { json_schema: kept } = format
  const name = isJsonObject(kept) ? kept['name'] : undefined
  if (!isJsonObject(kept) || typeof name !== 'string' || !NAME.test(name)) {
    report('response_format', 'response_format.json_schema', `${show(kept)} has no valid name`)
    return
  }
  checkOpenAiSchema(kept['schema'], 'response_format.json_schema.schema', kept['strict'] === true, report)
}

function checkTools(body: JsonObject, report: Report<Code>): void {
  const tools = objectsIn(body['tools'], 'tools')
  const names: string[] = []
  if (Array.isArray(body['tools']) && tools.length === 0) report('tools_empty', 'tools', 'omit tools if there are none')
  for (const { item, path } of tools) {
    // Custom tools have a grammar instead of a schema.
    if (item['type'] === 'custom') continue
    const definition = item['function']
    if (item['type'] !== 'function' || !isJsonObject(definition)) {
      report('tool', path, `${show(item['type'])} is not a function`)
      continue
    }
    const { name } = definition
    if (typeof name !== 'string' || !NAME.test(name))
      report('tool_name', `${path}.function.name`, `${show(name)} is not a valid name`)
    else names.push(name)
    checkOpenAiSchema(definition['parameters'], `${path}.function.parameters`, definition['strict'] === true, report)
  }
  for (const name of repeated(names)) report('tool_name_repeated', 'tools', `"${name}" is declared twice`)
  if (body['parallel_tool_calls'] !== undefined && tools.length === 0)
    report('parallel', 'parallel_tool_calls', 'there are no tools')
  checkToolChoice(body['tool_choice'], { count: tools.length, names }, report)
}

interface Tools {
  readonly count: number
  readonly names: readonly string[]
}

function checkToolChoice(choice: unknown, tools: Tools, report: Report<Code>): void {
  if (choice === undefined) return
  if (tools.count === 0) report('tool_choice', 'tool_choice', 'there are no tools to choose from')
  if (choice === 'auto' || choice === 'none' || choice === 'required') return
  const named = isJsonObject(choice) && isJsonObject(choice['function']) ? choice['function']['name'] : undefined
  const isSubset = isJsonObject(choice) && choice['type'] === 'allowed_tools' && isJsonObject(choice['allowed_tools'])
  const isNamed = isJsonObject(choice) && choice['type'] === 'function' && tools.names.some((name) => name === named)
  if (!isSubset && !isNamed)
    report('tool_choice', 'tool_choice', `${show(choice)} is not a valid choice, or names no declared function`)
}

const USER_PARTS: readonly string[] = ['text', 'image_url', 'input_audio', 'file']

function checkMessage(message: JsonObject, path: string, report: Report<Code>): void {
  const { role, content } = message
  switch (role) {
    case 'system':
    case 'developer':
      checkParts(content, ['text'], `${path}.content`, report)
      break
    case 'user':
      checkParts(content, USER_PARTS, `${path}.content`, report)
      break
    case 'assistant':
      checkAssistant(message, path, report)
      break
    case 'tool':
      if (typeof content === 'string') break
      if (!Array.isArray(content) || objectsIn(content, path).some(({ item }) => item['type'] !== 'text'))
        report('result_content', `${path}.content`, `${show(content)} is not text`)
      break
    case 'function':
      break
    default:
      report('role', `${path}.role`, `${show(role)} is not a valid role`)
  }
}

function checkParts(content: unknown, types: readonly string[], path: string, report: Report<Code>): void {
  if (typeof content === 'string') return
  const parts = objectsIn(content, path)
  if (parts.length === 0) report('content', path, `${show(content)} is not valid content`)
  for (const { item, path: place } of parts)
    if (!types.some((type) => type === item['type']))
      report('content', place, `${show(item['type'])} is not allowed here`)
}

function checkAssistant(message: JsonObject, path: string, report: Report<Code>): void {
  const { content, tool_calls: toolCalls } = message
  const calls = objectsIn(toolCalls, `${path}.tool_calls`)
  if (Array.isArray(toolCalls) && toolCalls.length === 0)
    report('calls_empty', `${path}.tool_calls`, 'omit tool_calls if there are none')
  const saysElse =
    calls.length > 0 ||
    isText(message['refusal']) ||
    isJsonObject(message['audio']) ||
    isJsonObject(message['function_call'])
  // With calls, the content may be null, empty or absent (all three are recorded).
  if (content !== undefined && content !== null) checkParts(content, ['text', 'refusal'], `${path}.content`, report)
  else if (!saysElse) report('content', `${path}.content`, 'neither content nor calls')
  for (const { item, path: place } of calls) checkCall(item, place, report)
}

function checkCall(call: JsonObject, path: string, report: Report<Code>): void {
  const { id, type } = call
  if (typeof id !== 'string' || id === '' || id.length > CALL_ID_LENGTH_MAX)
    report('call_id', `${path}.id`, `${show(id)} is not a valid id`)
  if (type === 'custom') return
  const made = call['function']
  if (type !== 'function' || !isJsonObject(made) || typeof made['arguments'] !== 'string')
    report('call', path, 'no function with arguments as a string')
  const name = isJsonObject(made) ? made['name'] : undefined
  if (typeof name !== 'string' || !NAME.test(name))
    report('tool_name', `${path}.function.name`, `${show(name)} is not a valid name`)
}

/** Results directly follow their calls, one message each, in any order, before anything else. */
function checkPairs(messages: ReturnType<typeof objectsIn>, report: Report<Code>): void {
  let open = new Set<unknown>()
  let openPath = ''
  const settle = () => {
    for (const id of open) report('call_without_result', openPath, `${show(id)} has no result`)
    open = new Set()
  }
  for (const { item, path } of messages) {
    if (item['role'] === 'tool') {
      if (!open.delete(item['tool_call_id']))
        report('result_without_call', path, `${show(item['tool_call_id'])} is not an open call`)
      continue
    }
    settle()
    if (item['role'] !== 'assistant') continue
    const ids = objectsIn(item['tool_calls'], path).map(({ item: call }) => call['id'])
    for (const id of repeated(ids.filter((each) => typeof each === 'string')))
      report('call_id_repeated', path, `${show(id)} stands twice`)
    open = new Set(ids)
    openPath = path
  }
  settle()
}
