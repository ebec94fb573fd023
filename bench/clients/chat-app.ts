// The page at the other end of a chat over HTTP, in its own process so that only the server's work is measured. It
// sends the same requests as the AI SDK's transport, and concatenates the text of the UI message stream.
import { randomUUID } from 'node:crypto'
import { Agent, request } from 'node:http'
import type { Connection, Turned } from './app-orders.ts'
import { serveOrders } from './app-orders.ts'

const [, , url = ''] = process.argv
const agent = new Agent({ keepAlive: true })
serveOrders(() => Promise.resolve(openChat()))

function openChat(): Connection {
  const id = randomUUID()
  return {
    turn: () => {
      const message = { id: randomUUID(), role: 'user', parts: [{ type: 'text', text: 'hi' }] }
      return post(JSON.stringify({ id, trigger: 'submit-message', messages: [message] }))
    },
  }
}

function post(body: string): Promise<Turned> {
  const { promise, resolve, reject } = Promise.withResolvers<Turned>()
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
  const asked = request(url, { method: 'POST', agent, headers }, (response) => {
    let chars = 0
    let rest = ''
    let isWhole = false
    response.setEncoding('utf8')
    response.on('data', (piece: string) => {
      rest += piece
      const lines = rest.split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) {
        if (line === 'data: [DONE]') isWhole = true
        else if (line.startsWith('data: ')) chars += readDelta(line.slice(6))
      }
    })
    response.on('error', reject)
    response.on('end', () => {
      if (isWhole) resolve({ chars, tools: 0 })
      else reject(new Error(`the answer with status ${response.statusCode} was cut off: ${rest.slice(0, 200)}`))
    })
  })
  asked.on('error', reject)
  asked.end(body)
  return promise
}

function readDelta(data: string): number {
  const { type, delta } = JSON.parse(data) as { readonly type: string; readonly delta: string }
  return type === 'text-delta' ? delta.length : 0
}
