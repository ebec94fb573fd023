// A voice in virtual time: a session played by a test, and a speaker that records every played word.
import type { AssistantChatMessage, CallView, SessionEvent } from '@baton/core/internal'
import type { V2Cursor, Heard, SentenceFrame } from '@baton/protocol'
import type { SessionClientEvents } from '../index.ts'
import type { Speaker, VoiceWorld } from './speaker.ts'
import type { VoiceClient, PlayedPlace } from './voice-api.ts'

export interface VirtualWorld extends VoiceWorld {
  /** Advances virtual time, with all work of promises meanwhile. */
  readonly pass: (ms: number) => Promise<void>
  readonly timers: () => number
}

export function createVirtualWorld(): VirtualWorld {
  let nowMs = 0
  let timers: readonly { readonly atMs: number; readonly callback: () => void }[] = []
  const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
  return {
    nowMs: () => nowMs,
    start: (delayMs, callback) => {
      const timer = { atMs: nowMs + delayMs, callback }
      timers = [...timers, timer]
      return () => {
        timers = timers.filter((one) => one !== timer)
      }
    },
    pass: async (ms) => {
      const untilMs = nowMs + ms
      await settle()
      for (;;) {
        const [next] = timers.toSorted((one, other) => one.atMs - other.atMs)
        if (!next || next.atMs > untilMs) break
        timers = timers.filter((one) => one !== next)
        nowMs = next.atMs
        next.callback()
        await settle()
      }
      nowMs = untilMs
    },
    timers: () => timers.length,
  }
}

type Told = Pick<SessionClientEvents, 'event' | 'sentence' | 'sentences.dropped' | 'status'>

const NEXT = {} as V2Cursor // a voice never reads it

/** Sends a voice what a server would, and records its reports. */
export class PlayedSession implements VoiceClient {
  readonly reports: PlayedPlace[] = []
  readonly interrupts: Heard[] = []
  isBroken = false
  activity = 'idle'
  messages: readonly { readonly id: string; readonly role: string; readonly stop?: string }[] = []
  readonly #listeners: { readonly name: string; readonly listener: (event: never) => void }[] = []
  #start = 0

  on<Name extends keyof Told>(name: Name, listener: (event: SessionClientEvents[Name]) => void): () => void {
    const entry = { name, listener }
    this.#listeners.push(entry)
    return () => void this.#listeners.splice(this.#listeners.indexOf(entry), 1)
  }
  getSnapshot() {
    return { activity: this.activity, messages: this.messages }
  }
  async interrupt({ heard }: { readonly heard: Heard }): Promise<void> {
    this.interrupts.push(heard)
  }
  async played(place: PlayedPlace): Promise<void> {
    if (this.isBroken) throw new Error('the connection is broken')
    this.reports.push(place)
  }
  listeners(): number {
    return this.#listeners.length
  }

  begin(id: string): void {
    this.activity = 'running'
    this.messages = [...this.messages, { id, role: 'assistant' }]
    this.#start = 0
    const message = { id, role: 'assistant', turn: 1, exchange: 1, atMs: 0 } as unknown as AssistantChatMessage // a voice reads nothing else
    this.tell('event', { type: 'message-added', message, cursor: { pos: 1 } } as SessionEvent)
  }
  sentence(message: string, index: number, text: string): SentenceFrame {
    const start = this.#start
    this.#start += text.length + 1
    const frame = { type: 'sentence', message, step: 1, index, text, start, end: this.#start, next: NEXT } as const
    this.tell('sentence', frame)
    return frame
  }
  drop(message: string, index: number): void {
    this.tell('sentences.dropped', { type: 'sentences.dropped', message, step: 1, index, next: NEXT })
  }
  finish(message: string, stop: 'end' | 'cancelled' = 'end'): void {
    this.activity = 'idle'
    this.messages = this.messages.map((one) => (one.id === message ? { ...one, stop } : one))
    this.event({ type: 'turn-finished', message, turn: 1, stop, text: '', usage: {} })
  }
  call(call: Partial<CallView>): void {
    const plain = {
      callId: 'c1',
      message: 't1',
      step: 1,
      name: 'x',
      input: {},
      runs: 'server',
      effect: 'pure',
    } as const
    this.event({ type: 'call', call: { ...plain, status: 'running', ...call } })
  }
  event(event: object): void {
    this.tell('event', { ...event, cursor: { pos: 1 } } as SessionEvent) // as the test defines it
  }
  tell<Name extends keyof Told>(name: Name, told: Told[Name]): void {
    for (const one of this.#listeners) if (one.name === name) one.listener(told as never)
  }
}

export type SpeakerFault =
  { readonly type: 'rejects' | 'hangs' | 'deaf'; readonly after: number } | { readonly type: 'throws' | 'none' }

/** Each word takes 100 ms. */
export const WORD_MS = 100

/** Plays words in virtual time. `deaf`: it is silent after its signal aborted, but its promise stays open. */
export class NotingSpeaker implements Speaker {
  readonly played: string[] = []
  readonly begun: string[] = []
  faultOf: (text: string) => SpeakerFault = () => ({ type: 'none' })
  isPaused = false
  isSpeaking = false
  readonly #world: VoiceWorld
  #resume: (() => void) | undefined

  constructor(world: VoiceWorld) {
    this.#world = world
  }

  pause(): void {
    this.isPaused = true
  }
  resume(): void {
    this.isPaused = false
    this.#resume?.()
    this.#resume = undefined
  }
  speak(text: string, { signal, onWord }: Parameters<Speaker['speak']>[1]): Promise<void> {
    const fault = this.faultOf(text)
    if (this.isSpeaking) throw new Error('two texts at once')
    if (fault.type === 'throws') throw new Error('no sound')
    this.begun.push(text)
    this.isSpeaking = true
    const words = text.split(' ')
    return new Promise((resolve, reject) => {
      let stopTimer = (): void => {}
      const end = (settle: () => void): void => {
        stopTimer()
        this.isSpeaking = false
        settle()
      }
      signal.addEventListener('abort', () => {
        stopTimer()
        this.isSpeaking = false
        this.#resume = undefined
        if (fault.type !== 'deaf') resolve()
      })
      const say = (index: number): void => {
        if (signal.aborted) return
        if (this.isPaused) {
          this.#resume = () => say(index)
          return
        }
        if ('after' in fault && index >= fault.after) {
          if (fault.type === 'rejects') end(() => reject(new Error('the sound broke')))
          return
        }
        if (index >= words.length) return end(resolve)
        stopTimer = this.#world.start(WORD_MS, () => {
          if (this.isPaused) {
            this.#resume = () => say(index)
            return
          }
          this.played.push(words[index] ?? '')
          onWord(index + 1)
          say(index + 1)
        })
      }
      say(0)
    })
  }
}
