// A provider's recorded answer, decoded by Baton's adapter for its wire.
import type { BatonError, ModelAnswer } from '@baton/core/internal'
import { isBatonError, parseJson } from '@baton/core/internal'
import { createAnthropicDecoder, decodeAnthropicMessage } from '@baton/models/internal'
import { createBedrockDecoder, createEventStreamReader, decodeBedrockMessage } from '@baton/models/internal'
import { createGeminiDecoder } from '@baton/models/internal'
import { createOpenAiChatDecoder, decodeOpenAiChatCompletion } from '@baton/models/internal'
import { createOpenAiResponsesDecoder, decodeOpenAiResponse } from '@baton/models/internal'
import { createToolNames } from '@baton/models/internal'
import type { SseEvent } from '@baton/models/internal'
import { createSseReader } from '@baton/models/internal'
import type { RecordedExchange } from '../fake-providers/recordings.ts'

/** Returns `undefined` if the provider answered with an error. */
export function decodeRecordedAnswer(
  folder: string,
  { body, isStream }: RecordedExchange,
  model: string,
): ModelAnswer | undefined {
  const names = createToolNames([])
  const options = { model, names, provider: folder }
  const parsed = isStream ? undefined : parseJson(new TextDecoder().decode(body))
  const whole = parsed?.ok ? parsed.value : null
  const decoders = {
    anthropic: () =>
      isStream ? readSse(createAnthropicDecoder(options), body) : decodeAnthropicMessage(whole, options),
    bedrock: () => {
      if (!isStream) return decodeBedrockMessage(whole, options)
      const decoder = createBedrockDecoder(options)
      createEventStreamReader((event) => decoder.push(event)).push(body)
      return decoder.end()
    },
    google: () => {
      const decoder = createGeminiDecoder(options)
      if (isStream) return readSse(decoder, body)
      decoder.push({ data: new TextDecoder().decode(body) })
      return decoder.end()
    },
    'openai-responses': () =>
      isStream ? readSse(createOpenAiResponsesDecoder(options), body) : decodeOpenAiResponse(whole, options),
    'openai-chat': () =>
      isStream ? readSse(createOpenAiChatDecoder(options), body) : decodeOpenAiChatCompletion(whole, options),
  }
  const wire = folder === 'openai-compatible' ? 'openai-chat' : folder
  const answer = wire in decoders ? decoders[wire as keyof typeof decoders]() : undefined // checked on the same line
  return answer === undefined || isBatonError(answer) ? undefined : answer
}

interface SseDecoder {
  push(event: SseEvent): void
  end(): ModelAnswer | BatonError
}

function readSse(decoder: SseDecoder, body: Uint8Array): ModelAnswer | BatonError {
  createSseReader((event) => decoder.push(event)).push(body)
  return decoder.end()
}
