// Floor: node:http and nothing else, Node's minimum.
import { Agent, request } from 'node:http'
import type { Send } from './bare-turn.ts'
import { HEADERS, runBareTurn } from './bare-turn.ts'
import type { OpenClient } from './client.ts'
import { createClient } from './client.ts'

export const open: OpenClient = ({ base }) => {
  const agent = new Agent({ keepAlive: true })
  const url = new URL(`${base}/v1/messages`)
  const send: Send = (body, onBytes) =>
    new Promise((resolve, reject) => {
      const headers = { ...HEADERS, 'content-length': Buffer.byteLength(body) }
      const sent = request(url, { agent, method: 'POST', headers }, (response) => {
        response.on('data', onBytes)
        response.on('end', resolve)
        response.on('error', reject)
      })
      sent.on('error', reject)
      sent.end(body)
    })
  return createClient((echo) => (onText) => runBareTurn({ send, onText, runTool: echo }))
}
