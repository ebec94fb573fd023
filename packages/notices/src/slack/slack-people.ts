// Users of Slack as principals, principals as mentions, and threads as sessions.
import type { JsonObject, Principal } from '@baton/core/internal'
import { plain } from './request-message.ts'

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

export function sessionOfThread({ team, channel, ts }: Thread): string {
  return `slack.${team}.${channel}.${ts}`
}

export function threadOfSession(session: string): Thread | undefined {
  const [, team = '', channel = '', ts = ''] = /^slack\.([A-Z0-9]+)\.([A-Z0-9]+)\.(\d+\.\d+)$/.exec(session) ?? []
  return ts === '' ? undefined : { team, channel, ts }
}
