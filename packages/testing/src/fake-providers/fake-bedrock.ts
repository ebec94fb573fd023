// A fake Bedrock ConverseStream server: binary frames in the order and with the padding of recorded ones, verified
// signatures, AWS's errors. Exceptions within a stream are handmade from AWS's model of the API.
import type { JsonObject } from '@baton/core/internal'
import { isJsonObject } from '@baton/core/internal'
import { findTooLarge } from './media-limits.ts'
import { validateBedrockRequest } from '../wires/index.ts'
import { encodeFrame } from '@baton/models/internal'
import type { FakeAsked, FakeCall, FakeError, FakeRequest, FakeSaid, FakeScript, FakeServer } from './fake-server.ts'
import {
  describeDelay,
  findJsonIssue,
  joinIssues,
  listObjects,
  readText,
  splitPieces,
  startFakeServer,
} from './fake-server.ts'
import { createHash, createHmac } from 'node:crypto'

/** Keys that the server accepts. */
export const FAKE_BEDROCK_KEYS: FakeBedrockKeys = {
  bearer: 'bedrock-key-of-a-test',
  accessKeyId: 'AKIAOFATEST',
  secretAccessKey: 'secret-of-a-test',
}

/** Use its address as AWS_ENDPOINT_URL_BEDROCK_RUNTIME. Only Anthropic's models produce thinking. */
export function startFakeBedrock(script: FakeScript): Promise<FakeServer> {
  return startFakeServer(
    {
      findRefusal,
      readModel,
      listTools: ({ toolConfig }) =>
        listObjects(isJsonObject(toolConfig) ? toolConfig['tools'] : []).map(({ toolSpec }) =>
          isJsonObject(toolSpec) ? readText(toolSpec['name']) : '',
        ),
      listResults,
      // The type is in a header; the body has only the message (recorded).
      encodeError: (error) => ({
        body: { message: error.message },
        headers: {
          ...describeDelay(error),
          'x-amzn-errortype': `${readType(error)}:http://internal.amazon.com/coral/com.amazon.bedrock/`,
        },
      }),
      encodeStream: (said, request) => ({
        type: 'application/vnd.amazon.eventstream',
        pieces: listFrames(said, request),
      }),
      encodeWhole,
      idHeader: 'x-amzn-requestid',
    },
    script,
  )
}

const TYPES: Readonly<Record<number, string>> = {
  400: 'ValidationException',
  401: 'AccessDeniedException',
  403: 'AccessDeniedException',
  404: 'ResourceNotFoundException',
  429: 'ThrottlingException',
  503: 'ServiceUnavailableException',
  529: 'ServiceUnavailableException',
}

function readType({ status, type = TYPES[status] ?? 'InternalServerException' }: FakeError): string {
  return type
}

function readModel({ url }: Pick<FakeAsked, 'url'>): string {
  return decodeURIComponent(/^\/model\/([^/?]+)\/converse-stream$/.exec(url)?.[1] ?? '')
}

function findRefusal(asked: FakeAsked): FakeError | undefined {
  const { method, url, body } = asked
  const model = readModel(asked)
  if (method !== 'POST' || model === '')
    return { status: 404, type: 'UnknownOperationException', message: `${method} ${url}` }
  const wrongKey = findAuthRefusal(asked, FAKE_BEDROCK_KEYS)
  if (wrongKey !== undefined) return { status: 403, message: wrongKey }
  if (!/amazon|anthropic|mistral|meta/.test(model))
    return { status: 400, message: 'The provided model identifier is invalid.' }
  const tooLarge = findTooLarge('bedrock', asked)
  if (tooLarge) return tooLarge
  const issue = findJsonIssue(asked) ?? joinIssues(validateBedrockRequest(body ?? {}))
  return issue === undefined ? undefined : { status: 400, message: issue }
}

function listResults(body: JsonObject): readonly string[] {
  return listObjects(listObjects(body['messages']).at(-1)?.['content']).flatMap(({ toolResult }) => {
    if (!isJsonObject(toolResult)) return []
    const texts = listObjects(toolResult['content']).map(({ text }) => readText(text))
    return [`${toolResult['status'] === 'error' ? 'error: ' : ''}${texts.join('')}`]
  })
}

const USAGE = { inputTokens: 10, outputTokens: 5, totalTokens: 15 }

function findStop({ stopReason, calls = [] }: FakeSaid): string {
  return stopReason ?? (calls.length > 0 ? 'tool_use' : 'end_turn')
}

/** Encodes the answer of Converse without a stream. */
function encodeWhole(said: FakeSaid, { model, index }: FakeRequest): JsonObject {
  const { reasoning, text = '', calls = [] } = said
  const reasoningText = { text: reasoning ?? '', signature: `signature-of-answer-${index}` }
  const content = [
    ...(reasoning !== undefined && /anthropic/.test(model) ? [{ reasoningContent: { reasoningText } }] : []),
    ...(text === '' ? [] : [{ text }]),
    ...calls.map((call, number) => ({ toolUse: { ...call, toolUseId: `tooluse_${index}_${number}` } })),
  ]
  return { output: { message: { role: 'assistant', content } }, stopReason: findStop(said), usage: USAGE }
}

const PADDING = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'

function listFrames(said: FakeSaid, { model, index }: FakeRequest): readonly Uint8Array[] {
  const { text = '', calls = [], fails } = said
  const thought = /anthropic/.test(model) ? said.reasoning : undefined
  const reasoning = thought === undefined ? [] : [reasoningEvents(thought, `signature-of-answer-${index}`)]
  const texts = text === '' ? [] : [splitPieces(text).map((piece) => delta({ text: piece }))]
  const asked = calls.map((call, number) => callEvents(call, `tooluse_${index}_${number}`))
  const blocks = [...reasoning, ...texts, ...asked].flatMap((events, contentBlockIndex) =>
    [...events, { type: 'contentBlockStop', payload: {} }].map(({ type, payload }) => ({
      type,
      payload: { contentBlockIndex, ...payload },
    })),
  )
  const stopReason = findStop(said)
  const end = fails
    ? [exceptionFrame(fails)]
    : [
        eventFrame('messageStop', { stopReason }, index),
        eventFrame('metadata', { usage: USAGE, metrics: { latencyMs: 1 } }, index + 9),
      ]
  return [
    eventFrame('messageStart', { role: 'assistant' }, index),
    ...blocks.map(({ type, payload }, number) => eventFrame(type, payload, number * 5)),
    ...end,
  ]
}

interface Event {
  readonly type: string
  readonly payload: JsonObject
}

function delta(value: JsonObject): Event {
  return { type: 'contentBlockDelta', payload: { delta: value } }
}

function reasoningEvents(thought: string, signature: string): readonly Event[] {
  const texts = splitPieces(thought).map((text) => delta({ reasoningContent: { text } }))
  return [...texts, delta({ reasoningContent: { signature } })]
}

/** Missing arguments are an empty string. */
function callEvents({ name, input }: FakeCall, toolUseId: string): readonly Event[] {
  const pieces = Object.keys(input).length === 0 ? [''] : splitPieces(JSON.stringify(input))
  const start = { type: 'contentBlockStart', payload: { start: { toolUse: { name, toolUseId } } } }
  return [start, ...pieces.map((piece) => delta({ toolUse: { input: piece } }))]
}

function eventFrame(type: string, payload: JsonObject, seed: number): Uint8Array {
  const headers = { ':event-type': type, ':content-type': 'application/json', ':message-type': 'event' }
  return encodeFrame({ headers, body: toBytes({ ...payload, p: PADDING.slice(0, 1 + ((seed * 11) % 61)) }) })
}

function exceptionFrame(error: FakeError): Uint8Array {
  const type = readType(error)
  const headers = {
    ':exception-type': type.charAt(0).toLowerCase() + type.slice(1),
    ':content-type': 'application/json',
    ':message-type': 'exception',
  }
  return encodeFrame({ headers, body: toBytes({ message: error.message }) })
}

function toBytes(payload: JsonObject): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(payload))
}

interface FakeBedrockKeys {
  readonly bearer: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
}

/**
 * Authentication of the fake Bedrock server: a bearer key, or a version 4 signature, computed here by hand from AWS's
 * description (IAM user guide, "Create a signed AWS API request"), so that it is independent of the signer under test.
 * AWS's rejection, or `undefined` if the request is authentic. Messages are verbatim.
 */
function findAuthRefusal(asked: FakeAsked, keys: FakeBedrockKeys): string | undefined {
  const { authorization } = asked.headers
  if (authorization === undefined) return 'Missing Authentication Token'
  if (authorization.startsWith('Bearer '))
    return authorization === `Bearer ${keys.bearer}`
      ? undefined
      : 'Authentication failed: Please make sure your API Key is valid.'
  const parts = /^AWS4-HMAC-SHA256 Credential=([^/]+)\/([^,]+), SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/.exec(
    authorization,
  )
  const [, keyId, scope = '', signedHeaders = '', signature] = parts ?? []
  if (keyId !== keys.accessKeyId) return 'The security token included in the request is invalid.'
  const expected = buildSignature(asked, { scope, signedHeaders, secret: keys.secretAccessKey })
  return signature === expected
    ? undefined
    : 'The request signature we calculated does not match the signature you provided.'
}

interface Signed {
  readonly scope: string
  readonly signedHeaders: string
  readonly secret: string
}

function buildSignature(asked: FakeAsked, { scope, signedHeaders, secret }: Signed): string {
  const header = (name: string) => String(asked.headers[name] ?? '').trim()
  const path = asked.url
    .split('/')
    .map((segment) => encodeURIComponent(segment))
    .join('/')
  const names = signedHeaders.split(';')
  const headers = names.map((name) => `${name}:${header(name)}\n`).join('')
  const canonical = ['POST', path, '', headers, signedHeaders, sha256(asked.text)].join('\n')
  const toSign = ['AWS4-HMAC-SHA256', header('x-amz-date'), scope, sha256(canonical)].join('\n')
  let key: Buffer = Buffer.from(`AWS4${secret}`)
  for (const part of scope.split('/')) key = createHmac('sha256', key).update(part).digest()
  return createHmac('sha256', key).update(toSign).digest('hex')
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
