// A version 1 voice app. It knows the protocol's description and nothing of Baton: processes its frames strictly in
// order, speaks each text to the end, runs the model's calls, and ignores frames it has seen, even across connections.

export interface V1AppOptions {
  readonly url: string
  readonly session: string
  /** Runs a call of the model: returns the result, or throws with the reason. */
  readonly runCall: (name: string, given: unknown) => string | Promise<string>
  /** Resolves when the speech has ended; immediately by default. */
  readonly speak?: (text: string) => unknown
  /**
   * Whether to lose results for which there is no connection, instead of sending them over the next one. False by
   * default.
   */
  readonly forgets?: boolean
  /** A WebSocket by default. Tests pass in-memory connections. */
  readonly openSocket?: (url: string) => V1Socket
  /** Makes the ids of its frames; random ones by default. They never repeat: a session takes each transcript once. */
  readonly newId?: () => string
}

export interface V1Frame {
  readonly id: string
  readonly type: string
  readonly sessionId: string
  readonly payload: Readonly<Record<string, string>>
}

export interface V1App {
  /** Every new frame, in the order in which the app processed it. */
  readonly frames: readonly V1Frame[]
  /** Sends a message, and waits until the app is idle again. @throws Error if the connection ends first */
  say(text: string): Promise<void>
  interrupt(): void
  /** Reconnects, after the connection broke or to replace it, and starts the session again. */
  reconnect(): Promise<void>
  close(): void
}

/** Connects and starts the session. */
export async function connectV1App(init: V1AppOptions): Promise<V1App> {
  const state: AppState = {
    init,
    frames: [],
    seen: new Set(),
    waits: new Set(),
    work: Promise.resolve(),
    unsent: [],
    socket: undefined,
    started: false,
  }
  await connect(state)
  return {
    frames: state.frames,
    say: async (text) => {
      // After a reconnect, the end of an earlier turn may be repeated before this one begins.
      let begun = false
      const idle = until(state, ({ payload: { arguments: given } }) => {
        begun ||= given === JSON.stringify({ role: 'user', text, isPartial: false })
        return begun && given === '{"state":"idle"}'
      })
      send(state, 'user.audio.transcript.final', { text })
      await idle
    },
    interrupt: () => send(state, 'audio.output.interrupted', { reason: 'barge_in' }),
    reconnect: () => connect(state),
    close: () => leave(state),
  }
}

interface AppState {
  readonly init: V1AppOptions
  readonly frames: V1Frame[]
  readonly seen: Set<string>
  readonly waits: Set<Wait>
  /** The frame being processed, and all that follow it. */
  work: Promise<void>
  /** Results available before the session is started again. */
  unsent: readonly object[]
  socket: V1Socket | undefined
  started: boolean
}

interface Wait {
  readonly isOver: (frame: V1Frame) => boolean
  readonly resolve: () => void
  readonly reject: (cause: Error) => void
}

async function connect(state: AppState): Promise<void> {
  const { init } = state
  leave(state)
  const socket = (init.openSocket ?? openPlatformSocket)(init.url)
  state.socket = socket
  socket.onText((text) => {
    // The protocol has only text frames, each the JSON of an envelope.
    const frame = JSON.parse(text) as V1Frame
    // Frames waiting when their connection closes are lost with it: the server knows what to send again.
    state.work = state.work.then(() => (state.socket === socket ? take(state, frame) : undefined))
  })
  socket.onClose((why) => {
    if (state.socket !== socket) return
    leave(state)
    for (const wait of state.waits) wait.reject(new Error(`the connection was closed: ${why}`))
    state.waits.clear()
  })
  await socket.opened
  const started = until(state, (frame) => frame.type === 'session.started')
  send(state, 'session.start', { sessionId: init.session })
  await started
}

function leave(state: AppState): void {
  const { socket } = state
  state.socket = undefined
  state.started = false
  socket?.close()
}

async function take(state: AppState, frame: V1Frame): Promise<void> {
  if (state.seen.has(frame.id)) return
  state.seen.add(frame.id)
  state.frames.push(frame)
  if (frame.type === 'session.started') start(state)
  if (frame.type === 'tool.call') answer(state, await runCall(state.init, frame))
  for (const wait of state.waits) {
    if (!wait.isOver(frame)) continue
    state.waits.delete(wait)
    wait.resolve()
  }
}

function start(state: AppState): void {
  const { unsent } = state
  state.started = true
  state.unsent = []
  for (const result of unsent) answer(state, result)
}

function until(state: AppState, isOver: Wait['isOver']): Promise<void> {
  return new Promise((resolve, reject) => void state.waits.add({ isOver, resolve, reject }))
}

function answer(state: AppState, result: object): void {
  if (state.started) send(state, 'tool.result', result)
  else if (state.init.forgets !== true) state.unsent = [...state.unsent, result]
}

function send(state: AppState, type: string, payload: object): void {
  const { session, newId = () => crypto.randomUUID() } = state.init
  const id = newId()
  const timestamp = new Date().toISOString()
  state.socket?.send(JSON.stringify({ id, type, sessionId: session, timestamp, payload }))
}

async function runCall(init: V1AppOptions, { payload }: V1Frame): Promise<object> {
  const { callId = '', name = '', arguments: given = '{}' } = payload
  try {
    const input: unknown = JSON.parse(given)
    if (name === 'tts.speak') await init.speak?.((input as { readonly text: string }).text) // the protocol's display call
    const isDisplay = /^(?:convo|tts)\./.test(name)
    return { callId, result: isDisplay ? 'ok' : await init.runCall(name, input), error: null }
  } catch (cause) {
    return { callId, result: null, error: cause instanceof Error ? cause.message : String(cause) }
  }
}

interface V1Socket {
  /** Resolves when the connection is established. @throws Error if it fails */
  readonly opened: Promise<void>
  send(text: string): void
  onText(listener: (text: string) => void): void
  onClose(listener: (why: string) => void): void
  close(): void
}

/** The connection of a version 1 app, as a small interface, and the platform's WebSocket behind it. */
function openPlatformSocket(url: string): V1Socket {
  const socket = new WebSocket(url)
  const opened = new Promise<void>((resolve, reject) => {
    socket.addEventListener('open', () => resolve(), { once: true })
    socket.addEventListener('error', () => reject(new Error(`no connection to ${url}`)), { once: true })
  })
  return {
    opened,
    send: (text) => socket.send(text),
    onText: (listener) => socket.addEventListener('message', ({ data }) => listener(String(data))),
    onClose: (listener) => socket.addEventListener('close', ({ code, reason }) => listener(`${code} ${reason}`)),
    close: () => socket.close(),
  }
}
