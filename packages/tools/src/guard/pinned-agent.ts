// Connects only to checked addresses: each connection resolves its name once, checks all the name's addresses, and
// passes the socket nothing else.
import type { LookupFunction, Socket } from 'node:net'
import { isIP } from 'node:net'
import { BatonError } from '@baton/core'
import type * as Undici from 'undici'
import { findAddressIssue } from './address-rules.ts'
import type { AllowList } from './allow-list.ts'
import type { DenyList } from './deny-list.ts'
import { refuseUrl } from './url-rules.ts'

/** Resolves a name to all its addresses. It may reject; an empty list means that there are none. */
export type Resolve = (hostname: string) => Promise<readonly string[]>

export interface PinnedAgentOptions {
  readonly allow: AllowList
  readonly deny: DenyList
  readonly resolve: Resolve
  /** Maximum bytes of a response head. */
  readonly maxHeaderBytes: number
}

/** Maximum addresses of one name; legitimate names have fewer. */
const ADDRESSES = 64
/** Milliseconds to resolve a name and connect. */
const CONNECT_MS = 10_000

export function createPinnedAgent(
  { Agent, buildConnector }: Pick<typeof Undici, 'Agent' | 'buildConnector'>,
  { allow, deny, resolve, maxHeaderBytes }: PinnedAgentOptions,
): Undici.Agent {
  const common = { allowH2: false, timeout: CONNECT_MS }
  const findDenial = (address: string): string | undefined =>
    deny.deniesAddress(address) ? 'one that this program denies' : undefined
  const connectAnywhere = buildConnector({ ...common, lookup: createLookup(resolve, findDenial) })
  const judge = (address: string): string | undefined =>
    findDenial(address) ?? (allow.allowsAddress(address) ? undefined : findAddressIssue(address))
  const connectJudged = buildConnector({ ...common, lookup: createLookup(resolve, judge) })
  return new Agent({
    allowH2: false,
    // The caller's deadline covers the whole response.
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: maxHeaderBytes,
    connect: (options, callback) => {
      const url = new URL(`${options.protocol}//${options.host ?? options.hostname}`)
      if (allow.allowsPlace(url)) {
        connectAnywhere(options, callback)
        return
      }
      // A literal address needs no lookup.
      const issue = isIP(options.hostname) === 0 ? undefined : judge(options.hostname)
      if (issue !== undefined) {
        callback(refuseUrl(url, `its address is ${issue}`), null)
        return
      }
      connectJudged(options, (error, socket) => {
        if (!socket) {
          callback(error ?? new Error('the connection failed'), null)
          return
        }
        const refusal = findPeerIssue(url, socket, judge)
        if (!refusal) callback(null, socket)
        else {
          socket.destroy()
          callback(refusal, null)
        }
      })
    },
  })
}

/** The last check, on the connected socket, before a byte of the request is written. */
function findPeerIssue(
  url: URL,
  { remoteAddress }: Socket,
  judge: (address: string) => string | undefined,
): BatonError | undefined {
  const issue = remoteAddress === undefined ? 'not known' : judge(remoteAddress)
  return issue === undefined ? undefined : refuseUrl(url, `its address is ${issue}`)
}

/** A single refused address refuses the name: the others may only be there to pass the check. */
function createLookup(resolve: Resolve, judge: (address: string) => string | undefined): LookupFunction {
  const find = async (hostname: string): Promise<readonly string[]> => {
    const addresses = (await resolve(hostname)).slice(0, ADDRESSES + 1)
    const place = hostname.slice(0, 253)
    const refuse = (why: string): BatonError =>
      new BatonError({ code: 'url_refused', message: `the request to ${place} was not sent: ${why}` })
    if (addresses.length === 0)
      throw new BatonError({ code: 'api_unavailable', message: `the name ${place} has no address` })
    if (addresses.length > ADDRESSES) throw refuse(`its name has more than ${ADDRESSES} addresses`)
    for (const address of addresses) {
      if (isIP(address) === 0) throw refuse('its name resolves to something that is not an address')
      const issue = judge(address)
      if (issue !== undefined) throw refuse(`its name resolves to an address that is ${issue}`)
    }
    return addresses
  }
  return (hostname, { all, family }, callback) => {
    const answer = async (): Promise<void> => {
      let addresses: readonly string[]
      try {
        addresses = await find(hostname)
      } catch (cause) {
        callback(cause instanceof Error ? cause : new Error(String(cause)), '')
        return
      }
      const entries = addresses.map((address) => ({ address, family: isIP(address) }))
      const asked = family === 4 || family === 6 ? entries.filter((entry) => entry.family === family) : entries
      const [first] = asked
      if (!first) callback(new Error(`the name has no IPv${family} address`), '')
      else if (all) callback(null, asked)
      else callback(null, first.address, first.family)
    }
    void answer()
  }
}
