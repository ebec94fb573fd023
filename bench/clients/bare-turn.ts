// A turn without a library: the hand-written reader and tool loop shared by the floors. It has no validation,
// deadlines, limits or log, and shows the cost of the network and JSON alone.
import type { EchoInput } from './client.ts'
import { ECHO_SCHEMA } from './client.ts'

/** Sends a body and passes on the bytes of the answer; resolves at its end. */
export type Send = (body: string, onBytes: (bytes: Uint8Array) => void) => Promise<void>

export interface BareTurn {
  readonly send: Send
  readonly onText: (text: string) => void
  readonly runTool: (input: EchoInput) => string | Promise<string>
}

export const HEADERS = { 'content-type': 'application/json', 'x-api-key': 'k', 'anthropic-version': '2023-06-01' }
const TOOLS = [{ name: 'echo', description: 'echo', input_schema: ECHO_SCHEMA }]

export async function runBareTurn({ send, onText, runTool }: BareTurn): Promise<void> {
  const messages: object[] = [{ role: 'user', content: 'hi' }]
  for (;;) {
    const answer: Answer = { blocks: [], stop: '' }
    const body = JSON.stringify({ model: 'mock-model', max_tokens: 4096, stream: true, tools: TOOLS, messages })
    await send(
      body,
      readEvents((event) => take(answer, event, onText)),
    )
    messages.push({ role: 'assistant', content: answer.blocks })
    if (answer.stop !== 'tool_use') return
    const results = answer.blocks.map(async ({ id, input }) => {
      const content = await runTool(input as EchoInput) // as sent by the provider
      return { type: 'tool_result', tool_use_id: id, content }
    })
    messages.push({ role: 'user', content: await Promise.all(results) })
  }
}

interface Block {
  readonly type: string
  readonly id?: string
  text?: string
  json?: string
  input?: unknown
}

interface Answer {
  readonly blocks: Block[]
  stop: string
}

interface Event {
  readonly type: string
  readonly index: number
  readonly content_block: Block
  readonly delta: {
    readonly type: string
    readonly text: string
    readonly partial_json: string
    readonly stop_reason: string
  }
}

function take(answer: Answer, event: Event, onText: (text: string) => void): void {
  const block = answer.blocks[event.index]
  switch (event.type) {
    case 'content_block_start':
      answer.blocks[event.index] = {
        ...event.content_block,
        ...(event.content_block.type === 'tool_use' && { json: '' }),
      }
      break
    case 'content_block_delta':
      if (event.delta.type === 'text_delta') {
        if (block) block.text += event.delta.text
        onText(event.delta.text)
      } else if (block) block.json += event.delta.partial_json
      break
    case 'content_block_stop':
      if (block?.json !== undefined) {
        block.input = JSON.parse(block.json)
        delete block.json
      }
      break
    case 'message_delta':
      answer.stop = event.delta.stop_reason
      break
    default:
      break
  }
}

/** Reads only what this provider sends: lines that begin with `data: {`. */
function readEvents(onEvent: (event: Event) => void): (bytes: Uint8Array) => void {
  const decoder = new TextDecoder()
  let rest = ''
  return (bytes) => {
    rest += decoder.decode(bytes, { stream: true })
    let from = 0
    for (let end = rest.indexOf('\n'); end !== -1; end = rest.indexOf('\n', from)) {
      if (rest.startsWith('data: {', from)) onEvent(JSON.parse(rest.slice(from + 6, end)) as Event)
      from = end + 1
    }
    rest = rest.slice(from)
  }
}
