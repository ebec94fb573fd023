// Traces of protocol version 1: what apps do and receive, as text that is replayed over the real front and host.
// docs/protocol.md describes the frames, packages/protocol/traces/README.md the lines of a trace.
import type { Host, JsonObject, Message, Model } from '@baton/core/internal'
import { BatonError, defineAgent, readText, tool, voice } from '@baton/core/internal'
import type { ScriptedStep } from '@baton/core/testing'
import { createScriptedModel } from '@baton/core/testing'
import { createHost, createMemoryStore } from '@baton/host'
import type { MemorySocket, ConnectionRates } from '@baton/server/internal'
import {
  createMemorySocket,
  createConnectionRates,
  DEFAULT_CONNECTION_LIMITS,
  openV1Connection,
} from '@baton/server/internal'
import { createVirtualTime } from '../simulator/virtual-time.ts'

export interface PlayedTrace {
  /** The played lines, each followed by its indented outcome. */
  readonly text: string
  /** Frames that the server sent. */
  readonly frames: number
}

/**
 * Plays every unindented line. Only lines that move time let it pass.
 * @throws Error for an invalid line
 */
export async function playTrace(text: string): Promise<PlayedTrace> {
  const stage = createStage()
  const played: string[] = []
  for (const line of text.trimEnd().split('\n')) {
    if (line.startsWith('  ')) continue
    played.push(line)
    await playLine(stage, line)
    await quiet()
    played.push(...takeTold(stage).map((told) => `  ${told}`))
  }
  return { text: `${played.join('\n')}\n`, frames: stage.frames }
}

/** Grouped by receiver, since an app only sees its own order. The model's input is listed first. */
function takeTold({ told }: Stage): readonly string[] {
  const lines = [...told].flatMap(([who, heard]) => heard.map((line) => `${who} ${line}`))
  for (const heard of told.values()) heard.length = 0
  return lines
}

function tell({ told }: Stage, who: string, line: string): void {
  told.set(who, [...(told.get(who) ?? []), line])
}

/** A script's step as JSON: `error` is a code. */
type TraceStep = Omit<ScriptedStep, 'error'> & { readonly error?: BatonError['code'] }

interface Stage {
  /** Frames that the played line caused, by receiver. */
  readonly told: Map<string, string[]>
  readonly ids: TraceIds
  readonly time: ReturnType<typeof createVirtualTime>
  readonly steps: ScriptedStep[]
  agent: JsonObject
  limits: JsonObject
  /** Milliseconds that the store takes to write. */
  diskMs: number
  /** One process of the server; a later one has the same store. */
  life: Life | undefined
  startLife: () => Life
  readonly sockets: Map<string, MemorySocket>
  frames: number
}

interface Life {
  alive: boolean
  connect(name: string): void
}

async function playLine(stage: Stage, line: string): Promise<void> {
  const [, first = '', rest = ''] = /^(\S+) ?(.*)$/.exec(line) ?? []
  if (first === '' || first === '#') return
  if (first === 'agent') stage.agent = JSON.parse(rest) as JsonObject
  else if (first === 'limits') stage.limits = JSON.parse(rest) as JsonObject
  else if (first === 'model') stage.steps.push(toStep(JSON.parse(rest) as TraceStep))
  else if (first === 'disk') stage.diskMs = Number(rest)
  else if (first === 'time') await passTime(stage, Number(rest))
  else if (first === 'crash') crash(stage)
  else playApp(stage, first, rest)
}

function toStep({ error, ...step }: TraceStep): ScriptedStep {
  // In one piece, unless the trace says otherwise: the number of pieces a reader sees is unspecified.
  const pieces = step.pieces ?? (step.text === undefined ? [] : [step.text])
  return { ...step, pieces, ...(error && { error: new BatonError({ code: error, message: 'it failed' }) }) }
}

async function passTime({ time }: Stage, byMs: number): Promise<void> {
  const untilMs = time.clock.nowMs() + byMs
  do await quiet()
  while (await time.runNext(untilMs))
  await time.runUntil(untilMs)
}

/** Ends the process abruptly; the next connection starts another one with the same store. */
function crash(stage: Stage): void {
  if (stage.life) stage.life.alive = false
  stage.life = undefined
  stage.sockets.clear()
}

function playApp(stage: Stage, name: string, rest: string): void {
  if (rest === 'connects') {
    stage.life ??= stage.startLife()
    stage.life.connect(name)
    return
  }
  const socket = stage.sockets.get(name)
  if (!socket) throw new Error(`no app is named ${name}, or it is not connected: ${rest}`)
  if (rest.startsWith('> ')) socket.deliver(stage.ids.lengthen(rest.slice(2)))
  else if (rest === 'sends bytes') socket.deliver(undefined)
  else if (rest === 'jams') socket.jam()
  else if (rest === 'drops') socket.drop()
  else throw new Error(`not a valid trace line: ${name} ${rest}`)
}

function createStage(): Stage {
  const time = createVirtualTime(Date.UTC(2026, 0, 1))
  const memory = createMemoryStore({ clock: time.clock })
  const append: typeof memory.append = async (...written) => {
    if (stage.diskMs > 0) await time.wait(stage.diskMs)
    return memory.append(...written)
  }
  const store = { ...memory, append }
  const steps: ScriptedStep[] = []
  let ids = 0
  let calls = 0
  const newId = (): string => `new-${++ids}`
  const stage: Stage = {
    told: new Map([['model', []]]),
    ids: createTraceIds(),
    time,
    steps,
    agent: {},
    limits: {},
    diskMs: 0,
    life: undefined,
    startLife,
    sockets: new Map(),
    frames: 0,
  }

  function startLife(): Life {
    memory.expireLeases() // the previous holder of the store is dead
    const life: Life = { alive: true, connect }
    const start = (delayMs: number, callback: () => void): (() => void) =>
      time.timers.start(delayMs, () => {
        if (life.alive) callback()
      })
    const environment = {
      clock: time.clock,
      timers: { start },
      newId,
      transport: { post: () => Promise.reject(new Error('no network in a trace')) },
    }
    const model = listened(createScriptedModel({ steps: () => steps[calls++] ?? {}, timers: { start } }), stage)
    const host = createHost({ environment, store, agent: agentOf(model, stage.agent) })
    const rates = createConnectionRates({ ...DEFAULT_CONNECTION_LIMITS, ...stage.limits }, time.clock)

    function connect(name: string): void {
      const memory = createMemorySocket()
      stage.sockets.set(name, memory)
      openConnection(stage, { name, memory, host, rates, environment, isAlive: () => life.alive })
    }
    return life
  }
  return stage
}

interface Opening {
  readonly name: string
  readonly memory: MemorySocket
  readonly host: Host
  readonly rates: ConnectionRates
  readonly environment: Pick<Parameters<typeof openV1Connection>[0], 'clock' | 'timers' | 'newId'>
  readonly isAlive: () => boolean
}

function openConnection(stage: Stage, { name, memory, host, rates, environment, isAlive }: Opening): void {
  openV1Connection({
    ...environment,
    socket: {
      ...memory.socket,
      send: (text) => {
        const sent = isAlive() && memory.socket.send(text)
        if (!sent) return false
        stage.frames += 1
        tell(stage, name, `< ${stage.ids.shorten(text)}`)
        return true
      },
      close: (code, reason) => {
        if (isAlive() && !memory.closed()) tell(stage, name, `is closed: ${code} ${reason}`)
        memory.socket.close(code, reason)
      },
    },
    connection: `connection-${environment.newId()}`,
    host,
    rates,
    principal: { id: 'anonymous' },
    log: { info: () => {}, warn: () => {} },
    limits: { ...DEFAULT_CONNECTION_LIMITS, ...stage.limits },
    isDraining: () => false,
  })
}

/** The client tools of a trace that names none. */
const TOOLS: readonly JsonObject[] = [
  { name: 'agent.spawn', effect: 'once' },
  { name: 'agent.cancel', effect: 'idempotent' },
  { name: 'agent.list', effect: 'pure' },
  { name: 'agent.status', effect: 'pure' },
]

function agentOf(model: Model, { tools = TOOLS, ...init }: JsonObject) {
  // A trace is handwritten and read by defineAgent, which reports what is wrong with it.
  const clientTools = (tools as readonly JsonObject[]).map((each) =>
    tool({ description: 'runs in the app', input: { type: 'object' }, ...each } as unknown as Parameters<
      typeof tool
    >[0]),
  )
  return defineAgent({ name: 'traced', profile: voice, model, tools: clientTools, ...(init as object) })
}

/** Reports what the model is asked: the conversation as it sees it. */
function listened(model: Model, stage: Stage): Model {
  return {
    ...model,
    run: (request, sink, signal) => {
      const choice = request.toolChoice.type === 'none' ? ' (no more tools)' : ''
      tell(stage, 'model', `hears${choice} ${request.messages.map(heard).join(' | ')}`)
      return model.run(request, sink, signal)
    },
  }
}

function heard(message: Message): string {
  if (message.role === 'user') return `user ${JSON.stringify(readText(message.parts))}`
  if (message.role === 'tool')
    return message.parts
      .map((part) => `${part.name}${part.isError ? ' failed' : ''} ${JSON.stringify(readText(part.content))}`)
      .join(', ')
  const calls = message.parts.flatMap((part) => (part.type === 'call' ? [`${part.name} ${part.arguments}`] : []))
  const text = readText(message.parts)
  return ['assistant', ...(text === '' ? [] : [JSON.stringify(text)]), ...calls].join(' ')
}

/** Long enough for everything that waits only for promises. */
async function quiet(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
}

interface TraceIds {
  /** Shortens the ids in a server frame. */
  shorten(text: string): string
  /** Replaces short ids in an app's frame with those the server knows. */
  lengthen(text: string): string
}

/** `convo.setState:4`; the call's frame id follows the colon. */
const DISPLAY_CALL = /"callId":"((?:convo|tts)\.\w+):([^"]+)"/g
/** `call_<session>_<step>_<number>`. */
const MODEL_CALL = /"callId":"call_(?:\w+_)?(\d+_\d+)"/g

/**
 * Ids in a trace: frames are numbered in order of arrival, and call ids lose the part that names their session, so
 * that a trace shows repeats and does not depend on how ids are made.
 */
function createTraceIds(): TraceIds {
  const numbers = new Map<string, string>()
  const long = new Map<string, string>()
  const readNumber = (id: string): string => {
    const number = numbers.get(id) ?? String(numbers.size + 1)
    numbers.set(id, number)
    long.set(number, id)
    return number
  }
  const shortenCall = (whole: string, place: string): string => {
    const short = `"callId":"call_${place}"`
    long.set(short, whole)
    return short
  }
  return {
    shorten: (text) =>
      text
        .replace(/^\{"id":"([^"]+)"/, (_, id: string) => `{"id":"${readNumber(id)}"`)
        .replace(DISPLAY_CALL, (_, name: string, id: string) => `"callId":"${name}:${readNumber(id)}"`)
        .replace(MODEL_CALL, shortenCall),
    lengthen: (text) =>
      text
        .replace(DISPLAY_CALL, (_, name: string, id: string) => `"callId":"${name}:${long.get(id) ?? id}"`)
        .replace(MODEL_CALL, (short) => long.get(short) ?? short),
  }
}
