// The protocol between the bare relay and its app: the minimum for showing a growing text and running a tool.
import type { Dialect } from './websocket-app.ts'
import type { EchoInput } from './client.ts'

export type BareFrame =
  | { readonly type: 'say'; readonly text: string }
  | { readonly type: 'partial' | 'final'; readonly text: string }
  | { readonly type: 'call'; readonly id: number; readonly input: EchoInput }
  | { readonly type: 'result'; readonly id: number; readonly result: string }

export const bareDialect: Dialect = {
  open: () => undefined,
  say: () => write({ type: 'say', text: 'hi' }),
  hear: (_session, message) => {
    const frame = JSON.parse(message) as BareFrame
    if (frame.type === 'final') return { text: frame.text, ended: true }
    if (frame.type !== 'call') return {}
    const { id, input } = frame
    return { answer: write({ type: 'result', id, result: `echo:${input.text}:${input.n}` }), tools: 1 }
  },
}

export function write(frame: BareFrame): string {
  return JSON.stringify(frame)
}
