// Floor: the global `fetch` and nothing else. The targets are ratios to this client.
import type { Send } from './bare-turn.ts'
import { HEADERS, runBareTurn } from './bare-turn.ts'
import type { OpenClient } from './client.ts'
import { createClient } from './client.ts'

export const open: OpenClient = ({ base }) => {
  const send: Send = async (body, onBytes) => {
    const response = await fetch(`${base}/v1/messages`, { method: 'POST', headers: HEADERS, body })
    if (response.body) for await (const bytes of response.body) onBytes(bytes as Uint8Array)
  }
  return createClient((echo) => (onText) => runBareTurn({ send, onText, runTool: echo }))
}
