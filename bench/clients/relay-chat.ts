// Floor of the chat over HTTP: undici's `dispatch` and a bare node:http server that sends each delta as a chunk of the
// AI SDK's stream. Data from one provider read becomes one write.
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Send } from './bare-turn.ts'
import { runBareTurn } from './bare-turn.ts'
import type { OpenClient } from './client.ts'
import { createDispatchSend } from './dispatch-send.ts'
import { turnsOfApp } from './websocket-turns.ts'

export const open: OpenClient = async ({ base }) => {
  const { send, close } = createDispatchSend(base)
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (piece: string) => (body += piece))
    request.on('end', () => {
      JSON.parse(body)
      relayTurn(response, send).catch((cause: Error) => response.destroy(cause))
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return turnsOfApp('chat-app.ts', {
    words: [`http://127.0.0.1:${port}/api/chat`],
    missingChars: 0,
    close: async () => {
      server.close()
      await close()
    },
  })
}

async function relayTurn(response: ServerResponse, send: Send): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'x-vercel-ai-ui-message-stream': 'v1' })
  let waiting = ''
  const sendJoined: Send = (body, onBytes) =>
    send(body, (bytes) => {
      onBytes(bytes)
      if (waiting !== '') response.write(waiting)
      waiting = ''
    })
  const tell = (chunk: object): void => {
    waiting += `data: ${JSON.stringify(chunk)}\n\n`
  }
  tell({ type: 'start' })
  tell({ type: 'text-start', id: '1' })
  const onText = (delta: string): void => tell({ type: 'text-delta', id: '1', delta })
  await runBareTurn({ send: sendJoined, onText, runTool: () => '' })
  tell({ type: 'text-end', id: '1' })
  tell({ type: 'finish', finishReason: 'stop' })
  response.end(`${waiting}data: [DONE]\n\n`)
}
