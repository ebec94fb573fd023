// Servers of one's own, by names of one's own: BATON_SERVERS says where each answers, so that several can be asked in one
// process. They speak Chat Completions; what is known of them is their address and, if they ask for one, a key.
import { BatonError } from '@baton/core'
import { COMPATIBLE_QUIRKS } from './openai-chat/quirks.ts'
import type { Preset } from './presets.ts'
import { LOADING_MS, PRESETS, findPreset } from './presets.ts'
import { isHttpUrl } from './transport/transport-errors.ts'

/** `gpu-1=http://gpu-1:8000/v1 gpu-2=http://gpu-2:8000/v1` */
const SERVERS_VARIABLE = 'BATON_SERVERS'
const SERVERS_MAX = 64
/** Names that are taken, beside those of the presets. */
const TAKEN: ReadonlySet<string> = new Set(['anthropic', 'gemini', 'bedrock', 'offline', 'gguf'])
/** Keys of others, beside those of the presets: a server of that name would be sent them. */
const KEYS_OF_OTHERS: ReadonlySet<string> = new Set(['ANTHROPIC_API_KEY', 'GEMINI_API_KEY', 'GOOGLE_API_KEY'])

type Variables = Readonly<Record<string, string | undefined>>

/** A server by the name of a preset, or by one of BATON_SERVERS. @throws BatonError `invalid_option` */
export function findServer(name: string, variables: Variables): Preset | undefined {
  return findPreset(name) ?? listOwnServers(variables).get(name)
}

/** @throws BatonError `invalid_option` if a name is taken or illegal, or an address is not a URL */
export function listOwnServers(variables: Variables): ReadonlyMap<string, Preset> {
  const entries = (variables[SERVERS_VARIABLE] ?? '').split(/[\s,]+/).filter((entry) => entry !== '')
  if (entries.length > SERVERS_MAX) throw wrong(`has ${entries.length} servers; at most ${SERVERS_MAX} are read`)
  const servers = new Map<string, Preset>()
  for (const [index, entry] of entries.entries()) {
    // Nothing of it is shown: it may hold a key or a password.
    const refuse = (what: string) => wrong(`has a wrong entry, number ${index + 1}: ${what}`)
    const equals = entry.indexOf('=')
    const [name, address] = [entry.slice(0, Math.max(equals, 0)), entry.slice(equals + 1)]
    if (!/^[a-z][a-z0-9-]{0,31}$/.test(name))
      throw refuse('it needs a name in small letters and an address, such as gpu-1=http://gpu-1:8000/v1')
    if (TAKEN.has(name) || findPreset(name) || servers.has(name)) throw refuse(`the name "${name}" is taken`)
    const server = describeServer(name, address)
    if (isKeyOfOthers(server.keyVariable))
      throw refuse(`the name "${name}" would send it ${server.keyVariable}, which is the key of another provider`)
    if (!isHttpUrl(address) || /[?#]/.test(address))
      throw refuse('it needs an http or https address without "?" and "#"; in a password write them as %3F and %23')
    servers.set(name, server)
  }
  return servers
}

function isKeyOfOthers(variable: string): boolean {
  return KEYS_OF_OTHERS.has(variable) || Object.values(PRESETS).some(({ keyVariable }) => keyVariable === variable)
}

/** The names of all entries that have one, also where an entry is wrong: their keys are secrets all the same. */
export function listServerNames(variables: Variables): readonly string[] {
  const named = (variables[SERVERS_VARIABLE] ?? '').matchAll(/(?:^|[\s,])([a-z][a-z0-9-]{0,31})=/g)
  return [...named].map(([, name = '']) => name)
}

/** Secrets of the servers' variable, also of refused entries: keys and passwords, however they are written. */
export function listServerSecrets(variables: Variables): readonly string[] {
  const text = variables[SERVERS_VARIABLE] ?? ''
  // A blank or a comma in a password splits it, so that its parts are secrets, too.
  const userInfos = text.split(/(?=\S*:\/\/)/).flatMap((part) => /:\/\/([^]*)@/.exec(part)?.[1] ?? [])
  const passwords = userInfos.flatMap((one) => [one, one.slice(one.indexOf(':') + 1), ...one.split(/[\s,:]+/)])
  const bare = text.split(/[\s,]+/).filter((entry) => !entry.includes('://'))
  return [...passwords, ...bare, ...bare.map((entry) => entry.slice(entry.indexOf('=') + 1))]
}

function describeServer(name: string, baseUrl: string): Preset {
  const prefix = name.toUpperCase().replaceAll('-', '_')
  return {
    label: name,
    baseUrl,
    baseUrlVariable: `${prefix}_BASE_URL`,
    keyVariable: `${prefix}_API_KEY`,
    needsKey: false,
    modelVariable: `${prefix}_MODEL`,
    quirks: COMPATIBLE_QUIRKS,
    silenceMs: LOADING_MS,
  }
}

function wrong(what: string): BatonError {
  return new BatonError({ code: 'invalid_option', message: `${SERVERS_VARIABLE} ${what}` })
}
