// A kind of host that tells destinations of its sessions: worlds in which such a host and a scripted model play.
import type { AgentOptions, DeadNotices, Host, Notice, NoticeDestination, NoticeFailure } from '@baton/core/internal'
import type { ScriptedModelOptions } from '@baton/core/testing'

export interface TellingOptions extends Partial<Pick<AgentOptions, 'tools' | 'limits'>> {
  readonly steps: ScriptedModelOptions['steps']
  readonly notify?: readonly NoticeDestination[]
}

export interface TellingWorld {
  readonly host: Host & { remove(session: string): Promise<void> }
  /** The dead notices of whoever sends. */
  readonly notices: DeadNotices
  readonly warnings: readonly string[]
  /** Lets time pass until it is so. */
  until(isSo: () => boolean): Promise<void>
  /** Lets time pass until the work is done. */
  when<Value>(work: Promise<Value>): Promise<Value>
  /** Stops all that send or store, and starts others over the same store. */
  restart(init: TellingOptions): Promise<TellingWorld>
  close(): Promise<void>
}

export interface TellingKind {
  readonly name: string
  createWorld(init: TellingOptions): Promise<TellingWorld>
}

/** A destination under a test's control. */
export interface Receiver extends NoticeDestination {
  /** Notices in the order in which they were taken. */
  readonly taken: Notice[]
  /** Notices of all attempts. */
  readonly tried: Notice[]
  answer: (notice: Notice, signal: AbortSignal) => NoticeFailure | void | Promise<NoticeFailure | void>
}

export function createReceiver(options: Partial<NoticeDestination> = {}): Receiver {
  const receiver: Receiver = {
    name: 'shop',
    ...options,
    taken: [],
    tried: [],
    answer: () => {},
    send: async (notice, { signal }) => {
      receiver.tried.push(notice)
      const failure = await receiver.answer(notice, signal)
      if (!failure) receiver.taken.push(notice)
      return failure
    },
  }
  return receiver
}
