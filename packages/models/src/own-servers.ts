// Servers of one's own, by names of one's own: BATON_SERVERS says where each answers, so that several can be asked in one
// process. They speak Chat Completions; what is known of them is their address and, if they ask for one, a key.
import { BatonError } from '@baton/core'
import { COMPATIBLE_QUIRKS } from './openai-chat/quirks.ts'
import type { Preset } from './presets.ts'
import { LOADING_MS, findPreset } from './presets.ts'
import { describePlace } from './transport/redact.ts'
import { isHttpUrl } from './transport/transport-errors.ts'

/** `gpu-1=http://gpu-1:8000/v1 gpu-2=http://gpu-2:8000/v1` */
const SERVERS_VARIABLE = 'BATON_SERVERS'
const SERVERS_MAX = 64
/** Names that are taken, beside those of the presets. */
const TAKEN: ReadonlySet<string> = new Set(['anthropic', 'gemini', 'bedrock', 'offline', 'gguf'])

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
  for (const entry of entries) {
    const equals = entry.indexOf('=')
    const [name, address] = [entry.slice(0, Math.max(equals, 0)), entry.slice(equals + 1)]
    if (!/^[a-z][a-z0-9-]{0,31}$/.test(name))
      throw wrong(`needs entries such as gpu-1=http://gpu-1:8000/v1, not "${describePlace(entry).slice(0, 40)}"`)
    if (TAKEN.has(name) || findPreset(name) || servers.has(name)) throw wrong(`uses the name "${name}", which is taken`)
    if (!isHttpUrl(address) || /[?#]/.test(address))
      throw wrong(`needs an address without a query for "${name}", not "${describePlace(address).slice(0, 40)}"`)
    servers.set(name, describeServer(name, address))
  }
  return servers
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
