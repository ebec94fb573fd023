// Users of Slack as principals, principals as mentions, and threads as sessions.
import type { JsonObject, Principal } from '@baton/core/internal'
import { plain } from './request-message.ts'
import { importSlackKey } from './slack-signature.ts'

/** A person of Slack, by ids that only Slack gives. Names can be chosen by anybody. */
export interface SlackUser {
  readonly user: string
  readonly team: string
  /** On Enterprise Grid. */
  readonly enterprise?: string
}

export type PrincipalOf = (user: SlackUser) => Principal | undefined | Promise<Principal | undefined>

/** `slack:TEAM:USER`. */
export function principalOfUser({ team, user }: SlackUser): Principal {
  return { id: `slack:${team}:${user}` }
}

const USER = /^[UW][A-Z0-9]{2,20}$/

/** The user behind an id that `principalOfUser` made. */
export function userOfPrincipal(id: string): string | undefined {
  const [, user] = /^slack:[A-Z0-9]+:([UW][A-Z0-9]+)$/.exec(id) ?? []
  return user
}

export function mention(user: string | undefined, principal: string): JsonObject {
  return user !== undefined && USER.test(user) ? { type: 'mrkdwn', text: `<@${user}>` } : plain(principal, 256)
}

/** A thread, named by its first message. */
export interface Thread {
  readonly team: string
  readonly channel: string
  readonly ts: string
}

/** Names of sessions that live in threads. Each has a tag that only holders of the signing secret can make. */
export interface ThreadNames {
  /** A name for each secret, the current one first. */
  of(thread: Thread): Promise<readonly string[]>
  /** Undefined for a session of another front, whatever its name. */
  read(session: string): Promise<Thread | undefined>
}

const TAG_BYTES = 12
const THREAD = /^slack\.([A-Z0-9]+)\.([A-Z0-9]+)\.(\d+\.\d+)\.[\w-]{16}$/

export function createThreadNames(secrets: readonly string[]): ThreadNames {
  const keys = Promise.all(secrets.map((secret) => importSlackKey(`baton slack thread 1:${secret}`)))
  keys.catch(() => {}) // the first use reports it
  const of = async ({ team, channel, ts }: Thread): Promise<readonly string[]> => {
    const name = `slack.${team}.${channel}.${ts}`
    const text = new TextEncoder().encode(name)
    const tags = (await keys).map(async (key) => Buffer.from(await crypto.subtle.sign('HMAC', key, text)))
    return (await Promise.all(tags)).map((tag) => `${name}.${tag.subarray(0, TAG_BYTES).toString('base64url')}`)
  }
  return {
    of,
    read: async (session) => {
      const [, team = '', channel = '', ts = ''] = THREAD.exec(session) ?? []
      const thread = { team, channel, ts }
      return ts !== '' && (await of(thread)).includes(session) ? thread : undefined
    },
  }
}
