// A version 2 page in the simulation: the real client with its outbox, over a network that delays and breaks, to the
// real front. It outlives the server's processes, and is reloaded.
import type { Outbox, SentInput, SessionClient, World, WebSocketLike } from '@baton/client'
import { createMemoryOutbox, openSession } from '@baton/client'
import type { SessionEvent } from '@baton/core'
import type { Effects } from './simulated-agent.ts'
import type { FrontOptions } from './simulated-front.ts'
import { serve } from './simulated-front.ts'
import type { SimulatedNetwork } from './simulated-network.ts'
import { createNetwork } from './simulated-network.ts'

export interface PageOptions extends FrontOptions {
  readonly session: string
  readonly effects: Effects
  readonly tell: (what: string) => void
}

/** The tools that pages run. */
const TOOLS = ['phone.look', 'phone.spawn', 'phone.pay', 'phone.cancel'] as const

export class SimulatedPage {
  /** Messages of the page, across all its loads. */
  readonly said: SentInput[] = []
  readonly #init: PageOptions
  readonly #outbox: Outbox = createMemoryOutbox()
  #network: SimulatedNetwork | undefined
  #told = new Set<string>()
  client: SessionClient
  /** First fault that it noticed. */
  failure: Error | undefined

  constructor(init: PageOptions) {
    this.#init = init
    this.client = this.#load()
  }

  say(text: string): void {
    const sent = this.client.send(text)
    sent.answer.catch(() => {})
    sent.accepted.catch(() => {})
    this.said.push(sent)
  }

  /** Closes and reopens the page: anything that the server does not have is in its outbox. */
  reload(): void {
    this.client.close()
    this.#network?.drop()
    this.#told = new Set()
    this.client = this.#load()
  }

  /** Breaks the network. */
  drop(): void {
    this.#network?.drop()
  }

  #load(): SessionClient {
    const { session, random } = this.#init
    const client = openSession({
      url: 'ws://simulated/ws',
      session,
      world: this.#createWorld(),
      outbox: this.#outbox,
      ...(random.chance(0.5) && { leaseMs: 5000 }),
      tools: Object.fromEntries(TOOLS.map((name) => [name, (_: never, call: Called) => this.#run(name, call)])),
    })
    client.on('error', ({ code, message }) => this.#init.tell(`a page hears ${code}: ${message}`))
    client.on('event', (event) => this.#take(client, event))
    return client
  }

  async #run(name: string, { callId }: Called): Promise<string> {
    const { effects, time, random, onFault } = this.#init
    const effect = effects.get(callId) ?? { tool: name, starts: 0 }
    if (effect.starts > 0) onFault('second-device')
    effects.set(callId, { ...effect, starts: effect.starts + 1 })
    await time.wait(random.below(1500))
    if (random.chance(0.1)) throw new Error('the page failed')
    return `${name} done`
  }

  #take(client: SessionClient, event: SessionEvent): void {
    const { random, time } = this.#init
    const { type, cursor } = event
    const key = `${type} ${JSON.stringify(cursor)}`
    if (type !== 'live' && this.#told.has(key)) this.failure ??= new Error(`a page received an event twice: ${key}`)
    this.#told.add(key)
    const later = (act: () => Promise<void>): void => {
      if (random.chance(0.5)) time.timers.start(random.below(4000), () => void act().catch(() => {}))
    }
    if (type === 'approval-requested') {
      const { approvalId } = event
      const decision = random.pick(['approve', 'deny', 'edit'] as const)
      later(() =>
        client.decide(decision === 'edit' ? { approvalId, decision, input: { n: 3 } } : { approvalId, decision }),
      )
    }
    if (type === 'question-asked') {
      const { questionId } = event
      later(() =>
        client.answer(random.chance(0.7) ? { questionId, value: { ok: true } } : { questionId, decline: true }),
      )
    }
  }

  #createWorld(): World {
    const { time, random, newId } = this.#init
    return {
      openSocket: () => this.#openSocket(),
      nowMs: () => time.nowMs(),
      start: (delayMs, callback) => time.timers.start(delayMs, callback),
      random: () => random.below(1_000_000) / 1_000_000,
      newId,
    }
  }

  #openSocket(): WebSocketLike {
    const { time, random, servers } = this.#init
    const network = createNetwork(this.#init)
    this.#network = network
    const near: WebSocketLike = {
      send: (text) => network.sendToServer(text),
      close: () => network.drop(),
      onopen: null,
      onmessage: null,
      onclose: null,
      onerror: null,
    }
    const told = { code: 1006 } as never // the part of the event that the client reads
    network.onDrop(() => near.onclose?.(told))
    network.onFrame((text) => near.onmessage?.({ data: text } as never)) // as above
    time.timers.start(random.below(100), () => {
      const alive = servers()
      if (alive.length === 0 || !serve(this.#init, random.pick(alive), network)) {
        network.drop()
        return
      }
      near.onopen?.({} as never) // the client reads nothing of it
    })
    return near
  }
}

interface Called {
  readonly callId: string
}
