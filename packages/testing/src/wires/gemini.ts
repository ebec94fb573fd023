// Checks a request's body as Gemini's generateContent does. Like Google, it reads both spellings of a field.
import type { JsonObject } from '@baton/core/internal'
import { isJsonObject } from '@baton/core/internal'
import type { Report, WireIssue } from './issue.ts'
import { collectIssues, isText, objectsIn, repeated, show } from './issue.ts'
import { walkSchema } from './json-schema.ts'

const SOURCES = {
  body: '400 "GenerateContentRequest.contents: contents is not specified"',
  role: '400 "Please use a valid role: user, model."',
  first_role: 'a user’s content comes first (strands harness-sdk#1749, PR 2087)',
  last_role: '400 "Please ensure that multiturn requests end with a user role or a function response."',
  empty_content: '400 "GenerateContentRequest.contents[1].parts: contents.parts must not be empty."',
  part: '400 "GenerateContentRequest.contents[0].parts[0].data: required oneof field \'data\' must have one initialized field"',
  function_name:
    'genai.d.ts FunctionDeclaration: a letter or underscore first, then a-z A-Z 0-9 _ . : -; 64 (Gemini API) or 128 (Vertex)',
  function_name_repeated: '400 "Duplicate function declaration found: x"',
  call_args: 'genai.d.ts FunctionCall.args: an object',
  call_order:
    '400 "Please ensure that function call turn comes immediately after a user turn or after a function response turn."',
  result_count:
    '400 "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn."',
  result_order: '400 "Please ensure that function response turn comes immediately after a function call turn."',
  result_name: '400 "GenerateContentRequest.contents[2].parts[0].function_response.name: Name cannot be empty."',
  result_response: 'genai.d.ts FunctionResponse.response: an object',
  signature: '400 "Function call is missing a thought_signature in functionCall parts." (Gemini 3, current turn)',
  schema_both: 'genai.d.ts FunctionDeclaration: parameters and parametersJsonSchema are mutually exclusive',
  schema_keyword:
    '400 "Invalid JSON payload received. Unknown name \\"$ref\\" at \'tools[0].function_declarations[0].parameters\'"',
  schema_type: '400 "Proto field is not repeating, cannot start list." for a list of types (zed#44875)',
  schema_items: '400 "parameters.properties[x].items: missing field."',
  schema_untyped: '400 "schema didn\'t specify the schema type field" (Vertex AI)',
  schema_choice: '400 "When using any_of, it must be the only field set." (Vertex AI)',
  schema_object: '400 "properties: only allowed for OBJECT type", "required: only allowed for OBJECT type"',
  schema_empty: '400 "parameters.properties[x].properties: should be non-empty for OBJECT type"',
  schema_required: '400 "required[0]: property is not defined"',
  parameter_name: 'genai.d.ts FunctionDeclaration: parameter names are [A-Za-z_][A-Za-z0-9_]*, at most 64',
  mode: 'genai.d.ts FunctionCallingConfigMode; 400 "allowed_function_names should only be set when mode is ANY"',
  unknown_field: '400 "Invalid JSON payload received. Unknown name \\"x\\": Cannot find field."',
  media: 'genai.d.ts Blob and FileData: a mimeType, with data or a fileUri',
  thinking:
    '400 "Thinking budget and thinking level are not supported together."; "Budget 0 is invalid. This model only works in thinking mode."',
  max_tokens: '400 "max_output_tokens must be positive"',
  id_pair: 'genai.d.ts FunctionResponse.id: that of the call, where the call has one',
  result_media: 'ai.google.dev, "Multimodal function responses": Gemini 3 and later',
  json_mode: '400 "Function calling with a response mime type: \'application/json\' is unsupported" (js-genai#727)',
} as const
type Code = keyof typeof SOURCES

/** `model` is in the address, not the body; some rules apply only to Gemini 3. */
export function validateGeminiRequest(body: unknown, options: { readonly model?: string } = {}): readonly WireIssue[] {
  return collectIssues<Code>(SOURCES, (report) => {
    if (!isJsonObject(body)) {
      report('body', '', `a request must be an object, not ${show(body)}`)
      return
    }
    const names = checkTools(body, report)
    checkToolConfig(body, names, report)
    checkGeneration(body, options.model ?? '', report)
    checkFields(body, BODY_FIELDS, '', report)
    const contents = objectsIn(body['contents'], 'contents')
    if (contents.length === 0) {
      report('body', 'contents', 'there are no contents')
      return
    }
    checkContents(contents, report)
    if (!isGemini3(options.model)) checkJsonMode(body, report)
    if (isGemini3(options.model)) checkSignatures(contents, report)
    else if (options.model !== undefined) checkNoResultMedia(contents, report)
  })
}

type Found = ReturnType<typeof objectsIn>[number]

function either(object: JsonObject, camel: string, snake: string): unknown {
  return object[camel] ?? object[snake]
}

function isGemini3(model = ''): boolean {
  return /gemini-(3|[4-9]|\d\d)/.test(model)
}

/** GenerateContentRequest of v1beta and of Vertex. */
const BODY_FIELDS: readonly string[] =
  'contents systemInstruction tools toolConfig generationConfig safetySettings cachedContent labels model store serviceTier'.split(
    ' ',
  )
/** Fields of genai.d.ts `Part`. */
const PART_FIELDS: readonly string[] = (
  'text inlineData fileData functionCall functionResponse executableCode codeExecutionResult toolCall toolResponse ' +
  'thought thoughtSignature videoMetadata mediaResolution partMetadata'
).split(' ')

/** Accepts both spellings. */
function checkFields(object: JsonObject, known: readonly string[], path: string, report: Report<Code>): void {
  const camel = (field: string) => field.replace(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase())
  for (const field of Object.keys(object))
    if (!known.includes(camel(field))) report('unknown_field', path, `${show(field)} is not known`)
}

function checkGeneration(body: JsonObject, model: string, report: Report<Code>): void {
  const config = either(body, 'generationConfig', 'generation_config')
  if (!isJsonObject(config)) return
  const most = either(config, 'maxOutputTokens', 'max_output_tokens')
  if (most !== undefined && !(typeof most === 'number' && Number.isInteger(most) && most > 0))
    report('max_tokens', 'generationConfig.maxOutputTokens', `${show(most)} is not a number of tokens`)
  checkSchema(either(config, 'responseSchema', 'response_schema'), 'generationConfig.responseSchema', report)
  const thinking = either(config, 'thinkingConfig', 'thinking_config')
  if (!isJsonObject(thinking)) return
  const budget = either(thinking, 'thinkingBudget', 'thinking_budget')
  const level = either(thinking, 'thinkingLevel', 'thinking_level')
  const path = 'generationConfig.thinkingConfig'
  if (budget !== undefined && level !== undefined) report('thinking', path, 'a budget and a level')
  if (budget === 0 && /2\.5-pro/.test(model)) report('thinking', path, 'this model always thinks')
  if (level !== undefined && /gemini-2/.test(model)) report('thinking', path, 'levels are for Gemini 3')
  if (typeof level === 'string' && /minimal|medium/i.test(level) && /gemini-3-pro/.test(model))
    report('thinking', path, `Gemini 3 Pro does not know ${level}`)
}

function checkNoResultMedia(contents: readonly Found[], report: Report<Code>): void {
  for (const { results } of contents.map(buildTurn))
    for (const { item, path } of results)
      if (item['parts'] !== undefined) report('result_media', path, 'this model does not accept media inside results')
}

const NAME = /^[A-Za-z_][A-Za-z0-9_.:-]{0,63}$/

function checkTools(body: JsonObject, report: Report<Code>): readonly string[] {
  const names: string[] = []
  for (const tool of objectsIn(body['tools'], 'tools')) {
    for (const { item, path } of objectsIn(
      either(tool.item, 'functionDeclarations', 'function_declarations'),
      `${tool.path}.functionDeclarations`,
    )) {
      const { name, parameters } = item
      if (typeof name !== 'string' || !NAME.test(name))
        report('function_name', `${path}.name`, `${show(name)} is not a valid name`)
      else names.push(name)
      if (parameters !== undefined && either(item, 'parametersJsonSchema', 'parameters_json_schema') !== undefined)
        report('schema_both', path, 'both kinds of parameters are given')
      checkSchema(parameters, `${path}.parameters`, report)
    }
  }
  for (const name of repeated(names)) report('function_name_repeated', 'tools', `"${name}" is declared twice`)
  return names
}

/**
 * The keywords of its OpenAPI subset (genai.d.ts Schema). A single unknown keyword rejects every tool of the request.
 */
const KEYWORDS: ReadonlySet<string> = new Set(
  (
    'anyOf default description enum example format items maxItems maxLength maxProperties maximum minItems minLength ' +
    'minProperties minimum nullable pattern properties propertyOrdering required title type'
  ).split(' '),
)

function checkSchema(schema: unknown, path: string, report: Report<Code>): void {
  walkSchema(schema, path, (inner, place) => {
    for (const keyword of Object.keys(inner))
      if (!KEYWORDS.has(keyword)) report('schema_keyword', place, `${keyword} is not known`)
    if (inner['anyOf'] === undefined) checkType(inner, place, report)
    else if (Object.keys(inner).length > 1) report('schema_choice', place, 'anyOf has siblings')
    const properties = isJsonObject(inner['properties']) ? inner['properties'] : {}
    for (const name of Object.keys(properties))
      if (!/^[A-Za-z_][A-Za-z0-9_]{0,63}$/.test(name))
        report('parameter_name', place, `${show(name)} is not a valid name`)
    // The root of a function without parameters is omitted or empty.
    const isEmpty = Object.keys(properties).length === 0
    if (place !== path && isEmpty && readTypeName(inner) === 'OBJECT')
      report('schema_empty', place, 'an object needs properties')
  })
}

function checkType(schema: JsonObject, path: string, report: Report<Code>): void {
  const { type, items, properties, required } = schema
  const name = readTypeName(schema)
  if (type === undefined) report('schema_untyped', path, 'there is no type')
  else if (name === undefined) report('schema_type', path, `${show(type)} is not one type`)
  if (name === 'ARRAY' && items === undefined) report('schema_items', path, 'an array needs items')
  if (name !== 'OBJECT' && (properties ?? required) !== undefined)
    report('schema_object', path, `properties of ${show(type)}`)
  for (const needed of Array.isArray(required) ? (required as readonly unknown[]) : [])
    if (typeof needed !== 'string' || !isJsonObject(properties) || !Object.hasOwn(properties, needed))
      report('schema_required', path, `${show(needed)} is not among the properties`)
}

/** Google accepts both cases. */
function readTypeName({ type }: JsonObject): string | undefined {
  return typeof type === 'string' ? type.toUpperCase() : undefined
}

function checkToolConfig(body: JsonObject, names: readonly string[], report: Report<Code>): void {
  const config = either(body, 'toolConfig', 'tool_config')
  const calling = isJsonObject(config) ? either(config, 'functionCallingConfig', 'function_calling_config') : undefined
  if (isJsonObject(calling)) {
    const { mode } = calling
    const allowed = either(calling, 'allowedFunctionNames', 'allowed_function_names')
    if (mode !== undefined && mode !== 'AUTO' && mode !== 'ANY' && mode !== 'NONE' && mode !== 'VALIDATED')
      report('mode', 'toolConfig.functionCallingConfig.mode', `${show(mode)} is not a valid mode`)
    if (Array.isArray(allowed) && mode !== 'ANY' && mode !== 'VALIDATED')
      report('mode', 'toolConfig.functionCallingConfig', 'names need mode ANY')
    for (const name of Array.isArray(allowed) ? (allowed as readonly unknown[]) : [])
      if (!names.some((known) => known === name))
        report('mode', 'toolConfig.functionCallingConfig', `${show(name)} is not declared`)
  }
}

/** Gemini 3 accepts both together (recorded). */
function checkJsonMode(body: JsonObject, report: Report<Code>): void {
  const generation = either(body, 'generationConfig', 'generation_config')
  const mime = isJsonObject(generation) ? either(generation, 'responseMimeType', 'response_mime_type') : undefined
  if (mime === 'application/json' && objectsIn(body['tools'], 'tools').length > 0)
    report('json_mode', 'generationConfig.responseMimeType', 'not together with functions')
}

const PART_DATA: readonly (readonly [string, string])[] = [
  ['text', 'text'],
  ['inlineData', 'inline_data'],
  ['fileData', 'file_data'],
  ['functionCall', 'function_call'],
  ['functionResponse', 'function_response'],
  ['executableCode', 'executable_code'],
  ['codeExecutionResult', 'code_execution_result'],
  ['toolCall', 'tool_call'],
  ['toolResponse', 'tool_response'],
]

interface Turn {
  readonly role: unknown
  readonly path: string
  readonly parts: readonly Found[]
  readonly calls: readonly Found[]
  readonly results: readonly Found[]
}

function buildTurn({ item, path }: Found): Turn {
  const parts = objectsIn(item['parts'], `${path}.parts`)
  const buildData = (camel: string, snake: string) =>
    parts.flatMap((part) => {
      const data = either(part.item, camel, snake)
      return isJsonObject(data) ? [{ item: data, path: part.path }] : []
    })
  const calls = buildData('functionCall', 'function_call')
  const results = buildData('functionResponse', 'function_response')
  // Content without a role is the user's (genai.d.ts Content); `function` is the older role of results.
  return {
    role: item['role'] === undefined || item['role'] === 'function' ? 'user' : item['role'],
    path,
    parts,
    calls,
    results,
  }
}

function checkContents(contents: readonly Found[], report: Report<Code>): void {
  const turns = contents.map(buildTurn)
  if (turns[0]?.role !== 'user')
    report('first_role', 'contents.0', `the first content has role ${show(turns[0]?.role)}`)
  if (turns.at(-1)?.role !== 'user') report('last_role', turns.at(-1)?.path ?? '', 'the last content is not the user’s')
  for (const [index, turn] of turns.entries()) {
    if (turn.role !== 'user' && turn.role !== 'model')
      report('role', turn.path, `${show(turn.role)} is not a valid role`)
    if (turn.parts.length === 0) report('empty_content', turn.path, 'the content has no parts')
    for (const { item, path } of turn.parts) {
      const kinds = PART_DATA.filter(([camel, snake]) => either(item, camel, snake) !== undefined)
      if (kinds.length !== 1) report('part', path, `a part has one kind of data, not ${kinds.length}`)
      checkFields(item, PART_FIELDS, path, report)
      checkMedia(item, path, report)
    }
    for (const call of turn.calls) checkCall(call, report)
    for (const result of turn.results) checkResult(result, report)
    checkPairs(turns, index, report)
  }
}

function checkMedia(part: JsonObject, path: string, report: Report<Code>): void {
  for (const [camel, snake, field] of [
    ['inlineData', 'inline_data', 'data'],
    ['fileData', 'file_data', 'file_uri'],
  ] as const) {
    const media = either(part, camel, snake)
    if (!isJsonObject(media)) continue
    const content = field === 'data' ? media['data'] : either(media, 'fileUri', field)
    if (!isText(either(media, 'mimeType', 'mime_type')) || !isText(content))
      report('media', path, `${show(media)} lacks its type or its content`)
  }
}

function checkCall({ item, path }: Found, report: Report<Code>): void {
  const { name, args } = item
  if (typeof name !== 'string' || !NAME.test(name)) report('function_name', path, `${show(name)} is not a valid name`)
  if (args !== undefined && args !== null && !isJsonObject(args))
    report('call_args', path, `${show(args)} is not an object`)
}

function checkResult({ item, path }: Found, report: Report<Code>): void {
  if (!isText(item['name'])) report('result_name', path, 'the name is missing')
  if (!isJsonObject(item['response'])) report('result_response', path, `${show(item['response'])} is not an object`)
}

/** All results of a turn's calls are in the one content after it: one per call, with the same names. */
function checkPairs(turns: readonly Turn[], index: number, report: Report<Code>): void {
  const turn = turns[index]
  if (!turn) return
  const before = turns[index - 1]
  const next = turns[index + 1]
  if (turn.results.length > 0 && (before?.calls.length ?? 0) === 0)
    report('result_order', turn.path, 'the previous content has no call')
  if (turn.calls.length === 0) return
  if (before && before.role !== 'user') report('call_order', turn.path, 'the previous content is not the user’s')
  const results = next?.results ?? []
  if (results.length !== turn.calls.length)
    report('result_count', turn.path, `${turn.calls.length} calls, ${results.length} results`)
  checkIds(turn, results, report)
  const listNames = (found: readonly Found[]) =>
    found
      .map(({ item }) => show(item['name']))
      .sort()
      .join()
  if (results.length === turn.calls.length && listNames(results) !== listNames(turn.calls))
    report('result_name', next?.path ?? '', 'the names do not match the calls')
}

function checkIds(turn: Turn, results: readonly Found[], report: Report<Code>): void {
  const given = turn.calls.flatMap(({ item }) => (isText(item['id']) ? [item['id']] : []))
  const answered = results.flatMap(({ item }) => (isText(item['id']) ? [item['id']] : []))
  const isOther = given.some((id) => !answered.includes(id)) || answered.some((id) => !given.includes(id))
  if (isOther) report('id_pair', turn.path, `ids ${show(given)} are answered with ${show(answered)}`)
}

/** Checks signatures of the open turn, since the user's last message. Only the first of parallel calls carries one. */
function checkSignatures(contents: readonly Found[], report: Report<Code>): void {
  const turns = contents.map(buildTurn)
  const start = turns.findLastIndex((turn) => turn.role === 'user' && turn.results.length === 0)
  for (const turn of turns.slice(start + 1)) {
    const first = turn.parts.find(({ item }) => either(item, 'functionCall', 'function_call') !== undefined)
    if (first && !isText(either(first.item, 'thoughtSignature', 'thought_signature')))
      report('signature', first.path, 'thoughtSignature is missing')
  }
}
