// Floor of the conductor: undici's `dispatch` and a bare `ws` server that sends the text so far at most once in 50 ms.
import type { AddressInfo } from 'node:net'
import type { WebSocket } from 'ws'
import { WebSocketServer } from 'ws'
import type { Send } from './bare-turn.ts'
import { runBareTurn } from './bare-turn.ts'
import type { EchoInput, OpenClient } from './client.ts'
import { createDispatchSend } from './dispatch-send.ts'
import type { BareFrame } from './websocket-bare-dialect.ts'
import { write } from './websocket-bare-dialect.ts'
import { turnsOverWebSocket } from './websocket-turns.ts'

const PARTIAL_MS = 50

export const open: OpenClient = async ({ base }) => {
  const { send, close } = createDispatchSend(base)
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false })
  server.on('connection', (socket) => serve(socket, send))
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  return turnsOverWebSocket({
    url: `ws://127.0.0.1:${port}`,
    dialect: 'bare',
    close: async () => {
      server.close()
      await close()
    },
  })
}

function serve(socket: WebSocket, send: Send): void {
  const results = new Map<number, (result: string) => void>()
  let calls = 0
  const runTool = (input: EchoInput): Promise<string> =>
    new Promise((resolve) => {
      calls += 1
      results.set(calls, resolve)
      socket.send(write({ type: 'call', id: calls, input }))
    })
  socket.on('message', (data: Buffer) => {
    const frame = JSON.parse(data.toString()) as BareFrame
    if (frame.type === 'result') {
      results.get(frame.id)?.(frame.result)
      results.delete(frame.id)
    } else if (frame.type === 'say')
      relayTurn(socket, send, runTool).catch((cause: Error) => socket.close(1011, cause.message))
  })
}

async function relayTurn(socket: WebSocket, send: Send, runTool: (input: EchoInput) => Promise<string>): Promise<void> {
  let whole = ''
  let shownAtMs = 0
  let timer: NodeJS.Timeout | undefined
  const show = (): void => {
    timer = undefined
    shownAtMs = Date.now()
    socket.send(write({ type: 'partial', text: whole.trim() }))
  }
  const onText = (text: string): void => {
    whole += text
    const waitMs = shownAtMs + PARTIAL_MS - Date.now()
    if (waitMs <= 0) show()
    else timer ??= setTimeout(show, waitMs)
  }
  await runBareTurn({ send, onText, runTool })
  if (timer) {
    clearTimeout(timer)
    show()
  }
  socket.send(write({ type: 'final', text: whole.trim() }))
}
