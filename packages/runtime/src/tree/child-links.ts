// The links of one session to the sessions of its delegated calls. It knows the tree: names, places and agents of children.
import type { Agent, Logger, Timers } from '@baton/core/internal'
import { BatonError, isBatonError } from '@baton/core/internal'
import type { Child, FactOf } from '@baton/core/machine'
import { findChild } from '@baton/core/machine'
import { describeThrown, hideSecrets } from '../describe-thrown.ts'
import type { SessionWorld } from '../catalog/catalog.ts'
import type { SessionEngine } from '../engine.ts'
import { RecordTail } from '../session/record-tail.ts'
import type { LinkedChild } from './child-link.ts'
import { ChildLink } from './child-link.ts'
import { createChildAgent, findDelegation, nameChild } from '../catalog/child-agent.ts'

/** Place of a child in its tree. */
export type ChildPlace = Omit<FactOf<'child-opened'>, 'type'>

export interface ChildOpening {
  readonly name: string
  readonly place: ChildPlace
  readonly agent: Agent
  /** Whether a session without records is refused with `unknown_session`: its log must be there, or it has to end. */
  readonly mustExist: boolean
}

export interface ChildLinksOptions {
  /** The calling session. */
  readonly session: SessionEngine
  /** @throws BatonError as `ChildLinkOptions.open` */
  readonly open: (opening: ChildOpening) => Promise<LinkedChild>
  readonly timers: Timers
  readonly log: Logger
}

export class ChildLinks {
  readonly #init: ChildLinksOptions
  readonly #links = new Map<string, ChildLink>()
  /** Set while a reader waits for the next child. */
  #opening: PromiseWithResolvers<void> | undefined
  /** Links that are ending. */
  readonly #leaving = new Set<Promise<void>>()
  /** Records of the calling session, while it has children here. */
  #tail: RecordTail | undefined
  #isClosed = false

  constructor(init: ChildLinksOptions) {
    this.#init = init
  }

  /** Opens the child of the call, and follows it until nothing is owed to it. */
  start(callId: string): void {
    if (this.#isClosed || this.#links.has(callId)) return
    const { session, timers, log } = this.#init
    const open = async (child: Child): Promise<LinkedChild> => await this.#init.open(describeChild(session, child))
    this.#tail ??= new RecordTail(session.stream)
    const link = new ChildLink({
      callId,
      parent: session,
      told: this.#tail,
      open,
      timers,
      log,
      onOpen: () => this.#tellOpened(),
    })
    this.#links.set(callId, link)
    link.start()
  }

  leave(callId: string): void {
    const link = this.#links.get(callId)
    if (!link) return
    this.#links.delete(callId)
    if (this.#links.size === 0) {
      this.#tail?.stop()
      this.#tail = undefined
    }
    const left = link.leave()
    this.#leaving.add(left)
    void left.then(() => this.#leaving.delete(left))
  }

  /** The open child of a call. */
  find(callId: string): LinkedChild | undefined {
    const child = this.#links.get(callId)?.child
    return child?.isClosed() === false ? child : undefined
  }

  /** Resolves when the next child is open. */
  opened(): Promise<void> {
    return (this.#opening ??= Promise.withResolvers()).promise
  }

  /** Passes a change of the calling agent on to the open children. Never rejects. */
  async adopt(): Promise<void> {
    const open = [...this.#links].flatMap(([callId, { child }]) => (child ? [{ callId, child }] : []))
    await Promise.all(open.map(({ callId, child }) => this.#adopt(callId, child)))
  }

  #tellOpened(): void {
    this.#opening?.resolve()
    this.#opening = undefined
  }

  async #adopt(callId: string, child: LinkedChild): Promise<void> {
    const { session, log } = this.#init
    const entry = findChild(session.state(), callId)
    // The session ends a child whose tool was removed; its calls finish with their own tools.
    if (!entry || !findDelegation(session.world.tools, entry.name)) return
    try {
      await child.adopt(findChildAgent(session.world, entry))
    } catch (cause) {
      log.warn('the agent of a delegated call stays as it is, because the changed one cannot be used', {
        session: session.session,
        callId,
        cause: hideSecrets(describeThrown(cause), session.world.secrets),
      })
    }
  }

  /** Closes every child; the next openings continue their work. Never rejects. */
  async leaveAll(): Promise<void> {
    for (const callId of this.#links.keys()) this.leave(callId)
    await Promise.all(this.#leaving)
  }

  /** Like `leaveAll`, for good. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.leaveAll()
  }
}

/** @throws BatonError `tool_gone`, `invalid_tool` also if the tool's function throws */
export function describeChild(session: SessionEngine, { callId, name, phase, pos }: Child): ChildOpening {
  const { birth, parent } = session.state()
  const { digest } = session.world
  return {
    name: nameChild(digest, session.session, callId),
    place: {
      session: session.session,
      birth,
      callId,
      root: parent?.root ?? session.session,
      depth: (parent?.depth ?? 0) + 1,
      tools: [...(parent?.tools ?? []), name],
    },
    agent: findChildAgent(session.world, { callId, name }),
    mustExist: phase === 'ending' || pos >= 0,
  }
}

/**
 * The agent of a child: `name` is that of the caller's delegating tool.
 * @throws BatonError `tool_gone`, `invalid_tool` also if the tool's function throws
 */
export function findChildAgent(
  { agent, tools }: Pick<SessionWorld, 'agent' | 'tools'>,
  { callId, name }: Pick<Child, 'callId' | 'name'>,
): Agent {
  const rules = findDelegation(tools, name)
  if (rules) return createAgent(() => createChildAgent(agent, callId, rules))
  throw new BatonError({ code: 'tool_gone', message: `agent "${agent.name}" has no tool "${name}" for other agents` })
}

/** The function of a delegating tool is the program's. @throws BatonError */
function createAgent(create: () => Agent): Agent {
  try {
    return create()
  } catch (cause) {
    if (isBatonError(cause)) throw cause
    throw new BatonError({
      code: 'invalid_tool',
      message: `its agent could not be made: ${describeThrown(cause)}`,
      cause,
    })
  }
}
