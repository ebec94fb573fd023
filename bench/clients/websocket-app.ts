// The app at the other end of a WebSocket, in its own process so that only the server's work is measured. It uses
// version 1 of Baton's wire or the bare relay's minimal protocol, starts the requested turns, and runs their tools.
import { randomUUID } from 'node:crypto'
import WebSocket from 'ws'
import type { Connection } from './app-orders.ts'
import { serveOrders } from './app-orders.ts'
import { bareDialect } from './websocket-bare-dialect.ts'
import { v1Dialect } from './websocket-v1-dialect.ts'

/** How an app encodes its messages and interprets those that it receives. */
export interface Dialect {
  open(session: string): string | undefined
  say(session: string): string
  /** `answer` is sent back; `text` is the complete text of the turn; `ended` is set after its last frame. */
  hear(session: string, message: string): Heard
}

export interface Heard {
  readonly started?: boolean
  readonly answer?: string | undefined
  readonly tools?: number
  readonly text?: string
  readonly ended?: boolean
  readonly error?: string
}

const [, , url = '', kind = ''] = process.argv
const dialect = kind === 'v1' ? v1Dialect : bareDialect
serveOrders(connect)

function connect(): Promise<Connection> {
  const session = randomUUID()
  const socket = new WebSocket(url, { perMessageDeflate: false })
  const { promise, resolve, reject } = Promise.withResolvers<Connection>()
  let waiting: PromiseWithResolvers<{ chars: number; tools: number }> | undefined
  let seen = { chars: 0, tools: 0 }
  const connection: Connection = {
    turn: () => {
      seen = { chars: 0, tools: 0 }
      waiting = Promise.withResolvers()
      socket.send(dialect.say(session))
      return waiting.promise
    },
  }
  socket.on('open', () => {
    const greeting = dialect.open(session)
    if (greeting === undefined) resolve(connection)
    else socket.send(greeting)
  })
  socket.on('error', reject)
  socket.on('message', (data: Buffer) => {
    const heard = dialect.hear(session, data.toString())
    if (heard.answer !== undefined) socket.send(heard.answer)
    if (heard.started) resolve(connection)
    seen.tools += heard.tools ?? 0
    seen.chars += heard.text?.length ?? 0
    if (heard.error !== undefined) (waiting ?? { reject }).reject(new Error(heard.error))
    else if (heard.ended) waiting?.resolve(seen)
  })
  return promise
}
