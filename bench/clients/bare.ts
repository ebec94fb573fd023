// Floor of an adapter: undici's `dispatch` and a hand-written reader of the same wire. It parses every event and keeps
// the text, without checksums, limits, deadlines, stop reasons, usage or unknown events.
import type { WireName } from '../scenarios.ts'
import type { OpenClient } from './client.ts'
import { createClient } from './client.ts'
import { createDispatchSend } from './dispatch-send.ts'

/** The text fields are undefined for other events. */
interface BareEvent {
  readonly type?: string
  readonly delta?: string | { readonly text?: string }
  readonly choices?: readonly { readonly delta: { readonly content?: string } }[]
  readonly candidates?: readonly { readonly content: { readonly parts: readonly { readonly text: string }[] } }[]
}

interface BareWire {
  readonly path: string
  readonly readText: (event: BareEvent) => string | undefined
}

const deltaText = ({ delta }: BareEvent): string | undefined => (typeof delta === 'object' ? delta.text : undefined)
const BARE_WIRES: Readonly<Record<WireName, BareWire>> = {
  messages: { path: 'v1/messages', readText: deltaText },
  responses: {
    path: 'v1/responses',
    readText: ({ type, delta }) =>
      type === 'response.output_text.delta' && typeof delta === 'string' ? delta : undefined,
  },
  chat: { path: 'v1/chat/completions', readText: ({ choices }) => choices?.[0]?.delta.content },
  gemini: {
    path: 'v1beta/models/mock-model:streamGenerateContent',
    readText: ({ candidates }) => candidates?.[0]?.content.parts[0]?.text,
  },
  converse: { path: 'model/mock-model/converse-stream', readText: deltaText },
}
const BODY = JSON.stringify({ model: 'mock-model', stream: true, messages: [{ role: 'user', content: 'hi' }] })

export const open: OpenClient = ({ base, wire }) => {
  const { path, readText } = BARE_WIRES[wire as WireName] // as named by the scenario
  const { send, close } = createDispatchSend(base, path)
  const turn = async (onText: (text: string) => void): Promise<void> => {
    let whole = ''
    const onEvent = (event: BareEvent): void => {
      const text = readText(event)
      if (text === undefined) return
      whole += text
      onText(text)
    }
    await send(BODY, wire === 'converse' ? readFrames(onEvent) : readEvents(onEvent))
    if (whole === '') throw new Error(`${wire}: the answer was empty`)
  }
  return createClient(() => turn, close)
}

/** Reads only what this provider sends: lines that begin with `data: {`. */
function readEvents(onEvent: (event: BareEvent) => void): (bytes: Uint8Array) => void {
  const decoder = new TextDecoder()
  let rest = ''
  return (bytes) => {
    rest += decoder.decode(bytes, { stream: true })
    let from = 0
    for (let end = rest.indexOf('\n'); end !== -1; end = rest.indexOf('\n', from)) {
      if (rest.startsWith('data: {', from)) onEvent(JSON.parse(rest.slice(from + 6, end)) as BareEvent)
      from = end + 1
    }
    rest = rest.slice(from)
  }
}

/** Number of bytes of a frame before its headers, and after its body. */
const PRELUDE_BYTES = 12
const CHECKSUM_BYTES = 4

function readFrames(onEvent: (event: BareEvent) => void): (bytes: Uint8Array) => void {
  let rest: Buffer = Buffer.alloc(0)
  return (bytes) => {
    rest = rest.length === 0 ? Buffer.from(bytes) : Buffer.concat([rest, bytes])
    let from = 0
    while (rest.length - from >= PRELUDE_BYTES) {
      const end = from + rest.readUInt32BE(from)
      if (rest.length < end) break
      const body = from + PRELUDE_BYTES + rest.readUInt32BE(from + 4)
      onEvent(JSON.parse(rest.toString('utf8', body, end - CHECKSUM_BYTES)) as BareEvent)
      from = end
    }
    rest = rest.subarray(from)
  }
}
