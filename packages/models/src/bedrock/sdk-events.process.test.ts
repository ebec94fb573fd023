// The events of every recorded stream as AWS's own client reads them (it has no accumulator), and a signature as it
// makes one. Runs in a separate process, because that client does not load under Vite.
import type { RecordedExchange } from '@baton/testing/recordings'
import { countLine, openRecordings } from '@baton/testing/recordings'
import { execFileSync } from 'node:child_process'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'
import { createEventStreamReader } from './event-stream.ts'
import { signRequest } from './sign.ts'

const recordings = openRecordings('Bedrock’s recordings beside AWS’s client', (message) => console.warn(message))
const streams = (recordings?.exchangesOf('bedrock') ?? [])
  .filter(({ isStream, status, file }) => isStream && status === 200 && !file.endsWith('.txt'))
  .map((exchange) => [`${exchange.file.replace(/^bedrock\//, '')} #${exchange.index}`, exchange] as const)
const counts = { streams: 0, events: 0 }
afterAll(() => {
  if (recordings) console.info(countLine('recordings bedrock beside AWS’s client', counts))
})

/** Reads a stream from standard input and prints the events received and the request sent. */
const PROGRAM = `
  const { BedrockRuntimeClient, ConverseStreamCommand } = require('@aws-sdk/client-bedrock-runtime')
  const { Readable } = require('node:stream')
  const body = require('node:fs').readFileSync(0)
  let sent
  const handle = async (request) => {
    sent = { path: request.path, headers: request.headers, body: new TextDecoder().decode(request.body) }
    const headers = { 'content-type': 'application/vnd.amazon.eventstream' }
    return { response: { statusCode: 200, headers, body: Readable.from([body]) } }
  }
  const client = new BedrockRuntimeClient({
    region: 'us-east-1',
    credentials: { accessKeyId: 'AKID', secretAccessKey: 'secret', sessionToken: 'a+b/c==' },
    requestHandler: { handle, metadata: { handlerProtocol: 'http/1.1' } },
  })
  const run = async () => {
    const messages = [{ role: 'user', content: [{ text: 'größe?' }] }]
    const modelId = 'us.amazon.nova-lite-v1:0'
    const answer = await client.send(new ConverseStreamCommand({ modelId, messages }))
    const events = []
    for await (const event of answer.stream) events.push(event)
    console.log(JSON.stringify({ events, sent }))
  }
  run()
`

interface Seen {
  readonly events: readonly unknown[]
  readonly sent: { readonly path: string; readonly headers: Readonly<Record<string, string>>; readonly body: string }
}

function askSdk(body: Uint8Array): Seen {
  const cwd = dirname(fileURLToPath(import.meta.url))
  const output = execFileSync(process.execPath, ['-e', PROGRAM], {
    cwd,
    input: body,
    encoding: 'utf8',
    timeout: 180_000,
    env: { ...process.env, NODE_OPTIONS: '' },
  })
  // output of the program above
  return JSON.parse(output) as Seen
}

function ourEvents({ body }: RecordedExchange): readonly object[] {
  const events: object[] = []
  createEventStreamReader(({ type, payload }) => events.push({ [type]: payload })).push(body)
  return events
}

describe.skipIf(!recordings)('events', () => {
  test.each(streams)('%s', (_name, exchange) => {
    const { events } = askSdk(exchange.body)
    const ours = ourEvents(exchange)
    // Its client drops padding and fields missing from AWS's model of the API.
    expect(ours).toMatchObject(events)
    counts.streams++
    counts.events += ours.length
  })
})

test('a signature is the one that AWS’s client makes for the same request', async () => {
  const { sent } = askSdk(new Uint8Array())
  const { authorization = '', 'x-amz-date': date = '', host = '' } = sent.headers
  const nowMs = Date.parse(date.replace(/^(....)(..)(..)T(..)(..)(..)Z$/, '$1-$2-$3T$4:$5:$6Z'))
  const signed = /SignedHeaders=([^,]+)/.exec(authorization)?.[1]?.split(';') ?? []
  const ours = new Set(['host', 'x-amz-date', 'x-amz-security-token'])
  const headers = Object.fromEntries(
    signed.filter((name) => !ours.has(name)).map((name) => [name, sent.headers[name] ?? '']),
  )
  const credentials = { accessKeyId: 'AKID', secretAccessKey: 'secret', sessionToken: 'a+b/c==' }
  const request = { url: `https://${host}${sent.path}`, headers, body: sent.body }
  const made = await signRequest(request, { region: 'us-east-1', credentials, nowMs })
  expect(made['authorization']).toBe(authorization)
})
