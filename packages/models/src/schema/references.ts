// Resolves `$ref` within one schema. Nothing is fetched: external references are unknown.
import type { JsonObject, JsonValue } from '@baton/core/internal'
import { isJsonObject } from '@baton/core/internal'

/** Resolves references of one schema, each only once. */
export type Resolve = (reference: string) => JsonValue | undefined

/** Returns the target of a reference, unless it is a cycle of references. */
export function createResolver(root: JsonObject): Resolve {
  const find = createFinder(root)
  const known = new Map<string, JsonValue | undefined>()
  return (reference) => {
    const passed = new Set<string>()
    let [at, isCircle]: [string | undefined, boolean] = [reference, false]
    while (at !== undefined && !known.has(at) && !isCircle) {
      passed.add(at)
      const found: JsonValue | undefined = find(at)
      at = isJsonObject(found) && typeof found['$ref'] === 'string' ? found['$ref'] : undefined
      isCircle = at !== undefined && (passed.has(at) || (known.has(at) && known.get(at) === undefined))
    }
    for (const one of passed) known.set(one, isCircle ? undefined : find(one))
    return known.get(reference)
  }
}

/** Removes unreferenced definitions: libraries ship hundreds of them with each schema. */
export function withoutUnusedDefinitions(root: JsonObject): JsonObject {
  const { $defs, definitions, ...rest } = root
  const find = createFinder(root)
  const seen = new Set<JsonValue>()
  const open: JsonValue[] = [rest]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next !== 'object' || next === null || seen.has(next)) continue
    seen.add(next)
    const reference = isJsonObject(next) ? next['$ref'] : undefined
    const found = typeof reference === 'string' ? find(reference) : undefined
    if (found !== undefined) open.push(found)
    for (const value of Object.values(next) as JsonValue[]) open.push(value)
  }
  return { ...rest, ...pickUsed({ $defs, definitions }, seen) }
}

function pickUsed(groups: Readonly<Record<string, JsonValue | undefined>>, used: ReadonlySet<JsonValue>): JsonObject {
  const kept = Object.entries(groups).flatMap(([keyword, group]): [string, JsonValue][] => {
    if (!isJsonObject(group)) return []
    const entries = Object.entries(group).filter(([, one]) => used.has(one))
    return entries.length === 0 ? [] : [[keyword, Object.fromEntries(entries)]]
  })
  return Object.fromEntries(kept)
}

/**
 * Finds the target in `root` of a pointer such as `#/$defs/node`, or of an anchor; `undefined` if it does not exist.
 */
function createFinder(root: JsonObject): Resolve {
  const anchors = listAnchors(root)
  return (reference) => {
    if (reference === '#') return root
    if (!reference.startsWith('#/')) return anchors.get(reference)
    let at: JsonValue | undefined = root
    for (const step of reference.slice(2).split('/')) {
      const key = decoded(step).replaceAll('~1', '/').replaceAll('~0', '~')
      if (Array.isArray(at)) at = (at as readonly JsonValue[])[Number(key)]
      else at = isJsonObject(at) && Object.hasOwn(at, key) ? at[key] : undefined
    }
    return at
  }
}

/** Tolerates libraries that do not escape a `%` in a name. */
function decoded(step: string): string {
  try {
    return decodeURIComponent(step)
  } catch {
    return step
  }
}

/** `#name`, as defined by `$anchor`; the first of several wins. */
function listAnchors(root: JsonObject): ReadonlyMap<string, JsonObject> {
  const anchors = new Map<string, JsonObject>()
  for (const group of [root['$defs'], root['definitions']])
    for (const one of isJsonObject(group) ? Object.values(group) : []) {
      if (!isJsonObject(one)) continue
      const { $anchor: anchor, $id: id } = one
      for (const name of [typeof anchor === 'string' ? `#${anchor}` : undefined, id])
        if (typeof name === 'string' && !anchors.has(name)) anchors.set(name, one)
    }
  return anchors
}
