// A voice app of protocol version 1 over a real connection. It knows the protocol's description and nothing of Baton: it
// works through its frames strictly one after another, runs the model's calls, and ignores frames that it has seen.

export interface V1AppInit {
  readonly url: string
  readonly session: string
  /** Runs a call of the model: the result, or a throw with the reason. Display calls succeed by themselves. */
  readonly runCall: (name: string, given: unknown) => string | Promise<string>
}

export interface V1Frame {
  readonly id: string
  readonly type: string
  readonly sessionId: string
  readonly payload: Readonly<Record<string, string>>
}

export interface V1App {
  /** Every frame that was not seen before, in order. */
  readonly frames: readonly V1Frame[]
  /** Says something, and waits until the app is idle again. */
  say(text: string): Promise<void>
  interrupt(): void
  close(): void
}

interface Wait {
  readonly isOver: (frame: V1Frame) => boolean
  readonly resolve: () => void
  readonly reject: (cause: Error) => void
}

/** Connects and starts the session. */
export async function connectV1App(init: V1AppInit): Promise<V1App> {
  const socket = new WebSocket(init.url)
  const frames: V1Frame[] = []
  const waits = new Set<Wait>()
  const seen = new Set<string>()
  let sent = 0
  let work = Promise.resolve()

  const send = (type: string, payload: object): void => {
    const id = `${init.session}-${++sent}`
    socket.send(JSON.stringify({ id, type, sessionId: init.session, timestamp: new Date().toISOString(), payload }))
  }
  const until = (isOver: (frame: V1Frame) => boolean): Promise<void> =>
    new Promise((resolve, reject) => void waits.add({ isOver, resolve, reject }))
  const take = async (frame: V1Frame): Promise<void> => {
    if (seen.has(frame.id)) return
    seen.add(frame.id)
    frames.push(frame)
    if (frame.type === 'tool.call') send('tool.result', await runCall(init, frame))
    for (const wait of waits) {
      if (!wait.isOver(frame)) continue
      waits.delete(wait)
      wait.resolve()
    }
  }
  socket.addEventListener('message', ({ data }) => {
    // The protocol has text frames only, and each is the JSON of an envelope.
    const frame = JSON.parse(String(data)) as V1Frame
    work = work.then(() => take(frame))
  })
  socket.addEventListener('close', ({ code, reason }) => {
    for (const wait of waits) wait.reject(new Error(`the connection was closed: ${code} ${reason}`))
  })
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener('open', () => resolve(), { once: true })
    socket.addEventListener('error', () => reject(new Error(`no connection to ${init.url}`)), { once: true })
  })
  const started = until((frame) => frame.type === 'session.started')
  send('session.start', { sessionId: init.session })
  await started
  return {
    frames,
    say: async (text) => {
      const idle = until((frame) => frame.payload['arguments'] === '{"state":"idle"}')
      send('user.audio.transcript.final', { text })
      await idle
    },
    interrupt: () => send('audio.output.interrupted', { reason: 'barge_in' }),
    close: () => socket.close(),
  }
}

async function runCall(init: V1AppInit, { payload }: V1Frame): Promise<object> {
  const { callId = '', name = '', arguments: given = '{}' } = payload
  if (/^(?:convo|tts)\./.test(name)) return { callId, result: 'ok', error: null }
  try {
    return { callId, result: await init.runCall(name, JSON.parse(given)), error: null }
  } catch (cause) {
    return { callId, result: null, error: cause instanceof Error ? cause.message : String(cause) }
  }
}
