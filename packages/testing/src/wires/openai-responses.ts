// Checks a request's body as OpenAI's Responses API does.
import type { JsonObject } from '@baton/core/internal'
import { isJsonObject } from '@baton/core/internal'
import type { Report, WireIssue } from './issue.ts'
import { collectIssues, isText, objectsIn, repeated, show } from './issue.ts'
import { OPENAI_SCHEMA_SOURCES, checkOpenAiSchema } from './json-schema.ts'

const SOURCES = {
  ...OPENAI_SCHEMA_SOURCES,
  body: 'responses.d.ts ResponseCreateParams: input is a string or items',
  output_tokens: '400 "Invalid \'max_output_tokens\': integer below minimum value. Expected a value >= 16"',
  item: 'responses.d.ts ResponseInputItem: every item has a type, or a role',
  content: "400 \"Invalid value: 'input_text'. Supported values are: 'output_text' and 'refusal'.\"",
  tool_name:
    "400 \"Invalid 'tools[0].name': string does not match pattern. Expected … '^[a-zA-Z0-9_-]+$'\", at most 64",
  tool_name_repeated: 'a call could not be distinguished from its namesake',
  tool: '400 "Missing required parameter: \'tools[0].name\'.": the definition is flat, not in `function`',
  tool_choice: 'responses.d.ts ToolChoiceOptions, ToolChoiceFunction, ToolChoiceAllowed',
  call: 'responses.d.ts ResponseFunctionToolCall: {call_id,name,arguments:string}',
  call_id:
    '400 "Invalid \'input[1].call_id\': string too long. Expected a string with maximum length 64" (vercel/ai#5171)',
  call_id_repeated: '400 "Duplicate item found": a call or result stands twice',
  item_id: "400 \"Invalid 'input[1].id': Expected an ID that begins with 'fc'.\"",
  call_without_result: '400 "No tool output found for function call call_x." (livekit/agents#5092)',
  result_without_call:
    '400 "No tool call found for function call output with call_id call_x." (openai-agents-js PR 1241)',
  result_content: 'responses.d.ts FunctionCallOutput.output: a string, or input_text, input_image, input_file',
  reasoning_alone: "400 \"Item 'rs_x' of type 'reasoning' was provided without its required following item.\"",
  text_format:
    '400 "Missing required parameter: \'text.format.name\'"; responses.d.ts ResponseFormatTextJSONSchemaConfig: name of at most 64',
  temperature: '400 "Unsupported parameter: \'temperature\' is not supported with this model."',
  cache_key: '400 "Invalid \'prompt_cache_key\': string too long. Expected a string with maximum length 64"',
  include: '400 "Encrypted content is not supported with this model."',
  reasoning_not_stored: '400 "Item with id \'rs_x\' not found. Items are not persisted when `store` is set to false."',
} as const
type Code = keyof typeof SOURCES

export function validateOpenAiResponsesRequest(body: unknown): readonly WireIssue[] {
  return collectIssues<Code>(SOURCES, (report) => {
    if (!isJsonObject(body)) {
      report('body', '', `a request must be an object, not ${show(body)}`)
      return
    }
    // The model may be in a stored prompt.
    if (!isText(body['model']) && body['prompt'] === undefined) report('body', 'model', 'model is missing')
    const tokens = body['max_output_tokens']
    if (typeof tokens === 'number' && tokens < 16) report('output_tokens', 'max_output_tokens', `${tokens} is below 16`)
    checkTools(body, report)
    checkOutput(body, report)
    checkModel(body, report)
    const { input } = body
    if (isText(input)) return
    const items = objectsIn(input, 'input')
    const continues = body['previous_response_id'] !== undefined || body['conversation'] !== undefined
    if (items.length === 0 && !continues && body['prompt'] === undefined) report('body', 'input', 'there is no input')
    for (const { item, path } of items) checkItem(item, path, report)
    // The other half of a pair may be in the stored conversation.
    if (!continues) checkPairs(items, report)
    checkReasoning(items, body['store'] === false, report)
  })
}

const NAME = /^[a-zA-Z0-9_-]{1,64}$/
const CALL_ID_LENGTH_MAX = 64

function checkTools(body: JsonObject, report: Report<Code>): void {
  const names: string[] = []
  for (const { item, path } of objectsIn(body['tools'], 'tools')) {
    if (!isText(item['type'])) report('tool', path, 'a tool needs a type')
    if (item['type'] !== 'function') continue
    const { name } = item
    if (name === undefined) report('tool', path, 'the name is missing; the definition is flat')
    else if (typeof name !== 'string' || !NAME.test(name))
      report('tool_name', `${path}.name`, `${show(name)} is not a valid name`)
    else names.push(name)
    checkOpenAiSchema(item['parameters'], `${path}.parameters`, item['strict'] === true, report)
  }
  for (const name of repeated(names)) report('tool_name_repeated', 'tools', `"${name}" is declared twice`)
  const choice = body['tool_choice']
  if (choice === undefined || choice === 'auto' || choice === 'none' || choice === 'required') return
  const type = isJsonObject(choice) ? choice['type'] : undefined
  const isKnown = isJsonObject(choice) && (type !== 'function' || names.some((name) => name === choice['name']))
  if (!isText(type) || !isKnown)
    report('tool_choice', 'tool_choice', `${show(choice)} is not a valid choice, or names no declared function`)
}

function checkOutput(body: JsonObject, report: Report<Code>): void {
  const format = isJsonObject(body['text']) ? body['text']['format'] : undefined
  if (!isJsonObject(format) || format['type'] !== 'json_schema') return
  const { name, schema, strict } = format
  if (typeof name !== 'string' || !NAME.test(name))
    report('text_format', 'text.format.name', `${show(name)} is not a valid name`)
  if (!isJsonObject(schema)) report('text_format', 'text.format.schema', 'the schema is missing')
  else checkOpenAiSchema(schema, 'text.format.schema', strict === true, report)
}

const CACHE_KEY_LENGTH_MAX = 64

/** Rules that depend on whether the model thinks; other models are unknown. */
function checkModel(body: JsonObject, report: Report<Code>): void {
  const key = body['prompt_cache_key']
  if (typeof key === 'string' && key.length > CACHE_KEY_LENGTH_MAX)
    report('cache_key', 'prompt_cache_key', `${key.length} characters`)
  const model = isText(body['model']) ? body['model'] : ''
  const { temperature, include, reasoning } = body
  // gpt-5.1 and later accept it while they do not think (recorded with gpt-5.6).
  const isOff = /^gpt-(5\.|6)/.test(model) && isJsonObject(reasoning) && reasoning['effort'] === 'none'
  const thinks = /^(o\d|gpt-5(?!.*-chat)|gpt-6)/.test(model) && !isOff
  if (thinks && temperature !== undefined && temperature !== null && temperature !== 1)
    report('temperature', 'temperature', `${show(temperature)} is not accepted by ${model}`)
  const asksForThoughts = Array.isArray(include) && include.includes('reasoning.encrypted_content')
  if (asksForThoughts && /^gpt-(3|4)/.test(model)) report('include', 'include', `${model} does not think`)
}

const USER_PARTS: readonly string[] = ['input_text', 'input_image', 'input_file', 'input_audio']

function checkItem(item: JsonObject, path: string, report: Report<Code>): void {
  switch (item['type']) {
    case undefined:
    case 'message':
      checkMessage(item, path, report)
      break
    case 'function_call':
      checkCall(item, path, report)
      break
    case 'function_call_output':
      if (typeof item['output'] !== 'string' && !hasParts(item['output'], ['input_text', 'input_image', 'input_file']))
        report('result_content', `${path}.output`, `${show(item['output'])} is not a valid output`)
      break
    default:
      // Reasoning, references and OpenAI's server tools; new types are added often.
      if (!isText(item['type'])) report('item', path, `${show(item['type'])} is not a type`)
  }
}

function checkMessage(item: JsonObject, path: string, report: Report<Code>): void {
  const { role, content } = item
  if (role !== 'user' && role !== 'assistant' && role !== 'system' && role !== 'developer')
    report('item', `${path}.role`, `${show(role)} is not a valid role`)
  if (typeof content === 'string') return
  const allowed = role === 'assistant' ? ['output_text', 'refusal'] : USER_PARTS
  if (!hasParts(content, allowed))
    report('content', `${path}.content`, `${show(content)} is not valid content of ${show(role)}`)
}

function hasParts(content: unknown, types: readonly string[]): boolean {
  const parts = objectsIn(content, '')
  return Array.isArray(content) && parts.every(({ item }) => types.some((type) => type === item['type']))
}

function checkCall(item: JsonObject, path: string, report: Report<Code>): void {
  const { call_id: callId, name, id } = item
  if (typeof callId !== 'string' || callId === '' || callId.length > CALL_ID_LENGTH_MAX)
    report('call_id', `${path}.call_id`, `${show(callId)} is not a valid id`)
  if (typeof name !== 'string' || !NAME.test(name))
    report('tool_name', `${path}.name`, `${show(name)} is not a valid name`)
  if (typeof item['arguments'] !== 'string') report('call', `${path}.arguments`, 'arguments are JSON as a string')
  if (id !== undefined && (typeof id !== 'string' || !id.startsWith('fc')))
    report('item_id', `${path}.id`, `${show(id)} does not start with fc`)
}

function checkPairs(items: ReturnType<typeof objectsIn>, report: Report<Code>): void {
  const listIds = (type: string) =>
    items.filter(({ item }) => item['type'] === type).map(({ item }) => show(item['call_id']))
  const calls = listIds('function_call')
  const results = listIds('function_call_output')
  for (const id of [...repeated(calls), ...repeated(results)]) report('call_id_repeated', 'input', `${id} stands twice`)
  for (const id of calls) if (!results.includes(id)) report('call_without_result', 'input', `${id} has no output`)
  const open = new Set<string>()
  for (const { item, path } of items) {
    if (item['type'] === 'function_call') open.add(show(item['call_id']))
    else if (item['type'] === 'function_call_output' && !open.has(show(item['call_id'])))
      report('result_without_call', path, `${show(item['call_id'])} was not called before`)
  }
}

function checkReasoning(items: ReturnType<typeof objectsIn>, isNotStored: boolean, report: Report<Code>): void {
  for (const [index, { item, path }] of items.entries()) {
    if (item['type'] !== 'reasoning') continue
    const next = items[index + 1]?.item
    const isFollowed = next !== undefined && next['role'] !== 'user' && next['type'] !== 'function_call_output'
    if (!isFollowed) report('reasoning_alone', path, 'the item it led to does not follow')
    if (isNotStored && !isText(item['encrypted_content']))
      report('reasoning_not_stored', path, 'encrypted_content is missing')
  }
}
