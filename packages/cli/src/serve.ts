// `baton serve`: the local host behind the WebSocket front, until a signal ends it.
import { createLogger } from '@baton/host'
import { createWebSocketFront, isLoopback } from '@baton/host/websocket'
import type { Console } from './console.ts'
import type { EmbeddedHost } from './embedded-host.ts'
import { openEmbeddedHost } from './embedded-host.ts'
import type { ServeOptions } from './options.ts'

/** Milliseconds that running turns get to end after a signal. */
const DRAIN_MS = 10_000

export async function serve(options: ServeOptions, terminal: Console): Promise<number> {
  const log = createLogger({ write: (line) => terminal.note(line.trimEnd()) })
  const embedded = await openEmbeddedHost({ ...options, terminal, log })
  const front = createWebSocketFront({
    ...embedded.environment,
    host: embedded.host,
    log,
    address: options.host,
    port: options.port,
    ...(options.origins && { origins: options.origins }),
    ...(options.eventBytes !== undefined && { limits: { eventBytes: options.eventBytes } }),
  })
  const stopped = untilStopped(terminal)
  try {
    const { url } = await front.listen()
    if (!isLoopback(options.host))
      terminal.note(`baton: whoever reaches ${options.host} can talk to this agent: it asks nobody for a password`)
    terminal.write(options.json ? `${JSON.stringify({ event: 'listening', url })}\n` : greeting(url, embedded))
  } catch (cause) {
    await embedded.stop(0)
    throw cause
  }
  await stopped
  front.drain()
  await embedded.stop(DRAIN_MS)
  await front.close()
  return 0
}

function untilStopped(terminal: Console): Promise<void> {
  return new Promise((resolve) => void terminal.onStop(resolve))
}

function greeting(url: string, { agent, choice }: EmbeddedHost): string {
  const tools = agent.tools.map((tool) => tool.name).join(', ')
  return `Baton listens on ${url}
  agent  ${agent.name}${tools === '' ? '' : `: ${tools}`}
  model  ${choice.id}, ${choice.reason}
  try    an app of protocol version 1 (docs/protocol.md), or in another terminal:
         npx baton chat --once "which files here mention WebSocket?"
  end    Ctrl+C
`
}
