// What Anthropic's Messages API would refuse of a request's body (version 2023-06-01).
import type { JsonObject } from '@baton/core'
import { isJsonObject } from '@baton/core'
import type { Report, WireIssue } from './issue.ts'
import { walkSchema } from './json-schema.ts'
import { collectIssues, isBlank, isText, objectsIn, repeated, show } from './issue.ts'

const SOURCES = {
  body: 'messages.d.ts MessageCreateParams: model, max_tokens and messages are required',
  first_role: '400 "messages: first message must use the \\"user\\" role"',
  role: "400 \"messages.0.role: Input should be 'user' or 'assistant'\"; SDK 1.12 also lists system",
  empty_content:
    '400 "messages.1: all messages must have non-empty content except for the optional final assistant message"',
  empty_text: '400 "messages: text content blocks must be non-empty" and "… must contain non-whitespace text"',
  trailing_whitespace: '400 "messages: final assistant content cannot end with trailing whitespace"',
  block: 'messages.d.ts ContentBlockParam: a block has a type, and a role may not send every type',
  tool_name: '400 "tools.0.custom.name: String should match pattern \'^[a-zA-Z0-9_-]{1,128}$\'"',
  tool_name_repeated: '400 "tools: Tool names must be unique."',
  tool_schema:
    '400 "tools.0.custom.input_schema.type: Input should be \'object\'"; no oneOf, allOf, anyOf at the top level',
  tool_property:
    '400 "tools.0.custom.input_schema.properties: Property keys should match pattern \'^[a-zA-Z0-9_.-]{1,64}$\'"',
  output_format:
    '@anthropic-ai/sdk/lib/transform-json-schema.js: objects are closed, and there are no limits of numbers, lengths, patterns',
  tool_choice: 'messages.d.ts ToolChoice; 400 "Tool \'x\' not found in provided tools"; tool_choice needs tools',
  thinking_forced_tool:
    '400 "Thinking may not be enabled when tool_choice forces tool use" (anthropics/claude-code#18759)',
  thinking_budget: '400 "max_tokens must be greater than thinking.budget_tokens"; the minimum is 1024',
  thinking_temperature: '400 "temperature may only be set to 1 when thinking is enabled"',
  temperature: '400 "temperature: range: 0..1"',
  thinking_first: '400 "Expected `thinking` or `redacted_thinking`, but found `tool_use`" (codecompanion#1752)',
  thinking_last: '400 "messages.1: The final block in an assistant message cannot be `thinking`."',
  thinking_signature: '400 "messages.1.content.0.thinking.signature: Field required"',
  thinking_disabled:
    '400 "When thinking is disabled, an `assistant` message in the final position cannot contain `thinking`" (tailcallhq/forgecode#1853)',
  call_id: '400 "messages.1.content.0.tool_use.id: String should match pattern \'^[a-zA-Z0-9_-]+$\'", at most 64',
  call_id_repeated: '400 "messages: `tool_use` ids must be unique"',
  call_input: '400 "messages.1.content.0.tool_use.input: Input should be a valid dictionary"',
  call_without_result: '400 "`tool_use` ids were found without `tool_result` blocks immediately after: toolu_x"',
  result_without_call: '400 "unexpected `tool_use_id` found in `tool_result` blocks: toolu_x"',
  result_repeated:
    '400 "each tool_use must have a single result. Found multiple `tool_result` blocks with id: toolu_x"',
  result_order: '400 as for call_without_result: results come first in the message after the calls',
  result_empty_error: '400 "content cannot be empty if `is_error` is true"',
  result_error_media: '400 "all content must be type `text` if `is_error` is true" (vellum-ai/vellum-assistant#18387)',
  media: 'messages.d.ts Base64ImageSource, URLImageSource, DocumentBlockParam',
  cache_control: '400 "A maximum of 4 blocks with cache_control may be provided"; not on thinking blocks or empty text',
} as const
type Code = keyof typeof SOURCES

export function validateAnthropicRequest(body: unknown): readonly WireIssue[] {
  return collectIssues<Code>(SOURCES, (report) => {
    if (!isJsonObject(body)) {
      report('body', '', `a request is an object, not ${show(body)}`)
      return
    }
    if (!isText(body['model'])) report('body', 'model', 'model is missing')
    const maxTokens = body['max_tokens']
    if (typeof maxTokens !== 'number' || maxTokens < 1 || !Number.isInteger(maxTokens))
      report('body', 'max_tokens', `max_tokens must be a whole number from 1, not ${show(maxTokens)}`)
    checkTools(body, report)
    checkOutput(body['output_config'], report)
    checkThinking(body, report)
    checkSystem(body['system'], report)
    checkMessages(body, report)
    if (countMarks(body) > 4) report('cache_control', '', `${countMarks(body)} blocks have cache_control`)
  })
}

const TOOL_NAME = /^[a-zA-Z0-9_-]{1,128}$/

function checkTools(body: JsonObject, report: Report<Code>): void {
  const tools = objectsIn(body['tools'], 'tools')
  const names: string[] = []
  for (const { item, path } of tools) {
    const { name, input_schema: schema } = item
    if (typeof name !== 'string' || !TOOL_NAME.test(name))
      report('tool_name', `${path}.name`, `${show(name)} is not a legal name`)
    else names.push(name)
    // Anthropic's own tools have a type of their own and no schema.
    const isServerTool = isText(item['type']) && item['type'] !== 'custom'
    if (!isServerTool) checkToolSchema(schema, `${path}.input_schema`, report)
  }
  for (const name of repeated(names)) report('tool_name_repeated', 'tools', `"${name}" is declared twice`)
  const choice = body['tool_choice']
  if (choice === undefined) return
  const type = isJsonObject(choice) ? choice['type'] : undefined
  if (type !== 'auto' && type !== 'any' && type !== 'none' && type !== 'tool')
    report('tool_choice', 'tool_choice', `${show(choice)} is no choice`)
  else if (tools.length === 0) report('tool_choice', 'tool_choice', 'there are no tools to choose from')
  else if (type === 'tool' && isJsonObject(choice) && !names.some((name) => name === choice['name']))
    report('tool_choice', 'tool_choice.name', `${show(choice['name'])} is not declared`)
  if ((type === 'any' || type === 'tool') && hasBudget(body))
    report('thinking_forced_tool', 'tool_choice', `${type} is not allowed with thinking`)
}

function checkToolSchema(schema: unknown, path: string, report: Report<Code>): void {
  if (!isJsonObject(schema) || schema['type'] !== 'object') {
    report('tool_schema', path, 'the schema must have type "object"')
    return
  }
  for (const keyword of ['oneOf', 'allOf', 'anyOf'])
    if (schema[keyword] !== undefined) report('tool_schema', path, `${keyword} is not supported at the top level`)
  const properties = isJsonObject(schema['properties']) ? schema['properties'] : {}
  for (const key of Object.keys(properties))
    if (!/^[a-zA-Z0-9_.-]{1,64}$/.test(key))
      report('tool_property', `${path}.properties`, `${show(key)} is not a legal key`)
}

/** Keywords that kept answers may not have. */
const NOT_KEPT: readonly string[] = (
  'minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength pattern maxItems uniqueItems ' +
  'minProperties maxProperties patternProperties propertyNames oneOf'
).split(' ')

function checkOutput(config: unknown, report: Report<Code>): void {
  const format = isJsonObject(config) ? config['format'] : undefined
  if (format === undefined || format === null) return
  if (!isJsonObject(format) || format['type'] !== 'json_schema' || !isJsonObject(format['schema'])) {
    report('output_format', 'output_config.format', `${show(format)} has no schema`)
    return
  }
  walkSchema(format['schema'], 'output_config.format.schema', (schema, path) => {
    for (const keyword of NOT_KEPT)
      if (schema[keyword] !== undefined) report('output_format', path, `${keyword} is not supported`)
    if (schema['type'] === 'object' && schema['additionalProperties'] !== false)
      report('output_format', path, 'additionalProperties must be false')
  })
}

function thinks(body: JsonObject): boolean {
  const thinking = body['thinking']
  return isJsonObject(thinking) && THINKING_TYPES.some((type) => type === thinking['type'])
}

const THINKING_TYPES: readonly string[] = ['enabled', 'adaptive', 'between_tools']

/** Adaptive thinking is laxer: calls may be forced beside it, and a turn need not begin with thoughts (recorded). */
function hasBudget(body: JsonObject): boolean {
  const thinking = body['thinking']
  return isJsonObject(thinking) && thinking['type'] === 'enabled'
}

function checkThinking(body: JsonObject, report: Report<Code>): void {
  const { thinking, temperature, max_tokens: maxTokens } = body
  if (temperature !== undefined && (typeof temperature !== 'number' || temperature < 0 || temperature > 1))
    report('temperature', 'temperature', `${show(temperature)} is not in 0..1`)
  if (!thinks(body)) return
  if (temperature !== undefined && temperature !== 1)
    report('thinking_temperature', 'temperature', `${show(temperature)} is not 1`)
  if (!isJsonObject(thinking) || thinking['type'] !== 'enabled') return
  const budget = thinking['budget_tokens']
  if (typeof budget !== 'number' || budget < 1024 || (typeof maxTokens === 'number' && budget >= maxTokens))
    report(
      'thinking_budget',
      'thinking.budget_tokens',
      `${show(budget)} is not from 1024 to below max_tokens ${show(maxTokens)}`,
    )
}

function checkSystem(system: unknown, report: Report<Code>): void {
  for (const { item, path } of objectsIn(system, 'system'))
    if (isBlank(item['text'])) report('empty_text', `${path}.text`, 'the text is blank')
}

interface Turn {
  readonly role: string
  readonly path: string
  readonly blocks: readonly { readonly item: JsonObject; readonly path: string }[]
}

/** The API joins neighbours of one role before it looks at them; so do we. */
function listTurns(body: JsonObject, report: Report<Code>): readonly Turn[] {
  const turns: { role: string; path: string; blocks: { readonly item: JsonObject; readonly path: string }[] }[] = []
  const messages = objectsIn(body['messages'], 'messages')
  for (const [index, { item, path }] of messages.entries()) {
    const { role, content } = item
    if (role !== 'user' && role !== 'assistant' && role !== 'system') {
      report('role', `${path}.role`, `${show(role)} is no role`)
      continue
    }
    const blocks =
      typeof content === 'string'
        ? [{ item: { type: 'text', text: content }, path }]
        : objectsIn(content, `${path}.content`)
    const isLastAssistant = role === 'assistant' && index === messages.length - 1
    if (blocks.length === 0 && !isLastAssistant) report('empty_content', path, 'the message has no content')
    const last = turns.at(-1)
    if (last?.role === role) last.blocks.push(...blocks)
    else turns.push({ role, path, blocks: [...blocks] })
  }
  return turns
}

function checkMessages(body: JsonObject, report: Report<Code>): void {
  const turns = listTurns(body, report)
  if (turns.length === 0) {
    report('body', 'messages', 'at least one message is required')
    return
  }
  const first = turns.find((turn) => turn.role !== 'system')
  if (first && first.role !== 'user') report('first_role', first.path, `the first message is of ${first.role}`)
  const conversation = turns.filter((turn) => turn.role !== 'system')
  const ids = turns.flatMap((turn) => listCallIds(turn))
  for (const id of repeated(ids)) report('call_id_repeated', 'messages', `${show(id)} stands twice`)
  for (const [index, turn] of conversation.entries()) {
    for (const { item, path } of turn.blocks) checkBlock(turn, item, path, report)
    if (turn.role === 'assistant') checkAssistant(turn, conversation[index + 1], report)
    else checkResults(turn, conversation[index - 1], report)
  }
  checkOpenTurn(body, conversation, report)
}

function checkBlock(turn: Turn, block: JsonObject, path: string, report: Report<Code>): void {
  const type = block['type']
  const isOfAssistant = type === 'tool_use' || type === 'thinking' || type === 'redacted_thinking'
  const isOfUser = type === 'tool_result' || type === 'image' || type === 'document'
  if (!isText(type) || (turn.role === 'user' ? isOfAssistant : isOfUser))
    report('block', path, `${turn.role} may not send ${show(type)}`)
  if (block['cache_control'] !== undefined && (type === 'thinking' || type === 'redacted_thinking'))
    report('cache_control', path, `${type} may not be marked`)
  if (type === 'text') checkText(turn, block, path, report)
  else if (type === 'thinking' && !isText(block['signature']))
    report('thinking_signature', path, 'the signature is missing')
  else if (type === 'redacted_thinking' && !isText(block['data']))
    report('thinking_signature', path, 'the data is missing')
  else if (type === 'tool_use') checkCall(block, path, report)
  else if (type === 'tool_result') checkResult(block, path, report)
  else if (type === 'image' || type === 'document') checkMedia(block, path, report)
}

/** Blank text was accepted beside a call (recorded: llm-anthropic test_tools), empty text never. */
function checkText(turn: Turn, block: JsonObject, path: string, report: Report<Code>): void {
  const isAlone = turn.blocks.every(({ item }) => item['type'] === 'text' && isBlank(item['text']))
  const isRefused = turn.role === 'user' || isAlone ? isBlank(block['text']) : !isText(block['text'])
  if (isRefused) report('empty_text', `${path}.text`, `${show(block['text'])} is blank`)
}

function checkCall(block: JsonObject, path: string, report: Report<Code>): void {
  const { id, name, input } = block
  if (typeof id !== 'string' || !/^[a-zA-Z0-9_-]{1,64}$/.test(id))
    report('call_id', `${path}.id`, `${show(id)} is not a legal id`)
  if (typeof name !== 'string' || !TOOL_NAME.test(name))
    report('tool_name', `${path}.name`, `${show(name)} is not a legal name`)
  if (!isJsonObject(input)) report('call_input', `${path}.input`, `${show(input)} is not an object`)
}

function checkResult(block: JsonObject, path: string, report: Report<Code>): void {
  const content = block['content']
  const inner = objectsIn(content, `${path}.content`)
  if (block['is_error'] === true && (typeof content === 'string' ? content === '' : inner.length === 0))
    report('result_empty_error', path, 'an error without content')
  for (const { item, path: place } of inner) {
    if (block['is_error'] === true && item['type'] !== 'text')
      report('result_error_media', place, `${show(item['type'])} in an error`)
    if (item['type'] === 'text' && !isText(item['text'])) report('empty_text', place, 'the text is empty')
    if (item['type'] === 'image' || item['type'] === 'document') checkMedia(item, place, report)
    if (item['type'] === 'tool_use' || item['type'] === 'tool_result')
      report('block', place, `${item['type']} inside a result`)
  }
}

function checkMedia(block: JsonObject, path: string, report: Report<Code>): void {
  const source = block['source']
  const kind = isJsonObject(source) ? source['type'] : undefined
  const mediaType = isJsonObject(source) ? source['media_type'] : undefined
  const allowed = block['type'] === 'image' ? IMAGE_TYPES : ['application/pdf']
  const isGood =
    isJsonObject(source) &&
    ((kind === 'url' && isText(source['url'])) ||
      (kind === 'file' && isText(source['file_id'])) ||
      (kind === 'base64' && isText(source['data']) && allowed.some((type) => type === mediaType)) ||
      (block['type'] === 'document' && kind === 'text' && mediaType === 'text/plain' && isText(source['data'])) ||
      (block['type'] === 'document' && kind === 'content'))
  if (!isGood)
    report('media', `${path}.source`, `${show(kind)} of ${show(mediaType)} is no source of a ${show(block['type'])}`)
}

const IMAGE_TYPES: readonly string[] = ['image/jpeg', 'image/png', 'image/gif', 'image/webp']

function listCallIds(turn: Turn): readonly string[] {
  return turn.blocks
    .map(({ item }) => (item['type'] === 'tool_use' ? item['id'] : undefined))
    .filter((id) => typeof id === 'string')
}

function checkAssistant(turn: Turn, next: Turn | undefined, report: Report<Code>): void {
  const last = turn.blocks.at(-1)
  const lastType = last?.item['type']
  if (lastType === 'thinking' || lastType === 'redacted_thinking')
    report('thinking_last', turn.path, `${lastType} ends the message`)
  const text = last?.item['text']
  if (!next && lastType === 'text' && typeof text === 'string' && text !== text.trimEnd())
    report('trailing_whitespace', turn.path, 'the last text ends with white space')
  const answered = new Set(
    (next?.blocks ?? []).map(({ item }) => (item['type'] === 'tool_result' ? item['tool_use_id'] : undefined)),
  )
  for (const id of listCallIds(turn))
    if (!answered.has(id)) report('call_without_result', turn.path, `${show(id)} has no result`)
}

function checkResults(turn: Turn, before: Turn | undefined, report: Report<Code>): void {
  const calls = new Set(before ? listCallIds(before) : [])
  const seen = new Set<unknown>()
  let hasOther = false
  for (const { item, path } of turn.blocks) {
    if (item['type'] !== 'tool_result') {
      hasOther = true
      continue
    }
    const id = item['tool_use_id']
    if (typeof id !== 'string' || !calls.has(id))
      report('result_without_call', path, `${show(id)} was not called in the message before`)
    if (seen.has(id)) report('result_repeated', path, `${show(id)} has two results`)
    if (hasOther) report('result_order', path, 'a result comes after other content')
    seen.add(id)
  }
}

/** The assistant's turn that the newest results belong to must begin with thinking if it is on, and have none if it is off. */
function checkOpenTurn(body: JsonObject, turns: readonly Turn[], report: Report<Code>): void {
  const open: Turn[] = []
  for (const turn of turns.toReversed()) {
    if (turn.role === 'assistant') open.unshift(turn)
    else if (!turn.blocks.some(({ item }) => item['type'] === 'tool_result')) break
  }
  const first = open[0]?.blocks[0]
  if (thinks(body)) {
    if (hasBudget(body) && first && !isThinking(first.item))
      report('thinking_first', first.path, `it begins with ${show(first.item['type'])}`)
    return
  }
  for (const { item, path } of open.at(-1)?.blocks ?? [])
    if (isThinking(item)) report('thinking_disabled', path, 'thinking is off')
}

function isThinking(block: JsonObject): boolean {
  return block['type'] === 'thinking' || block['type'] === 'redacted_thinking'
}

function countMarks(body: JsonObject): number {
  const lists = [objectsIn(body['tools'], ''), objectsIn(body['system'], '')]
  for (const { item } of objectsIn(body['messages'], '')) lists.push(objectsIn(item['content'], ''))
  return lists.flat().filter(({ item }) => isJsonObject(item['cache_control'])).length
}
