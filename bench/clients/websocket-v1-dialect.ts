// Version 1 of Baton's wire from the app's side: it answers every call at once and counts the model's calls.
import { randomUUID } from 'node:crypto'
import type { Dialect, Heard } from './websocket-app.ts'
import type { EchoInput } from './client.ts'

interface Frame {
  readonly type: string
  readonly payload: {
    readonly callId: string
    readonly name: string
    readonly arguments: string
    readonly text: string
  }
}

export const v1Dialect: Dialect = {
  open: (session) => frame(session, 'session.start', { sessionId: session }),
  say: (session) => frame(session, 'user.audio.transcript.final', { text: 'hi' }),
  hear: (session, message) => {
    const { type, payload } = JSON.parse(message) as Frame
    if (type === 'session.started') return { started: true }
    if (type === 'assistant.speech.final') return { text: payload.text }
    if (type === 'error') return { error: message }
    return type === 'tool.call' ? called(session, payload) : {}
  },
}

function called(session: string, { callId, name, arguments: given }: Frame['payload']): Heard {
  const input = JSON.parse(given) as EchoInput & { readonly state?: string }
  const isEcho = name === 'echo'
  const result = isEcho ? `echo:${input.text}:${input.n}` : 'ok'
  return {
    answer: frame(session, 'tool.result', { callId, result, error: null }),
    tools: isEcho ? 1 : 0,
    ended: name === 'convo.setState' && input.state === 'idle',
  }
}

function frame(sessionId: string, type: string, payload: object): string {
  return JSON.stringify({ id: randomUUID(), type, sessionId, timestamp: new Date().toISOString(), payload })
}
