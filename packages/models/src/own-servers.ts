// Named servers of your own: BATON_SERVERS lists their addresses, so that one process can use several. They speak Chat
// Completions; only an address and an optional key are known about each.
import { BatonError } from '@baton/core'
import { COMPATIBLE_QUIRKS } from './openai-chat/quirks.ts'
import type { Preset } from './presets.ts'
import { LOADING_MS, PRESETS, findPreset } from './presets.ts'
import { isHttpUrl } from './transport/transport-errors.ts'

/** For example `gpu-1=http://gpu-1:8000/v1 gpu-2=http://gpu-2:8000/v1`. */
const SERVERS_VARIABLE = 'BATON_SERVERS'
const SERVERS_MAX = 64
/** Reserved names, in addition to those of the presets. */
const TAKEN: ReadonlySet<string> = new Set(['anthropic', 'gemini', 'bedrock', 'offline', 'gguf'])
/** Keys of other providers, in addition to those of the presets: a server with a matching name would receive them. */
const KEYS_OF_OTHERS: ReadonlySet<string> = new Set(['ANTHROPIC_API_KEY', 'GEMINI_API_KEY', 'GOOGLE_API_KEY'])

type Variables = Readonly<Record<string, string | undefined>>

/** Finds a server by the name of a preset or of an entry in BATON_SERVERS. @throws BatonError `invalid_option` */
export function findServer(name: string, variables: Variables): Preset | undefined {
  return findPreset(name) ?? listOwnServers(variables).get(name)
}

/** @throws BatonError `invalid_option` if a name is taken or invalid, or an address is not a URL */
export function listOwnServers(variables: Variables): ReadonlyMap<string, Preset> {
  const entries = (variables[SERVERS_VARIABLE] ?? '').split(/[\s,]+/).filter((entry) => entry !== '')
  if (entries.length > SERVERS_MAX) throw wrong(`has ${entries.length} servers; the maximum is ${SERVERS_MAX}`)
  const servers = new Map<string, Preset>()
  for (const [index, entry] of entries.entries()) {
    // Never shows the entry: it may contain a key or a password.
    const refuse = (what: string) => wrong(`has an invalid entry, number ${index + 1}: ${what}`)
    const equals = entry.indexOf('=')
    const [name, address] = [entry.slice(0, Math.max(equals, 0)), entry.slice(equals + 1)]
    if (!/^[a-z][a-z0-9-]{0,31}$/.test(name))
      throw refuse('it needs a lowercase name and an address, such as gpu-1=http://gpu-1:8000/v1')
    if (TAKEN.has(name) || findPreset(name) || servers.has(name)) throw refuse(`the name "${name}" is taken`)
    const server = describeServer(name, address)
    if (isKeyOfOthers(server.keyVariable))
      throw refuse(`the name "${name}" would send it ${server.keyVariable}, the key of another provider`)
    if (!isHttpUrl(address) || /[?#]/.test(address))
      throw refuse('it needs an http or https address without "?" and "#"; in a password, write them as %3F and %23')
    servers.set(name, server)
  }
  return servers
}

function isKeyOfOthers(variable: string): boolean {
  return KEYS_OF_OTHERS.has(variable) || Object.values(PRESETS).some(({ keyVariable }) => keyVariable === variable)
}

/** Names of all entries that have one, even invalid entries: their keys are secrets too. */
export function listServerNames(variables: Variables): readonly string[] {
  const named = (variables[SERVERS_VARIABLE] ?? '').matchAll(/(?:^|[\s,])([a-z][a-z0-9-]{0,31})=/g)
  return [...named].map(([, name = '']) => name)
}

/** Secrets in the servers variable, even in rejected entries: keys and passwords in any form. */
export function listServerSecrets(variables: Variables): readonly string[] {
  const text = variables[SERVERS_VARIABLE] ?? ''
  // A space or comma splits a password, so its parts are secrets too.
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
