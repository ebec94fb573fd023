// Reads a recorded request into neutral form: instructions, tools, and the conversation as ordered items. Returns
// `undefined` if it contains something that Baton does not send.
import type { JsonObject, JsonValue, ToolDeclaration } from '@baton/core/internal'
import { isJsonObject } from '@baton/core/internal'

export type RecordedItem =
  | { readonly role: 'user' | 'result'; readonly text: string; readonly images: number }
  | { readonly role: 'assistant'; readonly text: string; readonly calls: readonly RecordedCall[] }

export interface RecordedCall {
  readonly name: string
  /** JSON text. */
  readonly arguments: string
}

export interface RecordedRequest {
  readonly instructions: string
  readonly tools: readonly ToolDeclaration[]
  readonly items: readonly RecordedItem[]
}

/** `folder` names the wire, as in the recordings. */
export function readRecordedRequest(folder: string, body: unknown): RecordedRequest | undefined {
  if (!isJsonObject(body)) return undefined
  const draft = readAs(folder, body)
  if (!draft || draft.tools.some((tool) => tool === undefined)) return undefined
  return { ...draft, tools: draft.tools.flatMap((tool) => tool ?? []), items: joinItems(draft.items) }
}

interface Draft {
  readonly instructions: string
  /** `undefined` for a provider's own tool. */
  readonly tools: readonly (ToolDeclaration | undefined)[]
  readonly items: readonly RecordedItem[]
}

function readAs(folder: string, body: JsonObject): Draft | undefined {
  switch (folder) {
    case 'anthropic':
      return readAnthropic(body)
    case 'bedrock':
      return readBedrock(body)
    case 'google':
      return readGemini(body)
    case 'openai-chat':
    case 'openai-compatible':
      return readChat(body)
    case 'openai-responses':
      return readResponses(body)
    default:
      return undefined
  }
}

function readAnthropic(body: JsonObject): Draft {
  return {
    instructions: readTexts(body['system']),
    tools: listObjects(body['tools']).map((tool) => toTool(tool, tool['input_schema'])),
    items: listObjects(body['messages']).flatMap(({ role, content }) =>
      typeof content === 'string'
        ? [toItem(role, content)]
        : listObjects(content).flatMap((block): readonly RecordedItem[] => {
            const { type } = block
            if (type === 'tool_use') return [toCall(block['name'], JSON.stringify(block['input']))]
            if (type === 'tool_result') return [toResult(block['content'])]
            return [toItem(role, readTexts([block]), countImages([block]))]
          }),
    ),
  }
}

function readBedrock(body: JsonObject): Draft | undefined {
  const config = isJsonObject(body['toolConfig']) ? body['toolConfig'] : {}
  const isForeign = listObjects(body['messages']).some(({ content }) =>
    listObjects(content).some(
      (block) => !['text', 'toolUse', 'toolResult', 'reasoningContent'].some((key) => key in block),
    ),
  )
  if (isForeign) return undefined
  return {
    instructions: readTexts(body['system']),
    tools: listObjects(config['tools']).map(({ toolSpec }) => {
      if (!isJsonObject(toolSpec)) return undefined
      const { inputSchema } = toolSpec
      return toTool(toolSpec, isJsonObject(inputSchema) ? inputSchema['json'] : undefined)
    }),
    items: listObjects(body['messages']).flatMap(({ role, content }) =>
      listObjects(content).map(({ text, toolUse, toolResult }): RecordedItem => {
        if (isJsonObject(toolUse)) return toCall(toolUse['name'], JSON.stringify(toolUse['input']))
        if (isJsonObject(toolResult)) return toResult(toolResult['content'])
        return toItem(role, text)
      }),
    ),
  }
}

function readGemini(body: JsonObject): Draft {
  const { systemInstruction } = body
  const declared = listObjects(body['tools']).flatMap((tool): readonly (JsonObject | undefined)[] => {
    const list = listObjects(tool['functionDeclarations'] ?? tool['function_declarations'])
    return list.length > 0 ? list : [undefined]
  })
  return {
    instructions: isJsonObject(systemInstruction) ? readTexts(systemInstruction['parts']) : '',
    tools: declared.map(
      (tool) =>
        tool &&
        toTool(tool, tool['parametersJsonSchema'] ?? tool['parameters_json_schema'] ?? tool['parameters'] ?? {}),
    ),
    items: listObjects(body['contents']).flatMap(({ role, parts }) =>
      listObjects(parts).map(({ text, functionCall, functionResponse, inlineData }): RecordedItem => {
        if (isJsonObject(functionCall)) return toCall(functionCall['name'], JSON.stringify(functionCall['args'] ?? {}))
        if (isJsonObject(functionResponse)) return toResult(readResponse(functionResponse['response']))
        return toItem(role === 'model' ? 'assistant' : 'user', text, inlineData === undefined ? 0 : 1)
      }),
    ),
  }
}

/** Gemini takes an object; Baton puts the result in `output`, other clients use other names. */
function readResponse(response: JsonValue | undefined): string {
  if (!isJsonObject(response)) return ''
  const values = Object.values(response)
  return values.length === 1 && typeof values[0] === 'string' ? values[0] : JSON.stringify(response)
}

function readChat(body: JsonObject): Draft {
  const messages = listObjects(body['messages'])
  const isSystem = ({ role }: JsonObject): boolean => role === 'system' || role === 'developer'
  return {
    instructions: messages
      .filter(isSystem)
      .map(({ content }) => readTexts(content))
      .join('\n'),
    tools: listObjects(body['tools']).map((tool) => {
      const declared = tool['function']
      return isJsonObject(declared) ? toTool(declared, declared['parameters']) : undefined
    }),
    items: messages
      .filter((message) => !isSystem(message))
      .flatMap(({ role, content, tool_calls: calls }): readonly RecordedItem[] => {
        if (role === 'tool') return [toResult(content)]
        return [toItem(role, readTexts(content), countImages(content)), ...readFunctions(calls)]
      }),
  }
}

function readFunctions(calls: JsonValue | undefined): readonly RecordedItem[] {
  return listObjects(calls).flatMap((call) => {
    const made = call['function']
    return isJsonObject(made) ? [toCall(made['name'], made['arguments'])] : []
  })
}

function readResponses(body: JsonObject): Draft | undefined {
  if ('previous_response_id' in body) return undefined
  const { input } = body
  const items = typeof input === 'string' ? [{ role: 'user', content: input }] : listObjects(input)
  const isSystem = ({ role }: JsonObject): boolean => role === 'system' || role === 'developer'
  return {
    instructions: [body['instructions'], ...items.filter(isSystem).map(({ content }) => content)]
      .map((text) => readTexts(text))
      .filter((text) => text !== '')
      .join('\n'),
    tools: listObjects(body['tools']).map((tool) =>
      tool['type'] === 'function' ? toTool(tool, tool['parameters']) : undefined,
    ),
    items: items
      .filter((item) => !isSystem(item))
      .map((item): RecordedItem => {
        if (item['type'] === 'function_call') return toCall(item['name'], item['arguments'])
        if (item['type'] === 'function_call_output') return toResult(item['output'])
        if (item['type'] === 'reasoning') return toItem('assistant', '')
        return toItem(item['role'], readTexts(item['content']), countImages(item['content']))
      }),
  }
}

function toTool({ name, description }: JsonObject, schema: JsonValue | undefined): ToolDeclaration | undefined {
  if (typeof name !== 'string' || !isJsonObject(schema)) return undefined
  // Gemini's older dialect writes types in upper case.
  const text = JSON.stringify({ type: 'object', ...schema }).replace(/"type":"([A-Z]+)"/g, (_, type: string) => {
    return `"type":"${type.toLowerCase()}"`
  })
  const inputSchema = JSON.parse(text) as JsonObject // serialized from an object
  return { name, description: toText(description), inputSchema }
}

function toItem(role: JsonValue | undefined, text: JsonValue | undefined, images = 0): RecordedItem {
  const said = toText(text)
  return role === 'assistant' ? { role, text: said, calls: [] } : { role: 'user', text: said, images }
}

function toCall(name: JsonValue | undefined, text: JsonValue | undefined): RecordedItem {
  const call = { name: toText(name), arguments: toText(text) }
  return { role: 'assistant', text: '', calls: [call] }
}

function toResult(content: JsonValue | undefined): RecordedItem {
  return { role: 'result', text: readTexts(content), images: countImages(content) }
}

function toText(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : ''
}

/** Non-text blocks are pictures, or JSON representing text. */
function readTexts(content: JsonValue | undefined): string {
  if (typeof content === 'string') return content
  return listObjects(content)
    .flatMap((block) => {
      if (typeof block['text'] === 'string') return block['text']
      return block['json'] === undefined ? [] : JSON.stringify(block['json'])
    })
    .join('\n')
}

function countImages(content: JsonValue | undefined): number {
  return listObjects(content).filter(({ type }) => /^(?:image|image_url|input_image)$/.test(toText(type))).length
}

function listObjects(value: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter((item): item is JsonObject => isJsonObject(item)) : []
}

/**
 * Pieces of one answer are one item; a client's message after results (pictures of a tool) belongs to the last result.
 */
function joinItems(items: readonly RecordedItem[]): readonly RecordedItem[] {
  const joined: RecordedItem[] = []
  for (const item of items) {
    const last = joined.at(-1)
    if (last?.role === 'assistant' && item.role === 'assistant')
      joined.splice(-1, 1, { role: 'assistant', text: last.text + item.text, calls: [...last.calls, ...item.calls] })
    else if (item.role === 'user' && (last?.role === 'user' || last?.role === 'result'))
      joined.splice(-1, 1, { role: last.role, text: `${last.text}${item.text}`, images: last.images + item.images })
    else joined.push(item)
  }
  return joined
}
