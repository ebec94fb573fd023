// Floor: undici's `dispatch` and nothing else.
import { runBareTurn } from './bare-turn.ts'
import type { OpenClient } from './client.ts'
import { createClient } from './client.ts'
import { createDispatchSend } from './dispatch-send.ts'

export const open: OpenClient = ({ base }) => {
  const { send, close } = createDispatchSend(base)
  return createClient((echo) => (onText) => runBareTurn({ send, onText, runTool: echo }), close)
}
