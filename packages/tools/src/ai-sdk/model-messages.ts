// Converts the conversation to the format of a tool's AI SDK version. Omits citations and provider-specific state such
// as signatures.
import type { AssistantPart, ContentPart, Message, ResultPart } from '@baton/core/internal'
import { parseJson, readText } from '@baton/core/internal'

export type AiSdkVersion = 4 | 5 | 6 | 7

/** A `ModelMessage` of any version (`CoreMessage` in version 4). */
export interface ModelMessage {
  readonly role: 'user' | 'assistant' | 'tool'
  readonly content: string | readonly object[]
}

export function toModelMessages(messages: readonly Message[], version: AiSdkVersion): readonly ModelMessage[] {
  return messages.flatMap((message): readonly ModelMessage[] => {
    const { role } = message
    if (role === 'tool') return [{ role, content: message.parts.map((part) => toResult(part, version)) }]
    const content =
      role === 'user'
        ? message.parts.map((part) => toUserPart(part, version))
        : message.parts.flatMap((part) => toAssistantPart(part, version))
    if (content.length === 0) return []
    const isText = message.parts.every(({ type }) => type === 'text')
    return [{ role, content: isText ? readText(message.parts) : content }]
  })
}

/** The media type under the version's field name. */
function typed(mediaType: string, version: AiSdkVersion): object {
  return version === 4 ? { mimeType: mediaType } : { mediaType }
}

function toUserPart(part: ContentPart, version: AiSdkVersion): object {
  if (part.type === 'text') return { type: 'text', text: part.text }
  const data = part.source.type === 'url' ? new URL(part.source.url) : part.source.data
  if (part.type === 'image') return { type: 'image', image: data, ...typed(part.mediaType, version) }
  return {
    type: 'file',
    data,
    ...typed(part.mediaType, version),
    ...(part.name !== undefined && { filename: part.name }),
  }
}

function toAssistantPart(part: AssistantPart, version: AiSdkVersion): readonly object[] {
  if (part.type === 'text' || part.type === 'reasoning')
    return part.text === '' ? [] : [{ type: part.type, text: part.text }]
  if (part.type !== 'call') return []
  const parsed = parseJson(part.arguments)
  const input = parsed.ok ? parsed.value : {}
  return [
    {
      type: 'tool-call',
      toolCallId: part.callId,
      toolName: part.name,
      ...(version === 4 ? { args: input } : { input }),
    },
  ]
}

function toResult({ callId, name, isError, content }: ResultPart, version: AiSdkVersion): object {
  const about = { type: 'tool-result', toolCallId: callId, toolName: name }
  const text = readText(content)
  const isText = content.every(({ type }) => type === 'text')
  const value = isText ? readValue(text) : undefined
  if (version === 4)
    return {
      ...about,
      result: value ?? text,
      ...(isError && { isError }),
      ...(!isText && { experimental_content: content.map((part) => toResultPart(part, version)) }),
    }
  if (isError) return { ...about, output: { type: 'error-text', value: text } }
  if (value !== undefined) return { ...about, output: { type: 'json', value } }
  if (isText) return { ...about, output: { type: 'text', value: text } }
  return { ...about, output: { type: 'content', value: content.map((part) => toResultPart(part, version)) } }
}

/** Parses JSON lists and objects, since the history stores tool results as text. */
function readValue(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return undefined
  const parsed = parseJson(text)
  return parsed.ok ? parsed.value : undefined
}

function toResultPart(part: ContentPart, version: AiSdkVersion): object {
  if (part.type === 'text') return { type: 'text', text: part.text }
  const { source, mediaType, type } = part
  if (source.type === 'url') {
    if (version < 6) return { type: 'text', text: source.url } // they do not support URLs here
    return { type: type === 'image' ? 'image-url' : 'file-url', url: source.url, mediaType }
  }
  const { data } = source
  if (version === 5) return { type: 'media', data, mediaType }
  if (version === 4)
    return type === 'image' ? { type, data, mimeType: mediaType } : { type: 'text', text: `[a file, ${mediaType}]` }
  const named = part.type === 'file' && part.name !== undefined ? { filename: part.name } : {}
  return { type: type === 'image' ? 'image-data' : 'file-data', data, mediaType, ...named }
}
