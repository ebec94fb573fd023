// Limits a search to what the guard's rules allow: `web.search` drops other results, and a provider's own search is
// configured to match.
import { isIP } from 'node:net'
import type { JsonObject } from '@baton/core'
import { parseAllowList, plainHost } from '@baton/tools/internal'
import { parseDenyList } from '@baton/tools/internal'
import type { DocumentOptions } from '@baton/tools/internal'

type Rules = DocumentOptions['guard']

/** @throws BatonError `invalid_option` */
export function createResultFilter({ allow = [], deny = [], onlyAllowed = false }: Rules = {}): (url: URL) => boolean {
  const denied = parseDenyList(deny)
  const allowed = parseAllowList(allow)
  return (url) => !denied.deniesPlace(url) && (!onlyAllowed || allowed.allowsPlace(url))
}

/**
 * Settings for a provider's own search, usable together with other tools; `undefined` if the provider has none, or the
 * guard's rules cannot be expressed for it. Excludes Gemini's googleSearch: many Gemini models reject it together with
 * tools.
 */
export function providerSearch(provider: string, rules: Rules): JsonObject | undefined {
  const limits = readLimits(rules)
  if (limits === undefined) return undefined
  switch (provider) {
    case 'anthropic':
      return { type: 'web_search_20250305', name: 'web_search', max_uses: 5, ...limits }
    case 'openai':
      return { type: 'web_search', ...(Object.keys(limits).length > 0 && { filters: limits }) }
    default:
      return undefined
  }
}

/**
 * A provider accepts one of two lists, of hosts with their subdomains. Address ranges do not affect what it finds.
 * Returns `undefined` if nothing is allowed, or if a denied host is below an allowed one, which neither list can
 * express.
 */
function readLimits({ allow = [], deny = [], onlyAllowed = false }: NonNullable<Rules> = {}): JsonObject | undefined {
  const denied = parseDenyList(deny)
  const blocked = listHosts(deny)
  if (!onlyAllowed) return blocked.length === 0 ? {} : { blocked_domains: blocked }
  const allowed = listHosts(allow).filter((host) => !denied.deniesPlace(new URL(`https://${host}`)))
  const isMixed = blocked.some((host) => allowed.some((above) => host.endsWith(`.${above}`)))
  return allowed.length === 0 || isMixed ? undefined : { allowed_domains: allowed }
}

function listHosts(entries: readonly string[]): readonly string[] {
  const hosts = entries.flatMap((entry) => {
    const text = entry.trim().replace(/^\*\./, '')
    const url = URL.parse(text.includes('://') ? text : `https://${text}`)
    return url?.pathname === '/' && isIP(plainHost(url)) === 0 ? [plainHost(url)] : []
  })
  return [...new Set(hosts)]
}
