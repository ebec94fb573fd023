// How far the estimate of a request is from real providers' counts, measured on recordings that were not used while
// tuning the estimate.
import { createHash } from 'node:crypto'
import type { Model } from '@baton/core'
import { createAnthropicModel } from '@baton/models/anthropic'
import { createBedrockModel } from '@baton/models/bedrock'
import { createGeminiModel } from '@baton/models/gemini'
import { createOpenAiChatModel } from '@baton/models/openai-chat'
import { createOpenAiResponsesModel } from '@baton/models/openai-responses'
import { expect, test } from 'vitest'
import type { RecordedExchange } from '../fake-providers/recordings.ts'
import { openRecordings } from '../fake-providers/recordings.ts'
import { decodeRecordedAnswer } from './decode-answer.ts'
import type { CountedRequest, Estimate } from './play-recording.ts'
import { playRecording } from './play-recording.ts'
import { readRecordedRequest } from './read-request.ts'

const MODELS: Readonly<Record<string, (model: string) => Model>> = {
  anthropic: (model) => createAnthropicModel({ apiKey: 'none', model }),
  bedrock: (model) => createBedrockModel({ apiKey: 'none', region: 'us-east-1', model }),
  google: (model) => createGeminiModel({ access: { type: 'gemini-api', apiKey: 'none' }, model }),
  'openai-chat': (model) => createOpenAiChatModel({ model }),
  'openai-compatible': (model) => createOpenAiChatModel({ model }),
  'openai-responses': (model) => createOpenAiResponsesModel({ apiKey: 'none', model }),
}
const recordings = openRecordings('the estimate of tokens', (message) => console.warn(message))

/** Half of the recordings, by the hash of their names. The estimate's constants come from the other half. */
function isUnseen({ file }: RecordedExchange): boolean {
  return createHash('sha256').update(file).digest().readUInt8(0) % 2 === 1
}

const unseen = Object.keys(MODELS).map((folder) => {
  const exchanges = recordings?.exchangesOf(folder) ?? []
  return [folder, exchanges.filter((exchange) => exchange.request && isUnseen(exchange))] as const
})

test.skipIf(!recordings).each(unseen)(
  '%s: a request whose conversation was counted before is off by less than 5 %, in the median',
  async (folder, exchanges) => {
    const conversations = splitConversations(folder, exchanges)
    const played = await Promise.all(conversations.map((requests) => play(folder, requests)))
    const estimates = played.flat()
    const pictures = estimates.filter(({ hasPicture }) => hasPicture)
    const first = estimates.filter((one) => !one.hasPicture && !one.isCalibrated)
    const later = estimates.filter((one) => !one.hasPicture && one.isCalibrated)
    console.log(
      [
        `estimate for ${folder}: ${exchanges.length} recorded exchanges, ${estimates.length} of them played`,
        describe('after a count', later),
        describe('before any count', first),
        describe('with pictures', pictures),
      ].join('; '),
    )
    // A provider may have no recordings; the line above reports this.
    expect(later.length === 0 ? 0 : quantile(later, 0.5)).toBeLessThan(0.05)
  },
)

async function play(folder: string, requests: readonly CountedRequest[]): Promise<readonly Estimate[]> {
  const model = requests[0]?.answer.model ?? 'recorded'
  return await playRecording(requests, MODELS[folder]?.(model) ?? createOpenAiChatModel({ model }))
}

/** The exchanges for which a provider returned a count, grouped by conversation. */
function splitConversations(
  folder: string,
  exchanges: readonly RecordedExchange[],
): readonly (readonly CountedRequest[])[] {
  const conversations: CountedRequest[][] = []
  for (const exchange of exchanges) {
    const counted = toCounted(folder, exchange)
    if (!counted) continue
    const running = conversations.at(-1)
    if (running && goesOn(running.at(-1), counted)) running.push(counted)
    else conversations.push([counted])
  }
  return conversations
}

function toCounted(folder: string, exchange: RecordedExchange): CountedRequest | undefined {
  const { request, file, index, status } = exchange
  const read = readRecordedRequest(folder, request?.body)
  const model = readModel(request)
  const answer = status === 200 ? decodeRecordedAnswer(folder, exchange, model) : undefined
  return read && answer && { request: read, answer: { ...answer, model }, name: `${file} #${index}` }
}

function readModel(request: RecordedExchange['request']): string {
  const { model } = (request?.body ?? {}) as { readonly model?: unknown } // asked for in the next line
  if (typeof model === 'string') return model
  return decodeURIComponent(/models?\/([^/:]+(?::0|%3A0)?)/.exec(request?.uri ?? '')?.[1] ?? 'recorded')
}

function goesOn(before: CountedRequest | undefined, { request, name }: CountedRequest): boolean {
  if (!before || before.name.split(' ')[0] !== name.split(' ')[0]) return false
  const { items } = before.request
  return (
    items.length < request.items.length &&
    JSON.stringify(items) === JSON.stringify(request.items.slice(0, items.length))
  )
}

/** Quantile of the sorted errors, interpolated between two of them. */
function quantile(estimates: readonly Estimate[], share: number): number {
  const errors = estimates.map(({ estimated, counted }) => Math.abs(estimated / counted - 1)).toSorted((a, b) => a - b)
  const at = (errors.length - 1) * share
  const [low = Number.NaN, high = low] = [errors[Math.floor(at)], errors[Math.ceil(at)]]
  return low + (high - low) * (at - Math.floor(at))
}

function describe(what: string, estimates: readonly Estimate[]): string {
  const percent = (share: number): string => `${(quantile(estimates, share) * 100).toFixed(1)} %`
  return estimates.length === 0
    ? `none ${what}`
    : `${estimates.length} ${what}, median ${percent(0.5)}, p95 ${percent(0.95)}`
}
